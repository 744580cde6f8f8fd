"""Questions about all rows that a model can ever be given, answered by proofs and counterexamples.

In: models, and conditions on columns. Out: verdicts: proved, refuted with rows, or undecided when time was up.
Invariant: rows of counterexamples exist, as thresholds are ordered and categories exclude each other; and each is
confirmed by `Model.predict` before it is shown.
"""

from gatewise.verify.answers import Bounds, Effort, Range, Verdict
from gatewise.verify.equivalence import equivalent
from gatewise.verify.questions import always, bounds, independent_of, monotone, reachable

__all__ = [
    "Bounds",
    "Effort",
    "Range",
    "Verdict",
    "always",
    "bounds",
    "equivalent",
    "independent_of",
    "monotone",
    "reachable",
]
