#!/usr/bin/env python3
"""Time a bouncing ball in Siconos and in Saltus, side by side.

The problem: mass 1, g = 9.81, dropped at rest from 1 m onto a floor at 0 with
restitution 0.8. By 3 s it has bounced six times and is still in flight; the
bounces pile up at about 4.06 s, after which it rests.

The schemes differ. Siconos runs Moreau-Jean (theta = 0.5; the impact law acts
on the velocity, through an LCP solved by Lemke). Saltus runs Paoli-Schatzman
(the impact law acts on positions). Both are first order across impacts, so
the final positions agree with the exact one to O(step), not to the last digit.

What is timed: the stepping loop alone, t, q and v recorded at each step, model
building left out; the median over the repeats, and the best. The Siconos loop
is the usual one of its Python front end; the row "unrecorded" is the same loop
without the recording, which shows most of what Python adds. Each Saltus repeat
is a fresh process, cold at first: --step 1e-5 gives a loop long enough for that
to fade. Use an idle machine. With --end past 4.06 s the ball rests, and the
number of impacts means nothing any more (it counts chatter at rest).

How to run it, from the repository root:

    cargo build --release
    apt-get install python3-siconos     # Debian 12: Siconos 4.4.0
    python3 bench/peers/ball.py [--step 1e-3] [--end 3] [--repeats 9] [--json]

Use the distribution's own python3: one from a virtual environment or a version
manager does not see that package. Exit status: 0, or 1 if either is missing.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys
import time

MASS, G, DROP, E = 1.0, 9.81, 1.0, 0.8
ROOT = pathlib.Path(__file__).resolve().parents[2]


def exact(end):
    """Position and number of impacts at time `end`, in closed form."""
    t, v, count = -math.sqrt(2 * DROP / G), math.sqrt(2 * DROP * G), 0
    while end >= t + 2 * v / G:  # t: start of the present flight; v: its first speed
        if v < 1e-9:  # past the accumulation point: at rest
            return 0.0, None
        t, v, count = t + 2 * v / G, E * v, count + 1
    return v * (end - t) - G * (end - t) ** 2 / 2, count


def timing(seconds):
    """Median and best of the repeats' seconds a step, in ns."""
    return {"ns_per_step": 1e9 * statistics.median(seconds), "ns_best": 1e9 * min(seconds)}


def siconos_once(np, sk, sn, step, end, record):
    """One simulation: seconds in the loop, steps made, rows of (t, q, v)."""
    ball = sk.LagrangianLinearTIDS(np.array([DROP]), np.array([0.0]), np.array([[MASS]]))
    ball.setFExtPtr(np.array([-MASS * G]))
    contact = sk.Interaction(sk.NewtonImpactNSL(E), sk.LagrangianLinearTIR(np.array([[1.0]])))
    model = sk.NonSmoothDynamicalSystem(0.0, end)
    model.insertDynamicalSystem(ball)
    model.link(contact, ball)
    sim = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, step),
                          sk.MoreauJeanOSI(0.5), sk.LCP(sn.SICONOS_LCP_LEMKE))
    sim.setNewtonOptions(sk.SICONOS_TS_LINEAR)  # linear: one pass, no residuals
    rows = np.zeros((math.ceil(end / step) + 2, 3))
    q, v, k = ball.q(), ball.velocity(), 0
    rows[0] = 0.0, q[0], v[0]
    start = time.perf_counter()
    if record:
        while sim.hasNextEvent():
            sim.computeOneStep()
            k += 1
            rows[k, 0] = sim.nextTime()
            rows[k, 1] = q[0]
            rows[k, 2] = v[0]
            sim.nextStep()
    else:
        while sim.hasNextEvent():
            sim.computeOneStep()
            k += 1
            sim.nextStep()
    return time.perf_counter() - start, k, rows[:k + 1]


def siconos(step, end, repeats):
    """The ball in Siconos: figures with recording, and without."""
    try:
        import numpy as np
        import siconos.kernel as sk
        import siconos.numerics as sn
    except ImportError as err:
        sys.exit(f"ball.py: Siconos cannot be imported ({err}): install python3-siconos "
                 "and run this with the distribution's own python3")
    sn.numerics_set_verbose(0)
    pairs = [[siconos_once(np, sk, sn, step, end, record) for record in (True, False)]
             for _ in range(repeats)]
    _, steps, rows = pairs[-1][0]
    v = rows[:, 2]  # in free flight v only falls, so each rise through 0 is an impact
    same = {"scheme": "Moreau-Jean", "steps": steps}
    recorded, bare = ([run[0] / run[1] for run in runs] for runs in zip(*pairs))
    return ({**same, **timing(recorded), "final_q": float(rows[-1, 1]),
             "impacts": int(((v[:-1] < 0) & (v[1:] > 0)).sum())}, {**same, **timing(bare)})


def saltus(binary, step, end, repeats):
    """The same ball in Saltus; raises RuntimeError with a plain reason."""
    command = [str(binary), "run", "ball-gravity", "--step", repr(step), "--end", repr(end),
               "--set", f"e={E}", "--json"]
    times = []
    for _ in range(repeats):
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as err:
            raise RuntimeError(f"cannot run saltus at {binary} ({err.strerror}): build it "
                               "with cargo build --release, or name it with --saltus")
        if done.returncode:
            raise RuntimeError(f"saltus failed ({done.returncode}): {done.stderr.strip()}")
        try:
            out = json.loads(done.stdout)
            times.append(out["wall_s"] / out["steps"])
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as err:
            raise RuntimeError(f"saltus' JSON has no usable steps and wall_s: {err!r}")
    return {"scheme": "Paoli-Schatzman", "steps": out["steps"], **timing(times),
            "final_q": out["final"]["q"][0], "impacts": out["impacts"]["count"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=float, default=1e-3, help="time step, s (1e-3)")
    parser.add_argument("--end", type=float, default=3.0, help="end time, s (3)")
    parser.add_argument("--repeats", type=int, default=9, help="runs of each (9)")
    parser.add_argument("--saltus", type=pathlib.Path, default=ROOT / "target/release/saltus",
                        help="the saltus binary (target/release/saltus in the repository)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if not (0 < args.step <= args.end < math.inf and args.repeats > 0):
        parser.error("need 0 < step <= end and at least one repeat")

    q, impacts = exact(args.end)
    recorded, bare = siconos(args.step, args.end, args.repeats)
    result = {"step": args.step, "end": args.end, "repeats": args.repeats, "siconos": recorded,
              "unrecorded": bare, "saltus": None, "exact": {"final_q": q, "impacts": impacts},
              "ratio": None, "ratio_unrecorded": None}
    missing = None
    try:
        result["saltus"] = ours = saltus(args.saltus, args.step, args.end, args.repeats)
        result["ratio"] = recorded["ns_per_step"] / ours["ns_per_step"]
        result["ratio_unrecorded"] = bare["ns_per_step"] / ours["ns_per_step"]
    except RuntimeError as err:
        missing = err
    if args.json:
        print(json.dumps(result, indent=2))
    else:
        columns = (("scheme", 16, ""), ("steps", 8, "d"), ("ns_per_step", 12, ".1f"),
                   ("ns_best", 9, ".1f"), ("final_q", 10, ".6f"), ("impacts", 8, "d"))
        print(f"bouncing ball: step {args.step:g} s, end {args.end:g} s, {args.repeats} repeats")
        print(f"{'':11}", *(f"{name:>{width}}" for name, width, _ in columns))
        for name in ("siconos", "unrecorded", "saltus", "exact"):
            cells = ((result[name] or {}).get(column) for column, _, _ in columns)
            print(f"{name:11}", *(f"{'-' if x is None else format(x, form):>{width}}"
                                  for x, (_, width, form) in zip(cells, columns)))
        if result["ratio"]:
            print(f"siconos / saltus, ns per step: {result['ratio']:.1f} "
                  f"({result['ratio_unrecorded']:.1f} with Siconos unrecorded)")
    if missing:
        sys.exit(f"ball.py: {missing}")


if __name__ == "__main__":
    main()
