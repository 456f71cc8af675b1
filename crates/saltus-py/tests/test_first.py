"""A ball in three lines, and against its closed form."""

import numpy as np
import saltus


def test_a_ball_in_three_lines() -> None:
    run = saltus.run("ball-gravity", end=2, set={"e": 0.5})
    assert run.status == "finished" and run.ok() is run
    first = np.sqrt(2 / 9.81)
    # Flights between the bounces: 2 e^k t₁.
    expected = first + 2 * first * np.cumsum([0.5**k for k in range(1, 8)])
    assert np.allclose(run.impacts["t"][:8], np.concatenate([[first], expected]), rtol=0, atol=1e-12)
    # The accumulation: t₁ (1 + e)/(1 − e).
    assert abs(run.contacts["start"][0] - 3 * first) < 1e-12


def test_dense_output_is_the_parabola() -> None:
    run = saltus.run("ball-gravity", end=2, set={"e": 0.5})
    t = np.linspace(0, 0.45, 997)
    state = run.at(t)
    assert np.abs(state["y"] - (1 - 9.81 * t**2 / 2)).max() < 1e-13
    assert np.abs(state["y'"] + 9.81 * t).max() < 1e-12
    hit = run.impacts["t"][0]
    left, right = run.at(hit, side="left")["y'"], run.at(hit)["y'"]
    assert abs(left + np.sqrt(2 * 9.81)) < 1e-12 and abs(right - 0.5 * np.sqrt(2 * 9.81)) < 1e-12


def test_arrays_have_both_limits_and_names() -> None:
    run = saltus.run("ball-gravity", end=2, set={"e": 0.5})
    n = len(run)
    assert run.t.shape == (n,) and run.q.shape == run.v_left.shape == run.v_right.shape == (n, 1)
    jumps = np.flatnonzero(run.v_left[:, 0] != run.v_right[:, 0])
    assert np.isin(run.impacts["t"][:12], run.t[jumps]).all()
    assert (run["y"] == run.q[:, 0]).all() and (run.velocity["y"] == run.v_right[:, 0]).all()
    assert (run["y'"] == run.velocity["y"]).all() and (run.velocity_left["y"] == run.v_left[:, 0]).all()
