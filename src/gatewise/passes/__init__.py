"""Circuit in, equivalent circuit out."""

from gatewise.passes.simplify import Report, simplify, simplify_with_report
from gatewise.passes.unread import drop_unread_inputs

__all__ = ["Report", "drop_unread_inputs", "simplify", "simplify_with_report"]
