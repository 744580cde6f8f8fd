"""Circuit in, equivalent circuit out."""

from gatewise.passes.inputs import drop_unread_inputs
from gatewise.passes.optimize import Report, optimize, optimize_with_report

__all__ = ["Report", "drop_unread_inputs", "optimize", "optimize_with_report"]
