"""Boosting of terms: circuits for tables, grown without a network."""

from gatewise.boost.fit import Fitted, fit_classes, fit_values
from gatewise.boost.learner import Boosting, EncodedTable, Goal, Grown
from gatewise.boost.terms import Terms

__all__ = ["Boosting", "EncodedTable", "Fitted", "Goal", "Grown", "Terms", "fit_classes", "fit_values"]
