"""Models from files, names, texts, dictionaries, arrays, and step by step: they are the same models."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import saltus
import scipy.sparse as sparse


def built() -> saltus.Model:
    return (
        saltus.Model("Ball dropped on a floor")
        .parameter("g", 9.81)
        .parameter("e", 0.8)
        .coordinate("y", 1)
        .kinetic("y'^2/2")
        .potential("g*y")
        .constraint("floor", "y")
        .restitution("e")
        .defaults(end=3, step=1e-3)
    )


def same(a: saltus.Run, b: saltus.Run) -> bool:
    return all((x == y).all() for x, y in [(a.t, b.t), (a.q, b.q), (a.v_left, b.v_left), (a.v_right, b.v_right)])


def test_every_way_to_a_model_gives_the_same_motion(tmp_path: Path) -> None:
    shipped = saltus.load("ball-gravity")
    path = tmp_path / "ball.toml"
    path.write_text(shipped.text)
    tree = shipped.to_dict()
    tree.pop("draw", None)
    ways = [saltus.load(path), saltus.load(str(path)), saltus.Model.parse(shipped.text), saltus.Model.from_dict(tree), built()]
    expected = shipped.run(end=3, step=1e-3)
    for way in ways:
        assert same(expected, way.run(end=3, step=1e-3))
    for given in (path, shipped.text, tree, built()):
        assert same(expected, saltus.run(given, end=3, step=1e-3))


def test_a_builder_leaves_the_model_it_began_with_alone() -> None:
    base = built()
    other = base.parameter("e", 0.0)
    assert base.parameters["e"] == 0.8 and other.parameters["e"] == 0.0
    longer = saltus.load("oscillator").constraint("far", "x + 50", 0.5)
    assert longer.constraints == ["stop", "far"] and longer.parameters == saltus.load("oscillator").parameters


def test_a_built_model_reads_back_from_its_file(tmp_path: Path) -> None:
    t = np.linspace(0, 10, 101)
    model = built().input("u", t, np.sin(t)).force("y", "u(t)")
    model.save(tmp_path / "ball.toml")
    assert same(model.run(), saltus.load(tmp_path / "ball.toml").run())


def test_the_text_of_a_mistake_is_that_of_the_command_line(tmp_path: Path) -> None:
    text = saltus.load("ball-gravity").text.replace("g*y", "G*y")
    path = tmp_path / "ball.toml"
    path.write_text(text)
    with pytest.raises(saltus.ModelError) as caught:
        saltus.load(path).run()
    line = 1 + text.split("\n").index(next(x for x in text.split("\n") if "G*y" in x))
    assert caught.value.message == "unknown name `G`" and caught.value.help == "did you mean `g`?"
    assert (caught.value.file, caught.value.line) == (str(path), line)
    done = subprocess.run([sys.executable, "-m", "saltus", "run", str(path)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    shown = [x.split() for x in str(caught.value).strip().splitlines()]
    assert shown == [x.split() for x in done.stderr.strip().splitlines()]
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.line == line


def chain(n: int) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    stiffness = sparse.diags([-400.0, 800.0, -400.0], [-1, 0, 1], shape=(n, n)).tocsr()
    return sparse.identity(n).tocsr(), stiffness


def test_structures_from_matrices_in_memory(tmp_path: Path) -> None:
    mass, stiffness = chain(12)

    def structure(m: object, k: object) -> saltus.Model:
        made = saltus.Model("chain").matrices(m, k, {"rayleigh": [0.1, 1e-4]}, direction="all").point("end", index=-1)
        return made.base("3*sin(2*t)").constraint("wall", "0.002 - end", 0.5).defaults(step=1e-3, end=5)

    sparse.save_npz(tmp_path / "M.npz", mass)
    sparse.save_npz(tmp_path / "K.npz", stiffness)
    sections = structure(mass, stiffness).to_dict()
    sections["structure"] |= {"mass": "M.npz", "stiffness": "K.npz"}
    (tmp_path / "chain.toml").write_text(_toml(sections))
    expected = saltus.load(tmp_path / "chain.toml").run()
    assert len(expected.impacts) > 0
    forms = [
        (mass, stiffness),
        (mass.tocsc(), stiffness.tocoo()),
        (mass.toarray(), stiffness.toarray()),
        (np.asfortranarray(mass.toarray()), stiffness.toarray()[::-1, ::-1]),
        (mass.astype(int), stiffness.astype(np.float32)),
    ]
    for m, k in forms:
        assert same(expected, structure(m, k).run())


def _toml(sections: dict[str, object]) -> str:
    from saltus._text import toml

    return toml(sections)


def test_inputs_from_arrays_are_exact() -> None:
    # x'' = u(t) with u piecewise linear: x(2) = ∫∫u.
    rng = np.random.default_rng(1)
    t, u = np.linspace(0, 2, 21), rng.normal(size=21)
    model = saltus.Model("cart").coordinate("x", 0).kinetic("x'^2/2").input("u", t, u).force("x", "u(t)")
    x = v = 0.0
    for a, b, h in zip(u[:-1], u[1:], np.diff(t)):
        x += v * h + a * h**2 / 2 + (b - a) * h**2 / 6
        v += (a + b) / 2 * h
    end = model.run(end=2).at(2.0)
    assert abs(end["x"] - x) < 1e-9 and abs(end["x'"] - v) < 1e-9
    # Steps in memory that are not one after the other.
    wide = np.stack([t, u], axis=1)
    again = saltus.Model("cart").coordinate("x", 0).kinetic("x'^2/2").input("u", wide[:, 0], wide[:, 1]).force("x", "u(t)")
    assert same(model.run(end=2), again.run(end=2))


def test_models_travel_to_other_processes() -> None:
    mass, stiffness = chain(6)
    model = saltus.Model("chain").matrices(mass, stiffness).point("end", index=5).load("end", "sin(t)").defaults(step=1e-2)
    for one in (built(), saltus.load("frame"), saltus.load("pounding-record"), model):
        again = pickle.loads(pickle.dumps(one))
        assert again.title == one.title and again.text == one.text
        assert same(one.run(end=0.5), again.run(end=0.5))
    assert same(copy.deepcopy(model).run(end=1), model.run(end=1))


def test_everything_that_a_model_can_have() -> None:
    model = (
        saltus.Model("all")
        .parameter("k", 1e3, unit="N/m")
        .parameter("masses", [1.0, 2.0, 3.0])
        .coordinate("x", [0.0, 1.0, 2.0], 0.0, for_="i = 1..3")
        .definition("total", "x[1] + x[2] + x[3]")
        .kinetic("sum(i=1..3, masses[i]*x[i]'^2/2)")
        .force("x[1]", "1 - x[1]' + 0*total")
        .state("p", 0.5, "-p")
        .constraint("wall", "5 - x[1]", 0.5)
        .friction("pad", "x[2]'", 0.3, static=0.4)
        .event("late", "t - 0.5", "up")
        .unit("time", "s")
    )
    run = model.run(end=1)
    assert run.coordinates == ["x[1]", "x[2]", "x[3]"] and run.states == ["p"]
    assert abs(run["p"][-1] - 0.5 * np.exp(-1)) < 1e-9
    assert run.events["event"].tolist() == ["late"] and abs(run.events["t"][0] - 0.5) < 1e-12
    assert model.units["k"] == "N/m" and run.units["t"] == "s"
    assert run.velocity["x[2]"].max() == 0.0
    pendulum = saltus.Model("pendulum").coordinate("x", 1).coordinate("y", 0).mass([[1, 0], [0, 1]]).potential("9.81*y").joint("rod", "x^2 + y^2 - 1")
    swing = pendulum.run(end=2)
    assert np.abs(np.hypot(swing["x"], swing["y"]) - 1).max() < 1e-9 and len(swing.reaction["rod"]) == len(swing)
