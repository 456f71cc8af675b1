"""The figures of docs/benchmarks.md, "From Python". Run in an environment with the package, scipy and distributed:

    python bench/python/figures.py [--program SALTUS] [--skip-dask]

`--program` is the command line to compare with, built in the same profile; by default the one beside this Python.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import saltus

DUFFING = (
    saltus.Model("Duffing oscillator with a stop")
    .parameter("w", 1.0)
    .coordinate("x", 0)
    .kinetic("x'^2/2")
    .force("x", "0.5*cos(w*t) - 0.1*x' - x - x^3")
    .constraint("stop", "0.5 - x", restitution=0.8)
)
FIRST, LAST, POINTS, PERIODS = 0.5, 1.5, 500, 200


def seconds(act: object) -> float:
    begun = time.perf_counter()
    act()  # type: ignore[operator]
    return time.perf_counter() - begun


def importing() -> None:
    code = "import time; t = time.perf_counter(); import saltus; print(time.perf_counter() - t)"
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
    print(f"import saltus: {statistics.median(times) * 1e3:.0f} ms (median of 9)")


def calling() -> None:
    model = saltus.load("oscillator")
    for what, options in (("1257 stored instants", {"step": 0.1}), ("120 020 stored instants, the model's own", {})):
        model.run(**options)
        beyond, inside = [], []
        for _ in range(300):
            begun = time.perf_counter()
            run = model.run(**options)
            ended = time.perf_counter()
            beyond.append(ended - begun - run.seconds)
            inside.append(run.seconds)
            del run
        low, middle = min(beyond) * 1e6, statistics.median(beyond) * 1e6
        print(f"oscillator, {what}: run {statistics.median(inside) * 1e6:.0f} µs, the call {middle:.1f} µs more (least {low:.1f})")


def memory() -> None:
    code = """
import resource, saltus
def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20
run = saltus.run("oscillator", end=20, step=2e-2); run.t
a = rss(); run = saltus.run("oscillator", end=100, step=1e-4); b = rss()
t, q, v = run.t, run.q, run.v_left; s = t.sum() + q.sum() + v.sum(); c = rss()
print(len(t), (t.nbytes + q.nbytes + v.nbytes) / 2**20, b - a, c - b)
"""
    n, size, made, more = map(float, subprocess.check_output([sys.executable, "-c", code]).split())
    print(f"{n:.0f} instants: {size:.1f} MiB of arrays; the run took {made:.1f} MiB, the arrays {more:.1f} MiB more")


def scipy_motion(w: float, periods: int) -> int:
    """The same motion with solve_ivp and an event, from impact to impact."""
    from scipy.integrate import solve_ivp

    def flow(t: float, s: np.ndarray) -> list[float]:
        x, v = s
        return [v, 0.5 * np.cos(w * t) - 0.1 * v - x - x**3]

    def gap(t: float, s: np.ndarray) -> float:
        return 0.5 - s[0]

    gap.terminal, gap.direction = True, -1  # type: ignore[attr-defined]
    t, s, end, hits = 0.0, np.zeros(2), 2 * np.pi / w * periods, 0
    while t < end:
        done = solve_ivp(flow, (t, end), s, method="DOP853", rtol=1e-10, atol=1e-12, events=gap)
        t, s = done.t[-1], done.y[:, -1]
        if done.status == 1:
            s = np.array([0.5 - 1e-14, -0.8 * s[1]])
            hits += 1
            if abs(s[1]) < 1e-9:
                raise RuntimeError("chatter: solve_ivp does not end")
    return hits


def diagram(program: str) -> None:
    times: dict[str, list[float]] = {"python": [], "program": []}
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "duffing.toml"
        DUFFING.save(file)
        words = [program, "bifurcation", str(file), "--over", f"w={FIRST}:{LAST}:{POINTS}", "--transient", str(PERIODS - 50), "--periods", "50"]
        for k in range(5):
            out = ["--json", "--out", str(Path(scratch) / str(k))]
            times["program"].append(seconds(lambda: subprocess.run([*words, *out], check=True, capture_output=True)))
            axis = {"w": (FIRST, LAST, POINTS)}
            times["python"].append(seconds(lambda: saltus.bifurcation(DUFFING, axis, transient=PERIODS - 50, periods=50).strobe))
    python, line = (statistics.median(times[k]) for k in ("python", "program"))
    values = np.linspace(FIRST, LAST, POINTS)[:: POINTS // 4 or 1][:4]
    part, hits = 20, 0
    begun = time.perf_counter()
    for w in values:
        hits += scipy_motion(float(w), part)
    scipy = (time.perf_counter() - begun) / (len(values) * part) * POINTS * PERIODS
    print(f"bifurcation, {POINTS} × {PERIODS} periods: Python {python:.2f} s, the command line {line:.2f} s, ratio {python / line:.2f}")
    print(f"solve_ivp: {scipy:.0f} s (from {len(values)} × {part} periods, {hits} impacts), {scipy / python:.0f} × Python")


def dask() -> None:
    """A sweep of about a minute, plain and on two workers in turn; in seconds, and in seconds of the processor, which other work disturbs less."""
    from distributed import Client, LocalCluster

    options = {"over": {"w": (0.8, 1.2, 2000)}, "transient": 100, "periods": 12000, "settled": True}
    wall: dict[str, list[float]] = {"plain": [], "dask": []}
    used: dict[str, list[float]] = {"plain": [], "dask": []}
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:

        def spent() -> float:
            return time.process_time() + sum(client.run(time.process_time).values())

        saltus.sweep("oscillator", {"w": (0.8, 1.2, 8)}, periods=10, client=client)
        for way in ("plain", "dask", "dask", "plain"):
            how = {"client": client} if way == "dask" else {"threads": 2}
            before = spent()
            wall[way].append(seconds(lambda: saltus.sweep("oscillator", **options, **how)))
            used[way].append(spent() - before)
    for what, of in (("seconds", wall), ("seconds of the processor", used)):
        plain, spread = (statistics.mean(of[way]) for way in ("plain", "dask"))
        print(f"a sweep, {what}: plain {plain:.1f}, on two workers {spread:.1f}: {100 * (spread / plain - 1):+.1f} %")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(Path(sys.executable).with_name("saltus")))
    parser.add_argument("--skip-dask", action="store_true")
    args = parser.parse_args()
    importing()
    calling()
    memory()
    diagram(args.program)
    if not args.skip_dask:
        dask()
