"""Boosting of terms: circuits for tables, grown without a network."""

from gatewise.boost.fit import Fitted, fit_classes
from gatewise.boost.learner import Boosting, EncodedTable, Goal, Grown
from gatewise.boost.terms import Terms
from gatewise.boost.values import ValueLoss, fit_values

__all__ = ["Boosting", "EncodedTable", "Fitted", "Goal", "Grown", "Terms", "ValueLoss", "fit_classes", "fit_values"]
