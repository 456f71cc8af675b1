"""Sweeps, diagrams, basins and analyses: the numbers of the command line."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import saltus


def program(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "saltus", *words], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_tables_of_a_sweep_are_those_of_the_command_line(tmp_path: Path) -> None:
    words = ["--over", "w=0.8:1.2:7", "--over", "e=0.5,0.8", "--transient", "20", "--periods", "5"]
    program("sweep", "oscillator", *words, "--strobe", "--impacts", "all", "--stat", "x", "--out", str(tmp_path / "cli"))
    found = saltus.sweep(
        "oscillator", {"w": (0.8, 1.2, 7), "e": [0.5, 0.8]}, transient=20, periods=5, strobe=True, impacts="all", stat="x"
    )
    for name in ("points", "strobe", "impacts"):
        with np.load(tmp_path / "cli" / f"{name}.npz") as file:
            for column in file.files:
                if not column.startswith("reason"):
                    assert (found.table(name)[column] == file[column]).all()
    assert found.is_complete and found.impacts["speed"].min() > 0


def test_a_product_is_a_dataset_with_named_dimensions() -> None:
    model = saltus.load("oscillator").unit("w", "rad/s").unit("x", "m")
    found = saltus.sweep(model, {"w": np.array([0.8, 1.0, 1.3]), "e": (0.5, 0.8, 4)}, transient=20, periods=5, stat="x")
    data = found.to_xarray()
    assert data["max(x)"].dims == ("w", "e") and data["w"].attrs == {"units": "rad/s"} and data["x"].attrs == {"units": "m"}
    one = saltus.sweep(model, {"w": [1.3], "e": [0.7]}, transient=20, periods=5, stat="x").points
    assert data["max(x)"].sel(w=1.3, e=0.7, method="nearest").item() == one["max(x)"][0]
    listed = saltus.sweep(model, points={"w": [0.8, 1.3], "e": [0.5, 0.7]}, transient=20, periods=5, stat="x")
    assert listed.points["max(x)"][1] == one["max(x)"][0] and listed.to_xarray()["x"].dims == ("point",)
    carried = saltus.sweep(model, {"w": (0.7, 0.8, 3)}, carry="both", transient=5, periods=2)
    both = carried.to_xarray()
    assert both["x"].dims == ("direction", "w") and both["w"].values.tolist() == [0.7, 0.75, 0.8]
    down = carried.points[carried.points["direction"] == "down"]
    assert both["x"].sel(direction="down", w=0.7).item() == down["x"][down["w"] == 0.7][0]


def test_tables_as_parquet(tmp_path: Path) -> None:
    import pandas

    found = saltus.sweep("oscillator", {"w": (0.8, 1.2, 5)}, transient=20, periods=5, strobe=True)
    files = found.to_parquet(tmp_path)
    assert [f.name for f in files] == ["points.parquet", "strobe.parquet"]
    assert (pandas.read_parquet(tmp_path / "strobe.parquet")["x"].to_numpy() == found.strobe["x"]).all()
    out = saltus.sweep("oscillator", {"w": [1.0]}, periods=2, out=tmp_path / "s", formats=["parquet"])
    assert (tmp_path / "s" / "points.parquet").exists() and len(out.points) == 1


def test_expressions_with_commas_are_starts_too() -> None:
    model = saltus.load("oscillator")
    assert model.check(start={"x": "min(0.1, 0.2)"}).findings == model.check(start={"x": 0.1}).findings
    found = saltus.sweep(model, {"w": [1.0]}, start={"x": "max(-0.3, -0.5)", "x'": 0.1}, periods=2).points
    assert found["x"][0] == saltus.sweep(model, {"w": [1.0]}, start={"x": -0.3, "x'": 0.1}, periods=2).points["x"][0]


def test_samples_and_what_is_refused() -> None:
    found = saltus.sweep("oscillator", sample=16, vary={"w": "normal(1,0.05)"}, design="sobol", seed=3, periods=5)
    assert len(set(found.points["w"])) == 16
    starts = saltus.sweep("oscillator", {"x": (0, 2, 5)}, periods=3).points
    assert starts["status"].tolist() == ["finished"] * 3 + ["refused"] * 2 and "outside" in starts["reason"][4]


def test_a_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    options = {"over": {"w": (0.8, 1.2, 40)}, "transient": 20, "periods": 5}
    whole = saltus.sweep("oscillator", **options)
    saltus.sweep("oscillator", **options, out=tmp_path / "s")
    shards = sorted((tmp_path / "s" / "shards").glob("*.shard"))
    shards[0].unlink()
    again = saltus.sweep("oscillator", **options, out=tmp_path / "s", resume=True)
    assert (again.points["x"] == whole.points["x"]).all()
    for k in (1, 2):
        words = ["--over", "w=0.8:1.2:40", "--transient", "20", "--periods", "5", "--shard", f"{k}/2", "--out", str(tmp_path / f"p{k}")]
        program("sweep", "oscillator", *words)
    merged = saltus.merge([tmp_path / "p1", tmp_path / "p2"], tmp_path / "m")
    with np.load(merged / "points.npz") as file:
        assert (file["x"] == whole.points["x"]).all()


def test_models_in_no_file_have_families_too() -> None:
    model = saltus.load("oscillator").parameter("w", 1.0)
    t = np.linspace(0, 50, 501)
    driven = model.input("u", t, 0.1 * np.sin(t)).force("x", "A*cos(w*t) - c*x' + u(t)")
    found = saltus.sweep(driven, {"A": (0.8, 1.2, 4)}, end=40)
    for k, a in enumerate(found.points["A"]):
        assert abs(driven.run(end=40, set={"A": a})["x"][-1] - found.points["x"][k]) < 1e-7
    assert found.points["status"].tolist() == ["finished"] * 4


def test_diagrams_sections_and_basins() -> None:
    diagram = saltus.bifurcation("oscillator", {"w": (0.8, 1.2, 6)}, transient=30, periods=8, exponents=True)
    assert diagram.answer.parameter == "w" and set(diagram.strobe["point"]) == set(range(6)) and "<svg" in diagram._repr_html_()
    import matplotlib

    matplotlib.use("Agg")
    assert len(diagram.plot("x", of="strobe").lines[0].get_xdata()) == len(diagram.strobe)
    cut = saltus.section("oscillator", at="impacts", transient=20, periods=20, set={"w": 2.8, "c": 0, "s": 0}, start={"x": -0.3})
    assert len(cut.impacts) > 5
    found = saltus.basins("oscillator", {"x": (-2, 1, 6), "x'": (-3, 3, 6)}, set={"w": 5.7, "A": 3.09})
    assert len(found.points) == 36 and len(found.attractors) == 3
    again = saltus.Family.open(found.directory)
    assert (again.points["attractor"] == found.points["attractor"]).all()
    assert len(model_methods()) == 4


def model_methods() -> list[saltus.Family]:
    """Families by the methods of a model."""
    model = saltus.load("oscillator")
    options = {"transient": 5, "periods": 3}
    return [
        model.sweep({"w": [1.0]}, **options),
        model.bifurcation({"w": (0.9, 1.1, 2)}, **options),
        model.section(transient=5, periods=5),
        model.basins({"x": (-2, 1, 3), "x'": (-3, 3, 3)}, set={"w": 5.7, "A": 3.09}),
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: m.compare(["auto", "mabrouk"], step=0.01, end=10), ["compare", "--schemes=auto,mabrouk", "--step=0.01", "--end=10"]),
        (lambda m: m.converge("mabrouk", step=0.02, levels=3, end=5), ["converge", "--scheme=mabrouk", "--step=0.02", "--levels=3", "--end=5"]),
        (lambda m: m.check(effort=10), ["check", "--effort=10"]),
        (lambda m: m.equilibria(time=0.5), ["equilibria", "--time=0.5"]),
        (lambda m: m.lyapunov(transient=20, periods=30, set={"e": 0.7}), ["lyapunov", "--transient=20", "--periods=30", "--set=e=0.7"]),
    ],
)
def test_analyses_answer_as_the_command_line(call: object, words: list[str]) -> None:
    expected = json.loads(program(words[0], "oscillator", *words[1:], "--json"))
    found = json.loads(json.dumps(call(saltus.load("oscillator"))))  # type: ignore[operator]
    for answer in (expected, found):
        for scheme in answer.get("schemes", []):
            scheme.pop("wall_s")
    assert found == expected


def test_orbits_probes_and_derivatives() -> None:
    model = saltus.load("oscillator")
    orbit = model.orbits()[0]
    assert orbit.stable and abs(orbit.period - 2 * np.pi) < 1e-12
    # A period later it is back.
    back = model.run(end=orbit.period, start=orbit.state).at(orbit.period)
    assert abs(back["x"] - orbit.state["x"]) < 1e-8 and abs(back["x'"] - orbit.state["x'"]) < 1e-8
    assert model.probe(6, end=20).runs == 6
    found = model.sensitivity(["e", "x"], of="x^2", end=10)
    step = 1e-6
    high, low = (model.run(end=10, set={"e": 0.8 + s}).at(10.0)["x"] for s in (step, -step))
    assert abs(found.by["e"]["x"] - (high - low) / (2 * step)) < 1e-5
    assert len(saltus.models()) >= 30 and "auto" in saltus.schemes()
    with pytest.raises(AttributeError, match="did you mean `period`"):
        orbit.periodd
