"""Questions about all rows that a model can ever be given, answered by proofs and counterexamples.

In: models, and conditions on columns. Out: verdicts: proved, refuted with rows, or undecided when time was up.
Invariant: rows of counterexamples exist, as thresholds are ordered and categories exclude each other; and each is
confirmed by `Model.predict` before it is shown.
"""

from gatewise.verify.answers import Bounds, Effort, Range, Verdict
from gatewise.verify.counterfactuals import Counterfactual, Counterfactuals, counterfactual
from gatewise.verify.enforcing import Enforced, enforce_independence, enforce_monotone
from gatewise.verify.equivalence import equivalent
from gatewise.verify.explaining import Explanation, explain
from gatewise.verify.flipping import Flip, Flips, flip
from gatewise.verify.questions import always, bounds, independent_of, monotone, reachable
from gatewise.verify.robustness import Radius, radius, robust

__all__ = [
    "Bounds",
    "Counterfactual",
    "Counterfactuals",
    "Effort",
    "Enforced",
    "Explanation",
    "Flip",
    "Flips",
    "Radius",
    "Range",
    "Verdict",
    "always",
    "bounds",
    "counterfactual",
    "enforce_independence",
    "enforce_monotone",
    "equivalent",
    "explain",
    "flip",
    "independent_of",
    "monotone",
    "radius",
    "reachable",
    "robust",
]
