"""The paper's baselines, trained here: a decision tree, logistic regression, and the ReLU networks of its supplement.

In: a setting and its data. Out: the test accuracies and the number of parameters of each. Linear models and ReLU
networks read the bits that the paper's logic networks read; trees read raw columns.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from experiments.data import Dataset
from experiments.plans import Plan
from experiments.settings import Setting

RELU = {  # layers, the last of which gives the classes, and neurons of each
    "monk-1": (2, 8),
    "monk-2": (2, 8),
    "monk-3": (2, 8),
    "adult": (2, 32),
    "breast-cancer": (2, 8),
    "mnist-small": (3, 128),
    "mnist": (7, 2048),
    "cifar-small": (5, 1024),
}
RATE, BATCH_SIZE, EPOCHS = 0.001, 100, 200
Bits = NDArray[np.bool_]


def run_baselines(setting: Setting, plan: Plan, data: Dataset, *, seeds: int, epochs: int) -> list[dict[str, Any]]:
    """Those that the paper shows beside a logic network; `plan` is the paper's."""
    bits, test_bits = (plan.encoder.encode_rows(X).unpack() for X in (data.X, data.X_test))
    results = []
    if data.shape is None:
        trees = [DecisionTreeClassifier(random_state=seed).fit(data.X, data.y) for seed in range(seeds)]
        scores = [tree.score(data.X_test, data.y_test) for tree in trees]
        results.append(_summarize("decision tree", scores, trees[0].tree_.node_count))
    if setting.data != "cifar10":
        linear = LogisticRegression(max_iter=1000).fit(bits, data.y)
        n_parameters = linear.coef_.size + linear.intercept_.size
        results.append(_summarize("logistic regression", [linear.score(test_bits, data.y_test)], n_parameters))
    if setting.name in RELU:
        nets = [_train_relu(*RELU[setting.name], bits, data, seed, epochs) for seed in range(seeds)]
        scores = [_score(net, test_bits, data.y_test) for net in nets]
        results.append(_summarize("neural network", scores, sum(weight.numel() for weight in nets[0].parameters())))
    return results


def _summarize(model: str, scores: list[float], n_parameters: int) -> dict[str, Any]:
    return {"model": model, "accuracies": [100 * float(score) for score in scores], "parameters": int(n_parameters)}


def _train_relu(n_layers: int, width: int, bits: Bits, data: Dataset, seed: int, epochs: int) -> nn.Sequential:
    """Adam at 0.001, batches of 100, as the paper trains them."""
    torch.manual_seed(seed)
    sizes = [bits.shape[1], *[width] * (n_layers - 1), data.n_classes]
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    net = nn.Sequential(*layers[:-1])
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE)
    y = torch.from_numpy(data.y)
    for _ in range(epochs):
        for batch in torch.randperm(len(y)).split(BATCH_SIZE):
            x = torch.from_numpy(bits[batch.numpy()]).float()
            loss = nn.functional.cross_entropy(net(x), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return net


def _score(net: nn.Module, bits: Bits, y: NDArray[np.int64]) -> float:
    with torch.no_grad():
        predicted = torch.cat([net(part.float()).argmax(1) for part in torch.from_numpy(bits).split(1000)])
    return float((predicted.numpy() == y).mean())
