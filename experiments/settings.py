"""What the paper says: its networks, their hyperparameters and their results.

Inference times are those of one CPU thread at 2.5 GHz, training times those of a GPU. None: not given, or estimated
only, because the paper's compiler did not finish.
"""

from dataclasses import dataclass

# accuracy and std in percent, ns per row, hours of training; thresholds are bits per pixel and channel
PAPER = """
name           data      layers    width  tau      thr. acc.  std   ns     bytes    hours
monk-1         monk-1         6       24  1        -   100    -     18     72       -
monk-2         monk-2         6       12  1        -   90.9   -     18     36       -
monk-3         monk-3         6       12  1        -   97.7   -     18     36       -
adult          adult          5      256  1/0.075  -   84.8   -     5.1    640      -
breast-cancer  breast-cancer  5      128  1/0.1    -   76.1   -     2.8    320      -
mnist-small    mnist          6     8000  1/0.1    1   97.69  0.11  625    23e3     1.8
mnist          mnist          6    64000  1/0.03   1   98.47  0.05  7e3    188e3    5.3
cifar-small    cifar10        4    12000  1/0.03   3   51.27  0.26  1.3e3  24e3     1.3
cifar-medium   cifar10        4   128000  1/0.01   3   57.39  0.13  7.3e3  250e3    7.4
cifar-large    cifar10        5   256000  1/0.01   31  60.78  0.12  -      625e3    24.2
cifar-large-2  cifar10        5   512000  1/0.01   31  61.41  0.02  -      1.22e6   45.6
cifar-large-4  cifar10        5  1024000  1/0.01   31  62.14  0.02  -      2.44e6   90.3
"""


@dataclass(frozen=True)
class Setting:
    """A network of the paper: a straight stack of layers on a data set, and how it did there."""

    name: str
    data: str
    n_layers: int
    width: int
    tau: float
    n_thresholds: int | None
    accuracy: float
    std: float | None
    ns: float | None
    n_bytes: float
    hours: float | None

    @property
    def n_gates(self) -> int:
        """Gates of all layers."""
        return self.n_layers * self.width

    @property
    def widths(self) -> list[int]:
        """Of each layer."""
        return [self.width] * self.n_layers


def _read_row(row: str) -> Setting:
    name, data, n_layers, width, *numbers = row.split()
    tau, n_thresholds, *results = (None if each == "-" else _read_number(each) for each in numbers)
    bits = None if n_thresholds is None else int(n_thresholds)
    return Setting(name, data, int(n_layers), int(width), tau, bits, *results)  # type: ignore[arg-type]


def _read_number(text: str) -> float:
    numerator, _, denominator = text.partition("/")
    return float(numerator) / float(denominator or 1)


BASELINES = {  # accuracy in percent and parameters of the paper's other models
    ("monk-1", "decision tree"): (100.0, 30),
    ("monk-2", "decision tree"): (70.4, 30),
    ("monk-3", "decision tree"): (100.0, 30),
    ("monk-1", "logistic regression"): (71.1, 20),
    ("monk-2", "logistic regression"): (61.4, 20),
    ("monk-3", "logistic regression"): (97.0, 20),
    ("monk-1", "neural network"): (100.0, 162),
    ("monk-2", "neural network"): (100.0, 162),
    ("monk-3", "neural network"): (93.5, 162),
    ("adult", "decision tree"): (79.5, 50),
    ("adult", "logistic regression"): (84.8, 234),
    ("adult", "neural network"): (84.9, 3_810),
    ("breast-cancer", "decision tree"): (71.9, 100),
    ("breast-cancer", "logistic regression"): (72.9, 104),
    ("breast-cancer", "neural network"): (75.3, 434),
    ("mnist-small", "logistic regression"): (91.6, 4_010),
    ("mnist-small", "neural network"): (97.92, 118_282),
    ("mnist", "neural network"): (98.40, 22_609_930),
    ("cifar-small", "neural network"): (50.79, 12_597_258),
}

SETTINGS = {setting.name: setting for setting in map(_read_row, PAPER.strip().splitlines()[1:])}
