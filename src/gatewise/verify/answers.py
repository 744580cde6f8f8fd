"""Answers: what is known after a question, with everything that one needs to judge or repeat it.

In: decisions. Out: objects that print as sentences and turn into JSON.
Invariant: a counterexample is rows of values, and `Model.predict` has confirmed what is said of them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeAlias

from gatewise.verify.space import Row

Status: TypeAlias = Literal["proved", "refuted", "undecided"]


@dataclass(frozen=True)
class Effort:
    """What an answer took.

    Parameters
    ----------
    seconds : float
    n_gates : int
        Of the largest circuit that was left after what the question fixes was folded into it.
    solver : str
        What decided it: ``bounds``, ``search``, ``structure`` or the name of a SAT solver; several are joined by +.
    """

    seconds: float
    n_gates: int
    solver: str

    def __str__(self) -> str:
        return f"{self.seconds:.3g} s, {self.n_gates:,} gates, {self.solver}"


@dataclass(frozen=True)
class Verdict:
    """Whether something holds for every row there can be.

    Parameters
    ----------
    question : str
        What was claimed, in words.
    status : {"proved", "refuted", "undecided"}
        Undecided if time was up.
    effort : Effort
    counterexample : tuple of dict
        If refuted, one row, or two that differ in a column, as `Model.predict` takes them.
    answers : tuple
        What the model, or each of two models, answers to these rows.

    Examples
    --------
    >>> verdict = Verdict("age does not matter", "refuted", Effort(0.01, 8, "search"), ({"age": 37},), ("yes",))
    >>> print(verdict)
    refuted: age does not matter (0.01 s, 8 gates, search)
      age = 37: yes
    """

    question: str
    status: Status
    effort: Effort
    counterexample: tuple[Row, ...] = ()
    answers: tuple[Any, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether it holds for every row."""
        return self.status == "proved"

    @property
    def is_refuted(self) -> bool:
        """Whether there is a counterexample."""
        return self.status == "refuted"

    def __bool__(self) -> bool:
        return self.is_proved

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.question} ({self.effort})"]
        return "\n".join([*lines, *(f"  {line}" for line in describe_rows(self.counterexample, self.answers))])

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON can hold it."""
        return asdict(self)


@dataclass(frozen=True)
class Range:
    """What a number can be, over all rows.

    Parameters
    ----------
    low, high : float
        No row gives less, or more.
    lowest, highest : float
        The least and the greatest that rows were found for; equal to the limits if these are exact.
    rows : tuple of dict
        A row that gives the lowest, and one that gives the highest.

    Examples
    --------
    >>> print(Range(0.0, 5.0, 0.5, 5.0))
    at least 0 (0.5 is reached), at most 5
    """

    low: float
    high: float
    lowest: float
    highest: float
    rows: tuple[Row, ...] = ()

    @property
    def is_exact(self) -> bool:
        """Whether rows were found that reach both limits."""
        return self.low == self.lowest and self.high == self.highest

    def __str__(self) -> str:
        parts = [
            f"at {word} {limit:.6g}" + (f" ({reached:.6g} is reached)" if limit != reached else "")
            for word, limit, reached in (("least", self.low, self.lowest), ("most", self.high, self.highest))
        ]
        return ", ".join(parts)


@dataclass(frozen=True)
class Bounds:
    """What a model can answer at all.

    Parameters
    ----------
    ranges : dict of name to Range
        Of the score of each class, or of each value of a regression.
    reachable : dict of label to Verdict
        Whether a class is never answered; refuted if a row gets it. Empty for a regression.
    unread : tuple of str
        Columns that no answer depends on.
    effort : Effort
    """

    ranges: dict[Any, Range]
    reachable: dict[Any, Verdict]
    unread: tuple[str, ...]
    effort: Effort

    def __str__(self) -> str:
        words = {"proved": "never", "refuted": "yes", "undecided": "unknown"}
        lines = [f"bounds ({self.effort})"]
        for name, each in self.ranges.items():
            answered = f"; answered: {words[self.reachable[name].status]}" if name in self.reachable else ""
            lines.append(f"  {name}: {each}{answered}")
        return "\n".join([*lines, f"  never read: {', '.join(self.unread) or 'no column'}"])

    def to_dict(self) -> dict[str, Any]:
        """The bounds as JSON can hold them, with names as strings."""
        return asdict(self) | {
            "ranges": {str(name): asdict(each) for name, each in self.ranges.items()},
            "reachable": {str(name): each.status for name, each in self.reachable.items()},
        }


@dataclass
class Tally:
    """Counts what decides the parts of a question."""

    n_gates: int = 0
    solvers: dict[str, None] = field(default_factory=dict)

    def add(self, n_gates: int, solver: str) -> None:
        """Note one part."""
        self.n_gates = max(self.n_gates, n_gates)
        self.solvers[solver] = None

    def effort(self, seconds: float) -> Effort:
        """All of it."""
        return Effort(seconds, self.n_gates, " + ".join(self.solvers) or "structure")


def describe_rows(rows: Sequence[Row], answers: Sequence[Any]) -> list[str]:
    """Rows in words: of two rows, first what they share, and then what differs.

    Examples
    --------
    >>> describe_rows(({"a": 1, "b": 2}, {"a": 1, "b": 3}), ("no", "yes"))
    ['a = 1', 'b = 2: no', 'b = 3: yes']
    """
    if len(rows) < 2:
        return [f"{describe_row(row)}: {' / '.join(map(str, answers))}" for row in rows]
    shared = {
        name: value for name, value in rows[0].items() if all(row[name] is value or row[name] == value for row in rows)
    }
    rests = [{name: value for name, value in row.items() if name not in shared} for row in rows]
    lines = [describe_row(shared)] * bool(shared)
    return [*lines, *(f"{describe_row(rest)}: {answer}" for rest, answer in zip(rests, answers, strict=True))]


def describe_row(row: Row) -> str:
    """A row in words.

    Examples
    --------
    >>> describe_row({"age": 37, "job": None})
    'age = 37, job missing'
    """
    return ", ".join(f"{name} missing" if value is None else f"{name} = {value}" for name, value in row.items())
