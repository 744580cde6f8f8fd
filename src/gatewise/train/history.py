"""What happened in a run: one record for each evaluation, plotted in one call or sent to TensorBoard.

In: records, in order. Out: the same as plain JSON, a figure, or event files. Nothing here influences training.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gatewise.extras import require
from gatewise.gates import NAMES
from gatewise.notebook import make_figure, make_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Record:
    """The state of a run at the end of an epoch.

    Scores are accuracies, or mean squared errors of a regression. They are measured on the validation data, or on the
    training data when there is none.

    Parameters
    ----------
    epoch, step : int
        Epochs and steps done.
    seconds : float
        Since the beginning of the run, without pauses between a kill and a resumption.
    learning_rate : float
        Of the last step.
    loss : float
        Mean over the rows of the epoch, as they were trained on.
    score : float
        Score of the circuit, on all rows.
    soft_loss, soft_score : float
        Loss and score of the network as training sees it, on up to 2,000 of these rows.
    gap : float
        By how much the circuit is worse than the network, on the rows of `soft_score`.
    gates : list of lists of 16 ints
        How many gates of each layer are of each kind.
    """

    epoch: int
    step: int
    seconds: float
    learning_rate: float
    loss: float
    score: float
    soft_loss: float
    soft_score: float
    gap: float
    gates: list[list[int]]


class History(Sequence[Record]):
    """Records of a run, oldest first.

    Examples
    --------
    >>> History([Record(1, 10, 0.5, 0.01, 0.7, 0.89, 0.6, 0.9, 0.01, [[0] * 16])])["score"]
    [0.89]
    """

    def __init__(self, records: Sequence[Record] = (), *, score_name: str = "accuracy") -> None:
        self.records = list(records)
        self.score_name = score_name

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __getitem__(self, key: Any) -> Any:
        """A record by its position, or all values of a field by its name."""
        return [getattr(record, key) for record in self.records] if isinstance(key, str) else self.records[key]

    def __repr__(self) -> str:
        last = f", last {self.score_name} {self.records[-1].score:.4f}" if self.records else ""
        return f"History({len(self)} records{last})"

    def _repr_html_(self) -> str:
        """A table of the last record, which notebooks show."""
        if not self.records:
            return make_table("gatewise.train.History", {"records": 0})
        last = self.records[-1]
        rows = {"records": len(self), "epoch": last.epoch, "seconds": f"{last.seconds:.1f}", "loss": f"{last.loss:.4f}"}
        return make_table(
            "gatewise.train.History", rows | {self.score_name: f"{last.score:.4f}", "gap": f"{last.gap:.4f}"}
        )

    def to_json(self) -> list[dict[str, Any]]:
        """The records as JSON can express them."""
        return [asdict(record) for record in self.records]

    def plot(self) -> "Figure":
        """Losses, scores, gap and gates over the epochs.

        Returns
        -------
        matplotlib.figure.Figure
            Notebooks show it, whether or not they have loaded pyplot; ``savefig`` writes it to a file.
        """
        figure = make_figure((12, 8), needed_by="History.plot")
        if not self.records:
            raise ValueError("history must have records to be plotted, got none; train for at least one epoch")
        losses, scores, gaps, gates = figure.subplots(2, 2).flat
        epochs = self["epoch"]
        for axes, title, fields in (
            (losses, "loss", ("loss", "soft_loss")),
            (scores, self.score_name, ("score", "soft_score")),
            (gaps, "discretization gap", ("gap",)),
        ):
            for field in fields:
                axes.plot(epochs, self[field], label=field)
            axes.set(title=title, xlabel="epoch")
            axes.legend()
        shares = np.sum(self["gates"], axis=1) / np.sum(self["gates"], axis=(1, 2))[:, None]
        gates.stackplot(epochs, shares.T, labels=NAMES)
        gates.set(title="gates", xlabel="epoch")
        gates.legend(fontsize="xx-small", ncols=2, loc="upper left")
        return figure


class TensorBoard:
    """A callback of `fit` that writes every record for TensorBoard.

    Parameters
    ----------
    folder : path
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        module = require("torch.utils.tensorboard", "tensorboard", needed_by="train.TensorBoard")
        self._writer = module.SummaryWriter(os.fspath(folder))

    def __call__(self, record: Record) -> None:
        for name in ("loss", "score", "soft_loss", "soft_score", "gap", "learning_rate"):
            self._writer.add_scalar(name, getattr(record, name), record.step)
        for layer_idx, counts in enumerate(record.gates):
            kinds = dict(zip(NAMES, counts, strict=True))
            self._writer.add_scalars(f"gates/layer{layer_idx}", kinds, record.step)
        self._writer.flush()
