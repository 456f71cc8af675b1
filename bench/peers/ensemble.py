#!/usr/bin/env python3
"""Twenty trajectories of an oscillator with a stop: scipy's solve_ivp with events, and Saltus.

The problem is bench/models/stop.toml: x'' = cos(w t) - 0.04 x' - x, stop at x = 1, e = 0.8, ten periods of the
forcing, for twenty frequencies. solve_ivp (DOP853, a terminal event at the stop, restarted after each impact) runs
with the loosest of a few tolerances at which the median error is below 1e-8; errors are measured against the event engine of
Saltus with a tolerance of 1e-13. Saltus runs the same twenty points for the error, and ten thousand points of the same
range, on one thread, for the time: its own figure, without the start of the process and the writing of files.

How to run it, from the repository root, with a python3 that has numpy and scipy:

    cargo build --release
    python3 bench/peers/ensemble.py
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ROOT / "bench" / "models" / "stop.toml"
LOW, HIGH, COUNT = 0.55, 1.45, 20


def solve(w, rtol):
    """The state after ten periods."""
    import numpy as np
    from scipy.integrate import solve_ivp

    def f(t, y):
        return [y[1], math.cos(w * t) - 0.04 * y[1] - y[0]]

    def stop(t, y):
        return 1.0 - y[0]

    stop.terminal, stop.direction = True, -1.0
    t, y, end = 0.0, [0.0, 0.0], 20.0 * math.pi / w
    while t < end:
        run = solve_ivp(f, (t, end), y, method="DOP853", rtol=rtol, atol=rtol, events=stop)
        t, y = run.t[-1], [float(run.y[0, -1]), float(run.y[1, -1])]
        if run.status != 1:
            break
        y = [1.0, -0.8 * y[1]]
    return np.array(y)


def sweep(saltus, count, tolerance, out):
    """The summary of a sweep, and its final states."""
    command = [saltus, "sweep", str(MODEL), "--over", f"w={LOW}:{HIGH}:{count}", "--end", "20*pi/w",
               "--tol", str(tolerance), "--threads", "1", "--out", out, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    with open(pathlib.Path(out) / "points.csv", newline="") as file:
        rows = [(float(r["w"]), float(r["x"]), float(r["x'"])) for r in csv.DictReader(file)]
    return json.loads(done.stdout), rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--saltus", default=str(ROOT / "target" / "release" / "saltus"))
    options = parser.parse_args()
    try:
        import numpy as np
        import scipy
    except ImportError as error:
        sys.exit(f"{error}: pip install numpy scipy")
    with tempfile.TemporaryDirectory() as folder:
        _, exact = sweep(options.saltus, COUNT, 1e-13, folder + "/exact")
        _, found = sweep(options.saltus, COUNT, 1e-10, folder + "/found")
        timed, _ = sweep(options.saltus, 10_000, 1e-10, folder + "/timed")
    apart = [max(abs(a[1] - b[1]), abs(a[2] - b[2])) for a, b in zip(exact, found)]
    saltus = timed["seconds"] / 10_000
    print(f"Saltus, lanes: {1e6 * saltus:.2f} us per trajectory, error {np.median(apart):.1e} (median), {max(apart):.1e}")
    for rtol in [1e-8, 1e-9, 1e-10, 1e-11, 1e-12]:
        started = time.perf_counter()
        states = [solve(w, rtol) for w, _, _ in exact]
        each = (time.perf_counter() - started) / COUNT
        errors = [max(abs(y - np.array(e[1:]))) for y, e in zip(states, exact)]
        print(f"scipy {scipy.__version__}, DOP853, rtol {rtol:.0e}: {1e6 * each:.0f} us per trajectory, "
              f"error {np.median(errors):.1e} (median), {max(errors):.1e}: {each / saltus:.0f} times")
        if np.median(errors) <= 1e-8:
            break


if __name__ == "__main__":
    main()
