"""What is wrong gets a clear exception; nothing that a user can do ends the interpreter."""

import copy
import math
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import saltus

BALL = saltus.load("ball-gravity")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"set": {"E": 1}}, "did you mean `e`"),
        ({"set": {"e": math.nan}}, "`e` must be a finite number, not nan"),
        ({"set": {"e": math.inf}}, "finite"),
        ({"set": {"e": np.array([0.1, 0.2])}}, r"not an array of shape \(2,\)"),
        ({"set": {"e": 1j}}, "must be a number"),
        ({"set": {"e": True}}, "must be a number"),
        ({"set": {"e": None}}, "must be a number"),
        ({"set": {"e": np.array(1 + 1j)}}, "real number"),
        ({"set": {"e": np.str_("zz+")}}, "."),
        ({"set": {"e": ""}}, "is empty"),
        ({"set": {1: 2}}, "names of `set` are texts"),
        ({"set": [("e", 1)]}, "is a dictionary"),
        ({"set": {"e": 1.5}}, "1.5"),
        ({"set": {"e": "0.5\x00"}}, "."),
        ({"start": {"z": 1}}, "z"),
        ({"start": {"y": -1}}, "outside the constraint `floor`"),
        ({"start": 3}, "is a dictionary"),
        ({"scheme": "moro-jean"}, "moreau-jean"),
        ({"scheme": "moreau-jean", "step": -1e-3}, "positive|> 0"),
        ({"scheme": "moreau-jean", "step": 1e-300}, "."),
        ({"theta": 0.5}, "theta"),
        ({"e": 0.5}, r"is a parameter of the model: give  set=\{'e'"),
        ({"params": {"e": 0.5}}, "no option `params`"),
        ({"tolerence": 1}, "did you mean `tolerance`"),
        ({"tol": 1}, "tolerance"),
        ({"end": "1/0"}, "."),
        ({"end": -1}, "end"),
        ({"every": 0}, "positive whole number"),
        ({"every": 1.5}, "positive whole number"),
        ({"modes": 3}, "structures"),
        ({"observe": "x=1"}, "structures"),
        ({"penetration": math.nan}, "finite"),
        ({"assemble": True, "set": {"zz": 1}}, "zz"),
    ],
)
def test_what_is_asked_of_a_run(options: dict[str, object], said: str) -> None:
    with pytest.raises(saltus.ModelError, match=said):
        BALL.run(**{"end": 1, **options})  # type: ignore[arg-type]


def test_names_that_do_not_exist_name_the_nearest() -> None:
    run = BALL.run(end=1)
    with pytest.raises(KeyError, match="did you mean `y`"):
        run["Y"]
    with pytest.raises(saltus.UnknownName, match="did you mean `impulse`"):
        run.impacts["impuls"]
    with pytest.raises(saltus.UnknownName, match="did you mean `floor`"):
        run.reaction["flor"]
    with pytest.raises(AttributeError, match=r"run\['y'\]"):
        run.y
    assert not hasattr(run, "bogus")
    with pytest.raises(TypeError, match="run.save"):
        pickle.dumps(run)
    assert copy.deepcopy(run) is run
    with pytest.raises(saltus.ModelError, match="no directory"):
        run.report("/no/such/directory/run.html")
    with pytest.raises(TypeError, match="by name"):
        run[0]  # type: ignore[index]
    with pytest.raises(saltus.ModelError, match="did you mean the shipped model `oscillator`"):
        saltus.load("oscilator")
    with pytest.raises(saltus.ModelError, match="saltus.load"):
        saltus.Model("oscillator").run(end=1)
    with pytest.raises(saltus.ModelError, match="takes a file or the name"):
        saltus.load(3)  # type: ignore[arg-type]
    with pytest.raises(saltus.ModelError, match="is a directory"):
        saltus.load(os.getcwd() + "/")


def test_times_of_dense_output() -> None:
    run = BALL.run(end=1)
    for bad in (-1e-9, 1.1, math.nan, math.inf, [0.5, 2.0]):
        with pytest.raises(ValueError, match="outside the motion"):
            run.at(bad)
    for wrong in (["a"], None, [1j]):
        with pytest.raises(saltus.ModelError, match="real numbers"):
            run.at(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="left"):
        run.at(0.5, side="up")
    t = np.linspace(0, 1, 24).reshape(2, 3, 4)
    expected = run.at(t.reshape(-1)).q
    assert (run.at(t).q.reshape(-1, 1) == expected).all() and run.at(t).q.shape == (2, 3, 4, 1)
    assert (run.at(t.T)["y"] == run.at(t)["y"].T).all()
    assert (run.at(t.astype(np.float32)).q == run.at(t.astype(np.float32).astype(float)).q).all()
    assert (run.at(np.arange(2)).q == run.at([0.0, 1.0]).q).all()
    big = np.array([0.25, 0.5], dtype=">f8")
    assert (run.at(big).q == run.at([0.25, 0.5]).q).all()
    assert run.at([]).q.shape == (0, 1) and run.at(0.5)["y"].shape == ()


@pytest.mark.parametrize(
    ("mass", "stiffness", "said"),
    [
        (np.eye(3), np.eye(4), "of one size"),
        (np.ones((3, 4)), np.eye(3), "must be square"),
        (np.ones(3), np.eye(3), "must be square"),
        (np.eye(3) * 1j, np.eye(3), "real numbers"),
        (np.eye(3) * np.nan, np.eye(3), "not finite"),
        (np.array([["a"]]), np.eye(1), "real numbers"),
        (np.zeros((0, 0)), np.zeros((0, 0)), "must be square"),
        (None, np.eye(1), "must be square"),
        (np.eye(3), np.triu(np.ones((3, 3))), "symmetric"),
        (-np.eye(3), np.eye(3), "."),
    ],
)
def test_matrices(mass: object, stiffness: object, said: str) -> None:
    with pytest.raises(saltus.ModelError, match=said):
        model = saltus.Model("s").matrices(mass, stiffness).point("end", index=-1).load("end", 1)
        model.run(end=1, step=0.1)


def test_points_of_matrices() -> None:
    model = saltus.Model("s").matrices(np.eye(3), np.eye(3))
    for bad in (3, -4, 1.5, True):
        with pytest.raises(saltus.ModelError, match="no row"):
            model.point("p", index=bad)  # type: ignore[arg-type]
    with pytest.raises(saltus.ModelError, match="give them first"):
        saltus.Model("s").point("p", index=0)
    with pytest.raises(saltus.ModelError, match="where is the point"):
        model.point("p")


@pytest.mark.parametrize(
    ("t", "y", "said"),
    [
        ([0, 1], [1], "2 times and 1 values"),
        ([0], [1], "two samples"),
        ([0, 0], [1, 2], "must increase"),
        ([0, math.nan], [1, 2], "not finite"),
        ([[0, 1]], [[1, 2]], "one axis"),
        (["a", "b"], [1, 2], "real numbers"),
        ([0, 1], [1, None], "real numbers"),
    ],
)
def test_inputs(t: object, y: object, said: str) -> None:
    with pytest.raises(saltus.ModelError, match=said):
        saltus.Model("s").input("u", t, y)


def test_models_as_dictionaries_and_texts() -> None:
    for bad, said in [
        ({}, "empty"),
        ({"coordinates": 3}, "coordinates"),
        ({"cordinates": {}}, "coordinates"),
        ({"title": None}, "must be a number"),
        ({"coordinates": {1: {"position": 1}}}, "names of a model are texts"),
        ({"coordinates": {"y": {"position": math.nan}}}, "finite"),
        ([], "dictionary"),
    ]:
        with pytest.raises(saltus.ModelError, match=said):
            saltus.Model.from_dict(bad).run(end=1)  # type: ignore[arg-type]
    with pytest.raises(saltus.ModelError, match="not valid TOML"):
        saltus.Model.parse("a = [")
    with pytest.raises(saltus.ModelError):
        saltus.Model.parse(b"x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="plain file name"):
        saltus.Model.parse("title = 'x'\n", data={"../x": b""})
    deep = saltus.Model("deep").coordinate("x", 0).kinetic("x'^2/2").force("x", "(" * 5000 + "x" + ")" * 5000)
    with pytest.raises(saltus.ModelError):
        deep.run(end=1)
    quoted = saltus.Model('a "quoted" \\ title\n\x7f\u202e').coordinate("x", 0).kinetic("x'^2/2")
    assert quoted.run(end=1).model.title == 'a "quoted" \\ title\n\x7f\u202e'


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"over": {"q": (0, 1, 3)}}, "q"),
        ({"over": {"w": (0, 1)}}, "range"),
        ({"over": {"w": (0, 1, 2.5)}}, "range"),
        ({"over": {"w": (0, 1, 0)}}, "one value at least"),
        ({"over": {"w": []}}, "no values"),
        ({"over": {"w": [[1, 2]]}}, "one axis"),
        ({"over": {"w": [1, math.nan]}}, "not finite"),
        ({"over": {"w": ["a"]}}, "real numbers"),
        ({"over": "w"}, "dictionary"),
        ({"points": {"w": [1, 2], "e": [1]}}, "one length"),
        ({"points": {}}, "no names"),
        ({"points": {"bogus": [1.0]}}, "bogus"),
        ({"over": {"w": (0.8, 1.2, 3)}, "impacts": "some"}, "some"),
        ({"over": {"w": (0.8, 1.2, 3)}, "formats": ["mat"]}, "mat"),
        ({"over": {"w": (0.8, 1.2, 3)}, "device": "tpu"}, "tpu"),
        ({}, "."),
    ],
)
def test_sweeps(options: dict[str, object], said: str) -> None:
    with pytest.raises(saltus.ModelError, match=said):
        saltus.sweep("oscillator", periods=2, **options)  # type: ignore[arg-type]


def test_a_directory_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(saltus.ModelError, match="not empty"):
        saltus.sweep("oscillator", {"w": [1.0]}, periods=2, out=tmp_path)
    with pytest.raises(saltus.ModelError):
        saltus.run("ball-gravity", end=1).save(tmp_path / "mine.txt")


def _digits(model: saltus.Model) -> list[float]:
    return [float(x) for x in model.run(end=1.5).q[-1]]


def test_threads_run_the_same_model() -> None:
    model = saltus.load("ball-gravity")
    expected = {e: model.run(end=2, set={"e": e}).q for e in (0.3, 0.5, 0.7)}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda e: (e, model.run(end=2, set={"e": e}).q), [0.3, 0.5, 0.7] * 20))
    assert all((q == expected[e]).all() for e, q in found)
    with ThreadPoolExecutor(4) as pool:
        sweeps = list(pool.map(lambda _: saltus.sweep(model, {"e": (0.3, 0.7, 9)}, end=2).points["y"], range(8)))
    assert all((x == sweeps[0]).all() for x in sweeps)


def test_the_interpreter_goes_on_while_a_run_computes() -> None:
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.wait(0.005):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    seconds = saltus.run("oscillator", end=60000, step=10).seconds
    done.set()
    thread.join()
    assert ticks > min(5, seconds / 0.1)


@pytest.mark.parametrize("way", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_other_processes(way: str) -> None:
    model = saltus.load("ball-gravity")
    expected = _digits(model)
    saltus.sweep(model, {"e": (0.3, 0.7, 9)}, end=1)
    with multiprocessing.get_context(way).Pool(2) as pool:
        assert pool.map(_digits, [model] * 4) == [expected] * 4


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_takes_nothing_away(tmp_path: Path) -> None:
    model = saltus.Model("cart").coordinate("x", 0).kinetic("x'^2/2").input("u", [0, 1], [0.0, 1.0]).force("x", "u(t)")
    held = [model, model.run(end=1), saltus.sweep("oscillator", {"w": [0.9, 1.1]}, periods=2)]
    family = held[2]
    child = os.fork()
    if child == 0:
        try:
            del model, family
            held.clear()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(family.points) == 2
    held[1].save(tmp_path / "run")
    assert saltus.rerun(tmp_path / "run").q[-1, 0] == held[1].q[-1, 0]


def test_packages_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    run = BALL.run(end=1)
    family = saltus.sweep("oscillator", {"w": [1.0]}, periods=2)
    for name in ("pandas", "xarray", "matplotlib", "matplotlib.pyplot", "tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    for call in (run.to_pandas, run.impacts.to_pandas, run.to_xarray, family.to_xarray, run.plot, run.phase):
        with pytest.raises(ImportError, match=r"pip install [a-z]+  \(saltus\["):
            call()  # type: ignore[operator]
    assert BALL.run(end=1, progress=True).status == "finished"


def test_copies_of_families_keep_their_results() -> None:
    import gc

    made = saltus.sweep("oscillator", {"w": (1, 1.1, 3)}, periods=3)
    values = made.points["x"].copy()
    twin, packed, directory = copy.deepcopy(made), pickle.dumps(made), made.directory
    del made
    gc.collect()
    twin.__dict__.pop("points", None)
    assert (twin.points["x"] == values).all()
    # Elsewhere it is a path, and whoever holds the results decides how long they stay.
    other = pickle.loads(packed)
    del twin
    gc.collect()
    assert not directory.exists()
    other.__dict__.pop("points", None)
    with pytest.raises(saltus.RunError, match="not there any more"):
        other.points


def test_numbers_and_sections_that_are_out_of_reach() -> None:
    with pytest.raises(saltus.ModelError, match="too large"):
        saltus.run("oscillator", end=1, set={"w": 10**400})
    with pytest.raises(saltus.ModelError, match="masked"):
        saltus.run("oscillator", end=1).at(np.ma.array([0.5, 0.7], mask=[False, True]))
    inside: dict[str, object] = {}
    inside["dynamics"] = inside
    with pytest.raises(saltus.ModelError, match="contain themselves"):
        saltus.Model.from_dict(inside)
    with pytest.raises(saltus.ModelError, match="it is one of up, down, both"):
        saltus.sweep("oscillator", {"w": (1, 2, 3)}, periods=3, carry="sideways")


def test_models_with_anything_in_them() -> None:
    """Texts with mistakes at random places: an exception of the package, or a run that can be looked at."""
    import random
    import re
    import warnings

    dice = random.Random(4)
    bits = ["nan", "1e400", "-1", "1/0", "x'", "(", "]", "\x00", "é", "y^y", "abs(x)", "-" * 40, "1e-320", "floor(t)", '"', "\n", "\u202e"]
    texts = [saltus.load(name).text for name in ("ball-gravity", "rocking-block", "oscillator", "belt", "valve", "slider-crank")]
    outcomes: dict[str, int] = {}
    for _ in range(250):
        text = dice.choice(texts)
        place = dice.randrange(len(text))
        numbers = list(re.finditer(r"\d+\.?\d*", text))
        found = dice.choice(numbers)
        text = dice.choice(
            [
                text[:place] + dice.choice(bits) + text[place:],
                text[:place] + text[place + dice.randint(1, 6) :],
                text[: found.start()] + dice.choice(["0", "-1", "1e9", "1e-12", "1e300"]) + text[found.end() :],
            ]
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run = saltus.Model.parse(text).run(end=0.02, step=0.01, check=False)
            looked = [run.impacts, run.timeline, run.energy, run.summary, run.reaction, run.at(run.times(3)), run.v_right, run._repr_html_()]
            assert len(looked) == 8
            outcomes[run.status] = outcomes.get(run.status, 0) + 1
        except saltus.ModelError as mistake:
            assert mistake.message
            outcomes["refused"] = outcomes.get("refused", 0) + 1
    assert outcomes["refused"] > 20 and outcomes["finished"] > 20
