"""Circuit in, equivalent circuit out."""

from gatewise.passes.optimize import Report, optimize, optimize_with_report

__all__ = ["Report", "optimize", "optimize_with_report"]
