"""Score a table that is larger than one machine: a saved model on the partitions of a Dask dataframe.

    python examples/score_with_dask.py

A model pickles as the bytes of its file, so it is sent to every worker once and needs no shared disk; workers need
numpy, safetensors and gatewise, neither torch nor scikit-learn. On a real cluster pass the scheduler's address to
`Client`. A worker that dies is replaced, and its partitions are scored again: predictions depend on the rows alone.
"""

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.distributed import Client, LocalCluster
from sklearn.datasets import load_wine

from gatewise import LogicClassifier, Model


def score(part: pd.DataFrame, model: Model) -> pd.DataFrame:
    """A partition with two more columns: the prediction and its probability."""
    probabilities = model.predict_proba(part)
    labels = model.head.label_array.take(probabilities.argmax(1))
    return part.assign(prediction=labels, probability=probabilities.max(1))


def main() -> None:
    """Train on a small table, score a large one."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = LogicClassifier(random_state=0).fit(X, y).model_

    rng = np.random.default_rng(0)
    large = X.iloc[rng.integers(0, len(X), 20_000)].reset_index(drop=True)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        table = dd.from_pandas(large, npartitions=16)
        everywhere = client.scatter(model, broadcast=True)
        meta = score(large.head(1), model)
        scored = table.map_partitions(score, everywhere, meta=meta).compute()
    assert (scored["prediction"].to_numpy() == model.predict(large)).all()
    print(f"scored {len(scored):,} rows on 2 workers: {scored['prediction'].value_counts().sort_index().to_dict()}")


if __name__ == "__main__":
    main()
