"""What all targets write with: the warning about large code."""

from collections.abc import Callable

import numpy as np
import pytest
from support.corpus import random_layers

from gatewise import export
from gatewise.export import package

WRITERS = [(export.to_c, "model.c", "style='table'"), (export.to_verilog, "model.v", "simplify")]


@pytest.mark.parametrize(("write", "file", "advice"), WRITERS)
def test_how_large_code_gets_is_told(
    write: Callable[..., export.Package], file: str, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    circuit = random_layers(np.random.default_rng(0), 100, [1000, 2000, 1500], 1, gates=(1, 6, 7, 14))
    monkeypatch.setattr(package, "MANY_GATES", 4499)
    with pytest.warns(UserWarning, match=f"4,500 gates make about 0 MB of code; {advice}") as caught:
        files = write(circuit)
    assert caught[0].filename == __file__
    assert 0.3 < len(files[file]) / (4500 * package.BYTES_PER_GATE) < 3
    monkeypatch.setattr(package, "MANY_GATES", 4500)
    write(circuit)
