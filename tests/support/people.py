"""A small table of mixed columns."""

import numpy as np
import pandas as pd


def make_people(n_rows: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of mixed columns and a target that depends on three of them."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, n_rows)
    job = rng.choice(["nurse", "smith", "clerk"], n_rows)
    income = rng.gamma(2.0, 20.0, n_rows)
    income[::17] = np.nan
    frame = pd.DataFrame({"age": age, "job": job, "income": income, "member": rng.random(n_rows) < 0.5})
    return frame, np.where((age > 45) & (job != "clerk"), "yes", "no")
