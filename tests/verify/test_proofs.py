"""Proofs as files are checked by a program of their own; limits, interrupts and hostile sizes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.corpus import random_layers
from support.proofs import Checker, is_proof
from support.small_models import list_rows, make_model
from support.tools import require_module

require_module("pysat", "pip install -c constraints.txt '.[verify]'")

from gatewise import Encoder, Model, verify
from gatewise.heads import Classes
from gatewise.verify.limits import Limit
from gatewise.verify.proving import sat
from gatewise.verify.proving.clauses import Formula

ASKED: dict[str, Any] = {
    "always": lambda model, folder: verify.always(model, then="a", proof=folder),
    "reachable": lambda model, folder: verify.reachable(model, "b", {"age": (18, 37)}, proof=folder),
    "independent": lambda model, folder: verify.independent_of(model, "age", {"job": ["nurse", "clerk"]}, proof=folder),
    "monotone": lambda model, folder: verify.monotone(model, "gain", {"member": True}, proof=folder),
    "equivalent": lambda model, folder: verify.equivalent(model, model, proof=folder),
    "robust": lambda model, folder: verify.robust(model, list_rows()[:1], at_most=1, proof=folder)[0],
}


@pytest.mark.parametrize("question", ASKED)
def test_proofs_are_proofs(question: str, tmp_path: Path) -> None:
    statuses, n_checked = set(), 0
    for seed in range(12):
        folder = tmp_path / str(seed)
        verdict = ASKED[question](make_model(seed), str(folder))
        statuses.add(verdict.status)
        for formula in folder.rglob("*.cnf"):
            proof = formula.with_suffix(".drup")
            assert proof.exists() or verdict.is_refuted
            if proof.exists():
                n_checked += 1
                assert is_proof(formula, proof)
                assert "c " in formula.read_text()
    assert "undecided" not in statuses
    assert n_checked > 0


def test_the_checker_refuses_what_is_no_proof(tmp_path: Path) -> None:
    formula, proof = tmp_path / "f.cnf", tmp_path / "f.drup"
    formula.write_text("p cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n")
    for text, is_right in (("1 0\n0\n", True), ("0\n", False), ("", False), ("1 0\n2 0\n0\n", True)):
        proof.write_text(text)
        assert is_proof(formula, proof) == is_right
    assert not Checker([[1, 2, 3]]).follows([1])


def make_hard() -> Model:
    """A model about which nothing can be proved in little time: wide layers of random gates, most of them XOR."""
    rng = np.random.default_rng(0)
    encoder = Encoder.images((16, 16), 1)
    circuit = random_layers(rng, 256, [1000] * 5, 2, gates=(6, 9, 1, 7))
    return Model(encoder, circuit, Classes(("a", "b"), 10.0, 500))


@pytest.mark.parametrize("method", ["auto", "search", "sat", "sat with adders"])
def test_hard_questions_end_in_time(method: Any) -> None:
    model = make_hard()
    row = dict.fromkeys(model.encoder.names, 0)
    start = time.monotonic()
    (verdict,) = verify.robust(model, [row], at_most=1, limit=0.0, method=method)
    assert verdict.status == "undecided"
    assert str(verdict).startswith("undecided: the answer ")
    everything = dict.fromkeys(list(model.encoder.names)[:250], (0, 255))
    slow = verify.independent_of(model, "x255", everything | {"x254": 0}, limit=1.0, method=method)
    assert slow.status in ("undecided", "refuted")
    assert time.monotonic() - start < 60


def test_formulas_that_are_too_large_are_not_given_to_a_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sat, "MAX_LITERALS", 3)
    assert sat.solve(Formula(2, [[1, 2], [-1, -2]], []), Limit(10.0)).is_satisfiable is None


def test_ctrl_c_ends_a_solver(tmp_path: Path) -> None:
    n_holes = 14  # one pigeon more than holes takes a solver hours
    script = f"""
from itertools import combinations
from gatewise.verify.limits import Limit
from gatewise.verify.proving.clauses import Formula
from gatewise.verify.proving.sat import solve
place = lambda pigeon, hole: pigeon * {n_holes} + hole + 1
clauses = [[place(p, h) for h in range({n_holes})] for p in range({n_holes} + 1)]
clauses += [[-place(p, h), -place(q, h)] for h in range({n_holes}) for p, q in combinations(range({n_holes} + 1), 2)]
print("started", flush=True)
solve(Formula({n_holes} * ({n_holes} + 1), clauses, []), Limit(300.0))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    time.sleep(1.0)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


def test_a_missing_solver_is_named() -> None:
    code = (
        "import sys; sys.modules['pysat'] = None; sys.path.insert(0, 'tests')\n"
        "from support.small_models import make_model\n"
        "from gatewise import verify\n"
        "print(verify.always(make_model(0), then='a', method='search').status)\n"
        "verify.always(make_model(0), then='a')"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert done.stdout in ("proved\n", "refuted\n")
    assert "gatewise.verify needs pysat, which is not installed; get it by: pip install" in done.stderr
    assert "gatewise[verify]" in done.stderr
