"""Several labels per row: one circuit, whose values are logarithms of odds."""

import numpy as np

from gatewise import Encoder
from gatewise.boost import Boosting, EncodedTable, fit_classes
from gatewise.boost.labels import fit_labels

RNG = np.random.default_rng(0)
X = RNG.random((600, 3))
LABELS = np.stack([X[:, 0] > 0.3, (X[:, 1] > 0.5) ^ (X[:, 2] > 0.5), np.zeros(600)], 1).astype(np.int64)
ENCODER = Encoder.fit(X)
TABLE = EncodedTable(ENCODER, ENCODER.encode(X))


def test_each_label_is_learned_as_if_alone() -> None:
    fitted = fit_labels(Boosting(patience=20), TABLE, LABELS)
    scores = fitted.model.scores(X)
    assert ((scores[:, :2] > 0) == LABELS[:, :2]).mean() > 0.97
    assert (scores[:, 2] < -10).all()
    alone = [fit_classes(Boosting(patience=20), TABLE, LABELS[:, k], [0, 1]) for k in range(2)]
    for k in range(2):
        odds = np.diff(alone[k].model.scores(X), axis=1)[:, 0]
        np.testing.assert_allclose(scores[:, k], odds, atol=1 / 160)
    assert fitted.n_terms == alone[0].n_terms + alone[1].n_terms
    assert fitted.losses[-1] < 0.1 < fitted.losses[0]
