"""Breast Cancer on many random splits: its 70 test rows are too few to tell models apart by one.

In: the data folder, seeds of splits. Out: the test accuracy of each model on each split, 3 : 1, as the published one.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from experiments.baselines import EPOCHS, run_baselines
from experiments.data import load_breast_cancer
from experiments.plans import RECIPES, paper
from experiments.settings import SETTINGS
from experiments.training import train_network

SETTING = SETTINGS["breast-cancer"]


def run_splits(folder: Path, seeds: Iterable[int], report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Logic networks by each recipe and the paper's baselines; a seed draws the split and the first weights."""
    found: dict[str, list[float]] = {}
    for seed in seeds:
        data = load_breast_cancer(folder, seed=seed)
        scores = {}
        for recipe, make_plan in RECIPES.items():
            plan = make_plan(SETTING, data)
            trained = train_network(SETTING.widths, plan, data, seed, folder=None, report=lambda line: None)
            scores[recipe] = 100 * float((trained.model.predict(data.X_test) == data.y_test).mean())
        for baseline in run_baselines(SETTING, paper(SETTING, data), data, seeds=1, epochs=EPOCHS):
            scores[baseline["model"]] = baseline["accuracies"][0]
        report(f"split {seed}: " + ", ".join(f"{name} {score:.2f} %" for name, score in scores.items()))
        for name, score in scores.items():
            found.setdefault(name, []).append(score)
    return [{"model": name, "accuracies": scores} for name, scores in found.items()]
