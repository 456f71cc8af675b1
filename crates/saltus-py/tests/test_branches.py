"""Branches of orbits and equilibria: the numbers of the command line, as arrays."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import saltus


def test_the_fold_and_grazing_of_the_resonance_curve() -> None:
    found = saltus.load("oscillator").follow({"w": (1, 1.8)}, direction="up", show="max(x)", simulate=0)
    assert len(found) >= 1 and found.parameters == ["w"] and found.shown == ["max(x)"]
    branch = found[0]
    # Grazing is where the amplitude of the linear response is the clearance: (1 − w²)² + c²w² = 1, w² = 2 − c², with c = 0.1.
    grazing = math.sqrt(2 - 0.1**2)
    kinds = dict(zip(branch.special["kind"].tolist(), branch.special["w"].tolist()))
    assert abs(kinds["grazing"] - grazing) < 1e-8 and 1.75 < kinds["fold"] < 1.7502
    # Multipliers: their product is e² exp(−c T) with one impact a period, exp(−c T) without.
    product = np.abs(branch.multipliers.prod(axis=1)) * np.exp(0.1 * branch["period"])
    hits = np.isclose(product, 0.64, rtol=1e-6)
    assert (hits | np.isclose(product, 1, rtol=1e-6)).all() and hits.any()
    assert branch.stable.any() and not branch.stable.all()
    assert (branch.values == branch["w"]).all() and branch.values.shape == (len(branch),)
    # An orbit run for a period comes back.
    for k in (0, -1):
        run = branch.run(k)
        assert np.allclose(run.q[-1], run.q[0], atol=1e-7), k
    with pytest.raises(saltus.ModelError, match="there is no orbit"):
        branch.run(10**6)


def test_tables_and_figures(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    out = tmp_path / "branches"
    found = saltus.follow("ball-table", {"G": (1.4, 1.6)}, set={"G": 1.45}, show="speed", direction="up", simulate=12, out=out)
    assert [b.number for b in found] == list(range(1, len(found) + 1))
    assert abs(float(found.special["G"][0]) - 1.5268237005) < 1e-8
    frame = found.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == sum(len(b) for b in found)
    assert len(found[1].to_pandas()) == len(found[1])
    x, y = found.simulated
    assert len(x) == len(y) >= 12
    axes = found.plot()
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    assert solid and axes.get_xlabel() == "G"
    # Everything that is stable is solid, everything else is dashed.
    drawn = np.concatenate([line.get_ydata() for line in solid])
    # (An orbit of one impact has no second speed.)
    assert np.isfinite(drawn).sum() == sum(int((b.stable & np.isfinite(b[name])).sum()) for b in found for name in found.shown)
    assert found[0].plot("period", ax=axes) is axes
    with pytest.raises(saltus.UnknownName, match="period"):
        found.plot("perod")
    assert "Branches of 'Ball on a vibrating table'" in repr(found) and "svg" in found._repr_html_()
    assert (out / "branches.html").exists()
    # It goes on from where it ended.
    further = saltus.follow("ball-table", {"G": (1.4, 1.7)}, show="speed", after=found, branch=1, simulate=0)
    assert further.points["G"].max() > 1.6


def test_equilibria_and_curves() -> None:
    rest = saltus.follow("valve", {"q": (0.5, 9)}, of="equilibria")
    hopf = rest.special[rest.special["kind"] == "hopf"]
    assert abs(float(hopf["q"][0]) - 8.4911176352) < 1e-6
    curve = saltus.load("oscillator").follow({"w": (1.2, 2), "s": (0.3, 2)}, curve="grazing")
    w, s = curve.points["w"], curve.points["s"]
    assert np.allclose(s**2 * ((1 - w**2) ** 2 + 0.01 * w**2), 1, atol=1e-9) and len(w) > 5


@pytest.mark.parametrize(
    ("over", "options", "said"),
    [
        ({}, {}, "a parameter and its range"),
        ({"w": 1.0}, {}, "a range"),
        ({"w": (0.5, 1.5, 100)}, {}, "lowest, highest"),
        ({"q": (0, 1)}, {}, "q"),
        ({"w": (float("nan"), 1)}, {}, "w"),
        ({"w": (0.5, 2)}, {"curve": "fold"}, "two parameters"),
        ({"w": (0.5, 2)}, {"of": "orbit"}, "orbits"),
        ({"w": (0.5, 2)}, {"after": "nowhere"}, "nowhere"),
    ],
)
def test_what_makes_no_sense(over: dict[str, object], options: dict[str, object], said: str) -> None:
    with pytest.raises(saltus.SaltusError, match=said):
        saltus.load("oscillator").follow(over, **options)  # type: ignore[arg-type]
