#!/usr/bin/env python3
"""Models with a first-order state, by scipy: the answers that the tests of saltus-io hold Saltus against.

The shipped models `valve` and `harvester` with the parameters of their files, whose equations are written
again here: solve_ivp with DOP853, rtol = 1e-12, a terminal event on the gap, the impact law, and again from
there. Steps are short (a 2000th of the run) so that the interpolant on which scipy locates an
impact is as accurate as the steps. For each of the first 20 impacts it prints the time, the positions, the
velocities before and after, and the states.

    pip install scipy            # 1.17.1
    python3 bench/peers/states.py > crates/saltus-io/tests/references/states.json
"""
import json
import math
import pathlib
import tomllib

from scipy.integrate import solve_ivp

MODELS = pathlib.Path(__file__).resolve().parents[2] / "crates/saltus-io/models"
IMPACTS = 20


def parameters(name):
    """The parameters of a shipped model that are numbers."""
    with open(MODELS / f"{name}.toml", "rb") as file:
        table = tomllib.load(file)["parameters"]
    return {key: value for key, value in table.items() if isinstance(value, (int, float))}


def valve():
    p = parameters("valve")

    def rate(t, s):
        x, v, pressure = s
        return [v, -p["kappa"] * v - (x + p["delta"]) + pressure, p["beta"] * (p["q"] - x * math.sqrt(pressure))]

    def impact(s):
        x, v, pressure = s
        return [0.0, -p["r"] * v, pressure]

    return rate, lambda s: s[0], impact, [0.5, 0.0, 10.0], 60.0, 1


def harvester():
    p = parameters("harvester")
    m1, m2, e = p["m1"], p["m2"], p["e"]
    w1, w2 = 2 * math.pi * p["f1"], 2 * math.pi * p["f2"]

    def rate(t, s):
        x, y, vx, vy, volt = s
        base = p["A"] * math.cos(2 * math.pi * p["f"] * t)
        ax = -2 * p["z1"] * w1 * vx - w1**2 * x - base
        ay = -2 * p["z2"] * w2 * vy - w2**2 * y - base - p["theta"] * volt / m2
        return [vx, vy, ax, ay, (p["theta"] * vy - volt / p["R"]) / p["C"]]

    def impact(s):
        x, y, vx, vy, volt = s
        impulse = -(1 + e) * (vx - vy) / (1 / m1 + 1 / m2)
        return [x, y, vx + impulse / m1, vy - impulse / m2, volt]

    return rate, lambda s: p["d"] + s[0] - s[1], impact, [0.0] * 5, 2.0, 2


def run(rate, gap, impact, state, end, degrees):
    def event(t, s):
        return gap(s)

    event.terminal, event.direction = True, -1
    t, rows = 0.0, []
    while len(rows) < IMPACTS:
        found = solve_ivp(rate, (t, end), state, "DOP853", events=event, rtol=1e-12, atol=1e-15, max_step=end / 2000)
        if found.status != 1 or min(gap(found.y[:, k]) for k in range(1, len(found.t) - 1)) < 0:
            raise SystemExit(f"only {len(rows)} impacts were located")
        t, before = found.t_events[0][0], list(found.y_events[0][0])
        state = impact(before)
        d = degrees
        rows.append({"t": t, "q": before[:d], "before": before[d : 2 * d], "after": state[d : 2 * d], "z": before[2 * d :]})
    return rows


if __name__ == "__main__":
    print(json.dumps({make.__name__: run(*make()) for make in (valve, harvester)}, indent=1))
