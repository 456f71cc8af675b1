"""Runs: arrays, tables, options, files, figures."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import saltus


def script(text: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=timeout)


def test_tables_are_arrays_and_data_frames() -> None:
    run = saltus.run("rocking-block")
    for table in (run.impacts, run.contacts, run.timeline, run.energy, run.events):
        frame = table.to_pandas()
        assert list(frame.columns) == table.columns and len(frame) == len(table)
    assert set(run.impacts["constraint"]) <= set(run.constraints)
    assert len(run.impacts) > 0 and run.impacts[:3].shape == (3,)
    assert run.to_pandas().index.name == "t" and list(run.to_pandas().columns) == ["x", "y", "theta", "x'", "y'", "theta'"]
    data = run.to_xarray()
    assert (data["theta"].values == run["theta"]).all() and data["theta"].dims == ("t",)


def test_the_ledger_and_the_summary_are_those_of_the_command_line() -> None:
    run = saltus.run("oscillator", end=30)
    assert run.ledger["complaints"] == [] and all(p["holds"] for p in run.ledger["properties"])
    assert run.summary["impacts"]["count"] == len(run.impacts) == 4
    assert isinstance(run.settled["kind"], str)
    assert run.warnings == [] and run.seconds > 0


def test_options_reach_the_run() -> None:
    model = saltus.load("ball-gravity")
    stepped = model.run(end=1, scheme="moreau-jean", step=1e-3, theta=0.6)
    assert stepped.summary["scheme"] == "moreau-jean" and len(stepped) == 1001
    assert len(model.run(end=1, scheme="moreau-jean", step=1e-3, every=10)) < 200
    assert model.run(end="2*e", set={"e": 0.25}).t[-1] == 0.5
    assert abs(model.run(end=0.4, tol=1e-6).at(0.4)["y"] - (1 - 9.81 * 0.08)) < 1e-5
    assert model.run(until_rest=True, set={"e": 0.5}).settled["kind"] == "rest"
    tube = saltus.run("guided-tube", end=0.01, observe="x=0.3")
    assert "x=0.3" in tube.coordinates


def test_a_run_goes_on_from_another() -> None:
    model = saltus.load("oscillator")
    whole, first = model.run(end=40), model.run(end=25)
    rest = first.resume(end=40)
    assert rest.t[0] == 25.0
    assert np.abs(rest.at(40.0).q - whole.at(40.0).q).max() < 1e-8
    assert (model.run(end=40, start=first).q == rest.q).all()
    with pytest.raises(saltus.ModelError, match="another model"):
        saltus.load("ball-gravity").run(start=first)


def test_runs_are_saved_and_made_again(tmp_path: Path) -> None:
    mass = np.eye(3)
    stiff = 100 * (2 * mass - np.eye(3, k=1) - np.eye(3, k=-1))
    model = saltus.Model("three").matrices(mass, stiff).point("end", index=2).load("end", "9*sin(3*t)")
    model = model.constraint("stop", "0.05 - end", 0.3).defaults(step=1e-3)
    for k, run in enumerate([saltus.run("ball-gravity", end=1), model.run(end=3)]):
        run.save(tmp_path / str(k), ["npz", "csv", "parquet"])
        again = saltus.rerun(tmp_path / str(k))
        assert (again.q == run.q).all() and again.model.title == run.model.title
        with np.load(tmp_path / str(k) / "trajectory.npz") as file:
            assert (file["v_right"] == run.v_right).all()
        import pandas

        assert len(pandas.read_parquet(tmp_path / str(k) / "trajectory.parquet")) == len(run)
    run.report(tmp_path / "run.html")
    assert "<html" in (tmp_path / "run.html").read_text()[:500]


def test_arrays_are_where_the_motion_is() -> None:
    run = saltus.run("oscillator", end=10)
    assert not run.t.flags.owndata and not run.q.flags.writeable
    with pytest.raises(ValueError):
        run.q[0, 0] = 1.0
    with pytest.raises(ValueError):
        run.t.flags.writeable = True
    assert np.shares_memory(run.q, saltus.Run(run.model, run._motion).q)
    # Arrays outlive the run.
    q = run.q
    expected = q.copy()
    del run
    saltus.run("oscillator", end=10)
    assert (q == expected).all()


def test_a_million_instants_come_without_a_second_copy() -> None:
    done = script("""
        import resource, saltus
        run = saltus.run("oscillator", end=20, step=2e-2)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run = saltus.run("oscillator", end=100, step=1e-4)
        made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        t, q, v = run.t, run.q, run.v_left
        assert len(t) >= 1_000_000 and q[-1, 0] == run.at(100.0)["x"] and abs(float(v.sum())) < 1e12
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(made - before, after - made, (t.nbytes + q.nbytes + v.nbytes) // 1024)
    """)
    assert done.returncode == 0, done.stderr
    made, more, size = map(int, done.stdout.split())
    assert more < size // 4, (made, more, size)


@pytest.mark.parametrize("call", ["saltus.run('oscillator', end=1e9, step=1e5)", "saltus.load('oscillator').lyapunov(periods=10**8, set={'w': 2.8, 'c': 0, 's': 0}, start={'x': -0.3})"])
def test_ctrl_c_stops_and_keeps_what_there_is(call: str) -> None:
    text = f"""
        import os, signal, threading, time, warnings, saltus
        warnings.simplefilter("ignore")
        saltus.run("ball-gravity", end=0.1)      # (NumPy is loaded with the first run, which may take longer than the timer.)
        threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        try:
            run = {call}
            print(run.status, len(run.t) > 10 and (run.q.shape[0] == len(run.t)))
        except KeyboardInterrupt:
            print("nothing")
        print(time.monotonic() - begun < 5)
        print(saltus.run("ball-gravity", end=1).status)
    """
    done = script(text)
    expected = "interrupted True" if "run(" in call else "nothing"
    assert done.stdout.split("\n")[:3] == [expected, "True", "finished"], done.stderr


def test_ctrl_c_in_a_sweep_loses_nothing(tmp_path: Path) -> None:
    done = script(f"""
        import os, signal, threading, warnings, saltus
        warnings.simplefilter("ignore")
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        options = dict(over={{"w": (0.8, 1.2, 20000)}}, transient=50, periods=200, out={str(tmp_path / "s")!r})
        found = saltus.sweep("oscillator", **options)
        print(found.is_complete, repr(found).endswith("interrupted>"))
        try:
            found.points
        except saltus.RunError as error:
            print("resume=True" in str(error))
        print(sum(1 for _ in (found.directory / "shards").glob("*.shard")) > 0)
    """)
    assert done.stdout.split() == ["False", "True", "True", "True"], done.stderr


def test_another_signal_handler_is_heard() -> None:
    done = script("""
        import signal, saltus
        def late(*_): raise TimeoutError("late")
        signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            saltus.run("oscillator", end=1e9, step=1e5)
        except TimeoutError as error:
            print(error)
    """)
    assert done.stdout.strip() == "late", done.stderr


def test_progress_in_the_way_of_tqdm() -> None:
    seen = []

    class Bar:
        def __init__(self, total: int, desc: str, leave: bool) -> None:
            self.total, self.n = total, 0

        def update(self, more: int) -> None:
            self.n += more
            seen.append(self.n / self.total)

        def close(self) -> None:
            seen.append("closed")

    saltus.run("oscillator", end=30000, step=1.0, progress=Bar)
    assert seen[-1] == "closed" and len(seen) > 1 and seen[:-1] == sorted(seen[:-1]) and 0 < seen[-2] <= 1
    seen.clear()
    saltus.sweep("oscillator", {"w": (0.8, 1.2, 400)}, periods=400, progress=Bar)
    assert seen[-1] == "closed"

    def broken(**_: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        saltus.run("oscillator", end=30000, step=1.0, progress=broken)


def test_a_run_that_fails_keeps_what_it_has() -> None:
    model = saltus.Model("runaway").coordinate("x", 1).kinetic("x'^2/2").force("x", "exp(x^2)")
    with pytest.raises(saltus.RunError) as caught:
        model.run(end=10)
    partial = caught.value.run
    assert partial is not None and partial.status == "failed" and 0 < partial.t[-1] < 10
    with pytest.warns(saltus.SaltusWarning):
        again = model.run(end=10, check=False)
    assert (again.q == partial.q).all()
    with pytest.raises(saltus.RunError):
        again.ok()


def test_figures_and_what_a_notebook_shows() -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    run = saltus.run("rocking-block")
    figure, (a, b, c) = plt.subplots(3)
    assert run.plot("theta", "theta'", ax=a) is a and run.phase("theta", ax=b) is b and run.plot_impacts("impulse", ax=c) is c
    figure.canvas.draw()
    assert run.plot().figure is not figure and a.get_xlabel().startswith("t")
    page = run._repr_html_()
    assert "<iframe" in page and "Rocking block" in page and len(page) < 400_000
    assert "<script>" not in saltus.Model("<script>").coordinate("x", 0).kinetic("x'^2").run(end=1)._repr_html_().split("<iframe")[0]
    assert "<table" in run.impacts._repr_html_()
    plt.close("all")


def test_the_command_comes_with_the_package(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("saltus")
    done = subprocess.run([program, "run", "ball-gravity", "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and '"status":"finished"' in done.stdout
    done = subprocess.run([program, "run", "no-such-model"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "no shipped model called `no-such-model`" in done.stderr
    assert subprocess.run([program, "bogus"], capture_output=True, timeout=60).returncode == 2
    long = subprocess.Popen([program, "run", "oscillator", "--end", "1e9", "--step", "1e5"], stdout=subprocess.PIPE)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            long.wait(1)
        os.kill(long.pid, signal.SIGINT)
        assert long.wait(20) == 130
    finally:
        long.kill()
