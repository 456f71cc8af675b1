#!/usr/bin/env python3
"""Compare Saltus' Moreau-Jean scheme with Siconos', step by step, and time both.

Both run theta = 1/2. Siconos 4.4 makes a constraint active in the step from t_i
if y_i + gamma h y'_i <= 0 (y the gap, y' its speed; no condition on the sign of
y'), with gamma = 1/2 unless one is set. For a gap linear in q that is Saltus'
rule f(q_i + gamma h v_i) <= 0 with --activation 0.5, which is used here.

ball       Mass 1, g = 9.81, from 1 m, e = 0.8. The schemes are the same, so the
           difference is rounding.
pendulum   the shipped model double-pendulum, e = 0.5 and e = 1: M depends on q.
           Siconos takes M at the end of the step (at its Newton iterate, M(q_i+1)
           in the end), Saltus at the predicted point q_i + gamma h v_i. In flight
           they differ by O(h^2) a step, O(h) in all: the "slope" below, flight
           difference at h over that at h/2, is near 2. Impacts then fall into
           other steps, and later motion differs by more: the rows "own M" only
           inform. In the rows "same M" Siconos is given M at the predicted point
           before each step; then all else (Newton's method with contact, forces,
           impact law) is the same, and the difference is that of the Newton
           tolerances.
pounding   the shipped model of that name, linear, with a given ground motion. Siconos gets
           the mean of the forces at both ends of the step (theta = 1/2), computed
           beforehand for all steps, outside of what is timed.

Columns: the largest difference in q and in v over all nodes. "hits" counts
Siconos' steps with an impulse, "flight" is the largest difference before the first
of them. "parts at" is the first node where q or v differ by more than the
tolerance, "active" the first from which a step begins with the constraint active
in one run only; "-" if none.

Times: Siconos' stepping loop over pounding once, recording (t, q, v) in each
step; Saltus' own loop of the same run; and `saltus compare pounding`, all schemes
that accept the model at its step and at half of it, as a whole process. Medians
of the repeats. Use an idle machine.

How to run it, from the repository root:

    cargo build --release
    apt-get install python3-siconos     # Debian 12: Siconos 4.4.0
    /usr/bin/python3 bench/peers/moreau_jean.py [--step 1e-3] [--end 3] [--repeats 3]

Use the distribution's own python3. Exit status: 0 if ball, pendulum (same M) and
pounding agree to the tolerance, else 1; also 1 if either program is missing.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import siconos.kernel as sk
    import siconos.numerics as sn
except ImportError as err:
    sys.exit(f"moreau_jean.py: Siconos cannot be imported ({err}): install python3-siconos "
             "and run this with the distribution's own python3")

G, TOLERANCE = 9.81, 1e-10
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Pendulum(sk.LagrangianDS):
    """M(q) v' + FInt(q, v) = p: unit masses and lengths, absolute angles."""

    def __init__(self, own_mass):
        super().__init__(np.array([1.0, 0.5]), np.zeros(2), np.eye(2))
        self.own_mass = own_mass
        self.setFIntPtr(np.zeros(2))
        self.setJacobianFIntqPtr(np.zeros((2, 2)))
        self.setJacobianFIntqDotPtr(np.zeros((2, 2)))
        self.put_mass(self.q())

    def put_mass(self, q):
        c = np.cos(q[0] - q[1])
        self.mass()[:] = [[2.0, c], [c, 1.0]]

    def computeMass(self, q=None):
        if self.own_mass:
            self.put_mass(self.q() if q is None else q)

    def computeFInt(self, t, q=None, v=None):
        q, v = self.q() if q is None else q, self.velocity() if v is None else v
        s = np.sin(q[0] - q[1])
        self.fInt()[:] = s * v[1]**2 + 2 * G * np.sin(q[0]), -s * v[0]**2 + G * np.sin(q[1])

    def computeJacobianFIntq(self, t, *_):
        (a, b), (u, w), k = self.q(), self.velocity(), np.cos(self.q()[0] - self.q()[1])
        self.jacobianFIntq()[:] = [[k * w * w + 2 * G * np.cos(a), -k * w * w],
                                   [-k * u * u, k * u * u + G * np.cos(b)]]

    def computeJacobianFIntqDot(self, t, *_):
        (u, w), s = self.velocity(), np.sin(self.q()[0] - self.q()[1])
        self.jacobianFIntqDot()[:] = [[0.0, 2 * s * w], [-2 * s * u, 0.0]]


def siconos(ds, normal, offset, e, step, end, before=None, linear=True):
    """Steps `ds` to `end`: t, q, v, the jump M^-1 n p of each step; seconds in the loop."""
    contact = sk.Interaction(sk.NewtonImpactNSL(e),
                             sk.LagrangianLinearTIR(np.array([normal]), np.array([offset])))
    model = sk.NonSmoothDynamicalSystem(0.0, end)
    model.insertDynamicalSystem(ds)
    model.link(contact, ds)
    sim = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, step),
                          sk.MoreauJeanOSI(0.5), sk.LCP(sn.SICONOS_LCP_LEMKE))
    sim.setNewtonOptions(sk.SICONOS_TS_LINEAR if linear else sk.SICONOS_TS_NONLINEAR)
    sim.setNewtonTolerance(1e-13)
    q, v, mass, d, k = ds.q(), ds.velocity(), ds.mass(), len(normal), 0
    rows = np.zeros((round(end / step) + 2, 1 + 2 * d))
    rows[0, 1:1 + d], rows[0, 1 + d:] = q, v
    jumps = np.zeros((len(rows), d))
    start = time.perf_counter()
    while sim.hasNextEvent():
        if before:
            before(k, q, v)
        sim.computeOneStep()
        k += 1
        rows[k, 0] = sim.nextTime()
        rows[k, 1:1 + d] = q
        rows[k, 1 + d:] = v
        impulse = contact.lambda_(1)[0]
        if impulse:
            jumps[k] = np.linalg.solve(mass, np.multiply(normal, impulse))
        sim.nextStep()
    seconds = time.perf_counter() - start
    rows = rows[:k + 1]
    return rows[:, 0], rows[:, 1:1 + d], rows[:, 1 + d:], jumps[:k + 1], seconds


def ball(step, end):
    ds = sk.LagrangianLinearTIDS(np.array([1.0]), np.array([0.0]), np.array([[1.0]]))
    ds.setFExtPtr(np.array([-G]))
    return siconos(ds, [1.0], 0.0, 0.8, step, end)


def pendulum(step, end, e, own_mass):
    ds = Pendulum(own_mass)
    before = None if own_mass else lambda k, q, v: ds.put_mass(q + 0.5 * step * v)
    return siconos(ds, [1.0, -1.0], 0.0, e, step, end, before, linear=False)


def pounding(step, end):
    m, w, z = np.array([1.0, 2.0]), 2 * np.pi / np.array([1.0, 0.5]), 0.05
    ds = sk.LagrangianLinearTIDS(np.zeros(2), np.zeros(2), np.diag(m), np.diag(m * w**2),
                                 np.diag(2 * z * w * m))
    ds.setFExtPtr(np.zeros(2))
    force, t = ds.fExt(), step * np.arange(round(end / step) + 3)
    ground = np.exp(-0.2 * t) * (3 * np.sin(2 * np.pi * t) + 2 * np.sin(3.4 * np.pi * t)
                                 + 1.5 * np.sin(5.2 * np.pi * t))
    mean = -np.outer(0.5 * (ground[:-1] + ground[1:]), m)

    def before(k, q, v):
        force[:] = mean[k]
    return siconos(ds, [-1.0, 1.0], 0.02, 0.65, step, end, before)


def call(binary, *words):
    try:
        done = subprocess.run([str(binary), *words], capture_output=True, text=True)
    except OSError as err:
        sys.exit(f"moreau_jean.py: cannot run saltus at {binary} ({err.strerror}): build it "
                 "with cargo build --release, or name it with --saltus")
    if done.returncode:
        sys.exit(f"moreau_jean.py: saltus failed ({done.returncode}): {done.stderr.strip()}")
    return done.stdout


def saltus(binary, model, step, end, *more):
    """The same in Saltus: t, q, v_left, v_right; seconds in its loop."""
    with tempfile.TemporaryDirectory() as out:
        text = call(binary, "run", model, "--scheme", "moreau-jean", "--theta", "0.5", "--activation",
                    "0.5", "--step", repr(step), "--end", repr(end), *more, "--out", out, "--json")
        with np.load(pathlib.Path(out) / "trajectory.npz") as data:
            arrays = [data[name] for name in ("t", "q", "v_right")]
    return (*arrays, json.loads(text)["wall_s"])


def compare(name, theirs, ours, normal, offset, step):
    """One row: how far the two runs are from each other, and where they part."""
    t, q, v, jump, _ = theirs
    t2, q2, right, _ = ours
    if len(t) != len(t2) or abs(t - t2).max() > 1e-9:
        sys.exit(f"moreau_jean.py: {name}: the runs have other nodes ({len(t)} and {len(t2)})")
    hits = np.flatnonzero(jump.any(axis=1))
    dq, dv = abs(q - q2).max(axis=1), abs(v - right).max(axis=1)
    worst = np.maximum(dq, dv)
    closed, closed2 = (offset + (x + 0.5 * step * u) @ normal <= 0 for x, u in ((q, v), (q2, right)))

    def largest(x):
        return float(x.max(initial=0.0))

    def first(mask):
        return int(mask.argmax()) if mask.any() else None
    row = {"case": name, "steps": len(t) - 1, "hits": len(hits), "dq": largest(dq),
           "dv": largest(dv), "flight": largest(worst[:hits[0] if len(hits) else None]),
           "slope": None, "parts at": first(worst > TOLERANCE), "active": first(closed != closed2)}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=float, default=1e-3, help="step of ball and pendulum (1e-3)")
    parser.add_argument("--end", type=float, default=3.0, help="end of ball and pendulum, s (3)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each timing (3)")
    parser.add_argument("--saltus", type=pathlib.Path, default=ROOT / "target/release/saltus",
                        help="the saltus binary (target/release/saltus in the repository)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if not (0 < args.step <= args.end < float("inf") and args.repeats > 0):
        parser.error("need 0 < step <= end and at least one repeat")
    sn.numerics_set_verbose(0)
    binary, step, end = args.saltus, args.step, args.end

    rows = [compare("ball", ball(step, end), saltus(binary, "ball-gravity", step, end, "--set", "e=0.8"),
                    [1.0], 0.0, step)]
    for e in (0.5, 1.0):
        for own in (False, True):
            pair = [compare(f"pendulum e={e:g} {'own' if own else 'same'} M", pendulum(h, end, e, own),
                            saltus(binary, "double-pendulum", h, end, "--set", f"e={e}"),
                            [1.0, -1.0], 0.0, h) for h in (step, step / 2)]
            if own:
                pair[0]["slope"] = pair[0]["flight"] / pair[1]["flight"]
            rows.append(pair[0])
    theirs, ours, whole = [], [], []
    for _ in range(args.repeats):
        there, here = pounding(1e-4, 20.0), saltus(binary, "pounding", 1e-4, 20.0)
        theirs.append(there[-1])
        ours.append(here[-1])
        start = time.perf_counter()
        call(binary, "compare", "pounding")
        whole.append(time.perf_counter() - start)
    rows.append(compare("pounding", there, here, [-1.0, 1.0], 0.02, 1e-4))
    siconos_s, run_s, compare_s = map(statistics.median, (theirs, ours, whole))
    times = {"siconos_run_s": siconos_s, "saltus_run_s": run_s, "saltus_compare_s": compare_s,
             "siconos_run/saltus_run": siconos_s / run_s,
             "siconos_run/saltus_compare": siconos_s / compare_s}
    bad = [row["case"] for row in rows if row["parts at"] is not None and "own M" not in row["case"]]

    if args.json:
        print(json.dumps({"step": step, "end": end, "tolerance": TOLERANCE, "rows": rows,
                          "times": times, "agree": not bad}, indent=2))
    else:
        print(f"Moreau-Jean, Siconos and Saltus: step {step:g}, end {end:g} s (pounding: 1e-4, 20 s); "
              f"tolerance {TOLERANCE:g}")
        columns = (("steps", 7, "d"), ("hits", 5, "d"), ("dq", 8, ".1e"), ("dv", 8, ".1e"),
                   ("flight", 8, ".1e"),
                   ("slope", 6, ".2f"), ("parts at", 9, "d"), ("active", 7, "d"))
        print(f"{'':21}", *(f"{name:>{width}}" for name, width, _ in columns))
        for row in rows:
            print(f"{row['case']:21}", *(f"{'-' if row[name] is None else format(row[name], form):>{width}}"
                                         for name, width, form in columns))
        print(f"pounding, s: one Siconos run {siconos_s:.3f}, the same run of Saltus {run_s:.3f} (ratio "
              f"{siconos_s / run_s:.1f}), saltus compare, all schemes at two steps, {compare_s:.3f} (ratio "
              f"{siconos_s / compare_s:.2f})")
    if bad:
        sys.exit(f"moreau_jean.py: no agreement to {TOLERANCE:g} in: {', '.join(bad)}")


if __name__ == "__main__":
    main()
