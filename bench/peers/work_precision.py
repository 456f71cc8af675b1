#!/usr/bin/env python3
"""Error against time: Saltus, scipy and Siconos on two problems with known answers.

The problems are those of bench/src/bin/work_precision.rs. `oscillator`:
x'' + 0.1 x' + x = cos(t + phi), x <= 1, e = 0.8, on its periodic orbit for 20.5
periods, 20 impacts; the answer is in closed form. `pounding`: the shipped model,
two buildings, 23 impacts in 20 s; the answer was computed with 40 digits. The error
is the largest of the final positions and velocities.

saltus ...      The rows of work_precision.rs: its event-driven engine (knob: the
                tolerance) and its time-stepping schemes (knob: the step).
scipy           solve_ivp with DOP853, a terminal event on the gap, the impact law, and
                again from there; rtol = atol is the knob. solve_ivp looks for a change
                of sign over each of its steps, so long steps at a loose tolerance can
                jump over a short contact; the column "impacts" and the error show it.
siconos         TimeStepping with Moreau-Jean, theta = 1/2; the knob is the step.
siconos-events  EventDriven with LsodarOSI; the tolerance is the knob.

Siconos gets the forces from a plugin in C, compiled here with cc: a Python callback
instead made siconos-events three to six times slower.

What is timed: one run from the start to the final state, recording nothing that the
front end does not record by itself, with what the run needs to be set up (for Siconos
that is the model, for Saltus it is not: the model is read once before). Each is repeated
for 0.2 s, and at least once; the mean of that, and the least of it over the passes.
scipy's solver is Python, as is the right-hand side here: the ratio to it is that of two
ways to work, not of two integrators. Use an idle machine.

How to run it, from the repository root (the script starts the Saltus part itself, as
cargo run --release -p saltus-bench --bin work_precision -- --json):

    apt-get install python3-siconos python3-scipy     # Debian 12: 4.4.0 and 1.10.1
    /usr/bin/python3 bench/peers/work_precision.py [--passes 3] [--svg plot.svg]

Use the distribution's own python3. A pass takes about a minute, a good part of it in
Siconos' smallest steps. Exit status: 0, or 1 if one of the programs is missing or fails.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import siconos.kernel as sk
    import siconos.numerics as sn
    from scipy.integrate import solve_ivp
except ImportError as err:
    sys.exit(f"work_precision.py: an import failed ({err}): install python3-siconos and "
             "python3-scipy and run this with the distribution's own python3")

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONG_ENOUGH = 0.2
TOLERANCES = [10.0**-k for k in range(3, 13)]
FIRST, SCIPY, STEPPING, EVENTS = "saltus event-driven", "scipy", "siconos", "siconos-events"

# Siconos takes a force from a shared library: f(t) for each case, named as the case.
PLUGIN = """
#include <math.h>
void oscillator(double t, unsigned n, double *f, unsigned m, double *z) {
    f[0] = cos(t + %r);
}
void pounding(double t, unsigned n, double *f, unsigned m, double *z) {
    double a = exp(-0.2*t) * (3*sin(2*M_PI*t) + 2*sin(3.4*M_PI*t) + 1.5*sin(5.2*M_PI*t));
    f[0] = -1.0 * a;
    f[1] = -2.0 * a;
}
"""


class Case:
    """M q'' + C q' + K q = force(t), gap = offset + normal . q >= 0."""

    def __init__(self, name, mass, damping, stiffness, normal, offset, e, q, v, end, steps, answer):
        self.name, self.e, self.end, self.steps, self.answer = name, e, end, steps, answer
        self.mass, self.damping, self.stiffness = mass, damping, stiffness
        self.normal, self.offset, self.q, self.v = normal, offset, q, v


class Oscillator(Case):
    # The periodic orbit: speed and phase of its impact.
    SPEED, PHASE, DAMPING, E = 1.695732937594882, 0.075952164938312386, 0.1, 0.8

    def __init__(self):
        tau, v = 2 * math.pi, -self.E * self.SPEED
        super().__init__("oscillator", [1.0], [self.DAMPING], [1.0], [-1.0], 1.0, self.E, [1.0], [v],
                         20.5 * tau, [tau / n for n in (200, 2000, 20000, 200000)],
                         self.half_period_later(v))

    def half_period_later(self, v):
        # At resonance: x = sin(t + phi) / (2z) + exp(-zt) (c cos wt + s sin wt).
        z, t = self.DAMPING / 2, math.pi
        w = math.sqrt(1 - z * z)
        c = 1 - math.sin(self.PHASE) / (2 * z)
        s = (v - math.cos(self.PHASE) / (2 * z) + z * c) / w
        decay, sin, cos = math.exp(-z * t), math.sin(w * t), math.cos(w * t)
        return [math.sin(t + self.PHASE) / (2 * z) + decay * (c * cos + s * sin),
                math.cos(t + self.PHASE) / (2 * z) + decay * ((s * w - z * c) * cos - (c * w + z * s) * sin)]

    # Plain floats are faster than numpy's scalars, hence tolist.
    def rhs(self, t, y):
        x, v = y.tolist()
        return v, math.cos(t + self.PHASE) - self.DAMPING * v - x

    def gap(self, t, y):
        return 1.0 - y[0]

    def hit(self, y):
        return [1.0, -self.E * y[1]]


class Pounding(Case):
    M, W, Z, GAP, E = (1.0, 2.0), (2 * math.pi, 4 * math.pi), 0.05, 0.02, 0.65

    def __init__(self):
        (m1, m2), (w1, w2) = self.M, self.W
        self.c1, self.c2, self.k1, self.k2 = 2 * self.Z * w1, 2 * self.Z * w2, w1 * w1, w2 * w2
        super().__init__("pounding", [m1, m2], [m1 * self.c1, m2 * self.c2], [m1 * self.k1, m2 * self.k2],
                         [-1.0, 1.0], self.GAP, self.E, [0.0, 0.0], [0.0, 0.0], 20.0,
                         [1e-2, 1e-3, 1e-4, 1e-5],
                         [0.01416348920318, 0.000990289996714119, -0.0399666217044313, -0.0105240084364386])

    def rhs(self, t, y):
        x1, x2, v1, v2 = y.tolist()
        a = math.exp(-0.2 * t) * (3 * math.sin(2 * math.pi * t) + 2 * math.sin(3.4 * math.pi * t)
                                  + 1.5 * math.sin(5.2 * math.pi * t))
        return v1, v2, -self.k1 * x1 - self.c1 * v1 - a, -self.k2 * x2 - self.c2 * v2 - a

    def gap(self, t, y):
        return self.GAP + y[1] - y[0]

    def hit(self, y):
        x1, x2, v1, v2 = y
        impulse = (1 + self.E) * (v1 - v2) / (1 / self.M[0] + 1 / self.M[1])
        return [x1, x2, v1 - impulse / self.M[0], v2 + impulse / self.M[1]]


def with_scipy(case, tolerance):
    """Final state, and the number of impacts."""
    def gap(t, y):
        return case.gap(t, y)
    gap.terminal, gap.direction = True, -1
    t, y, impacts = 0.0, case.q + case.v, 0
    while True:
        flight = solve_ivp(case.rhs, (t, case.end), y, method="DOP853", rtol=tolerance, atol=tolerance,
                           events=gap)
        if flight.status < 0:
            sys.exit(f"work_precision.py: scipy: {case.name}: {flight.message}")
        t, y = flight.t[-1], flight.y[:, -1]
        if flight.status == 0:
            return y, impacts
        y, impacts = case.hit(y), impacts + 1


def siconos_system(case, end):
    """The system, and it with its contact as a model."""
    ds = sk.LagrangianLinearTIDS(np.array(case.q), np.array(case.v), np.diag(case.mass),
                                 np.diag(case.stiffness), np.diag(case.damping))
    ds.setComputeFExtFunction(case.plugin, case.name)
    contact = sk.Interaction(sk.NewtonImpactNSL(case.e),
                             sk.LagrangianLinearTIR(np.array([case.normal]), np.array([case.offset])))
    model = sk.NonSmoothDynamicalSystem(0.0, end)
    model.insertDynamicalSystem(ds)
    model.link(contact, ds)
    return ds, model


def with_siconos(case, step):
    # An end one step late: rounding must not take the last step away.
    ds, model = siconos_system(case, case.end + step)
    sim = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, step), sk.MoreauJeanOSI(0.5),
                          sk.LCP(sn.SICONOS_LCP_LEMKE))
    sim.setNewtonOptions(sk.SICONOS_TS_LINEAR)  # linear: one pass, no residuals
    for _ in range(round(case.end / step)):
        sim.computeOneStep()
        sim.nextStep()
    if abs(sim.startingTime() - case.end) > 1e-9 * case.end:
        sys.exit(f"work_precision.py: siconos: {case.name} ended at {sim.startingTime()}")
    return np.concatenate((ds.q(), ds.velocity())), None


def with_siconos_events(case, tolerance):
    # One output, at the end. The model must last longer, or that event is not there.
    ds, model = siconos_system(case, 2 * case.end)
    sim = sk.EventDriven(model, sk.TimeDiscretisation(0.0, case.end))
    osi = sk.LsodarOSI()
    sim.insertIntegrator(osi)
    sim.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_IMPACT)
    sim.insertNonSmoothProblem(sk.LCP(), sk.SICONOS_OSNSP_ED_SMOOTH_ACC)
    sim.initialize()
    osi.setTol(1, tolerance, tolerance)
    osi.setMaxNstep(100000)  # in one call; the default of 500 ends the run at tight tolerances
    sim.setToleranceED(1e-10)  # at its default of 2e-12 rounding can end a run
    impacts, v = 0, ds.velocity()
    while sim.startingTime() < case.end:
        sim.advanceToEvent()
        before = float(v[0])
        sim.processEvents()
        impacts += before != v[0]
    return np.concatenate((ds.q(), v)), impacts


def measure(case, method, solve, knob):
    count, start = 0, time.perf_counter()
    while not count or time.perf_counter() - start < LONG_ENOUGH:
        state, impacts = solve(case, knob)
        count += 1
    seconds = (time.perf_counter() - start) / count
    return {"problem": case.name, "method": method, "knob": knob, "impacts": impacts,
            "error": float(abs(state - case.answer).max()), "seconds": seconds}


def saltus():
    command = "cargo run --release --quiet -p saltus-bench --bin work_precision -- --json".split()
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    except OSError as err:
        sys.exit(f"work_precision.py: cannot run cargo ({err.strerror})")
    if done.returncode:
        sys.exit(f"work_precision.py: Saltus' part failed ({done.returncode}): {done.stderr.strip()}")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [{**row, "method": f"saltus {row['method']}", "impacts": None} for row in rows]


def compile_plugin(folder):
    source, library = pathlib.Path(folder) / "forces.c", pathlib.Path(folder) / "forces.so"
    source.write_text(PLUGIN % Oscillator.PHASE)
    try:
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    except (OSError, subprocess.CalledProcessError) as err:
        sys.exit(f"work_precision.py: cannot compile the forces with cc: {err}")
    return str(library)


def one_pass(plugin):
    rows = saltus()
    for case in Oscillator(), Pounding():
        case.plugin = plugin
        for method, solve, knobs in ((SCIPY, with_scipy, TOLERANCES), (EVENTS, with_siconos_events, TOLERANCES),
                                     (STEPPING, with_siconos, case.steps)):
            rows += [measure(case, method, solve, knob) for knob in knobs]
    return rows


def least_time(points, level):
    """The least time to this error; between two points it is interpolated in the logarithms."""
    times = [p["seconds"] for p in points if p["error"] <= level]
    for a, b in zip(points, points[1:]):
        if a["error"] > level > b["error"]:
            part = math.log(a["error"] / level) / math.log(a["error"] / b["error"])
            times.append(a["seconds"]**(1 - part) * b["seconds"]**part)
    return min(times, default=None)


def report(problem, lines):
    print(f"\n{problem}\n{'method':24}{'tol or step':>12}{'error':>10}{'seconds':>10}{'impacts':>9}")
    for method, points in lines.items():
        for p in points:
            print(f"{method:24}{p['knob']:12.1e}{p['error']:10.1e}{p['seconds']:10.2e}"
                  f"{'-' if p['impacts'] is None else p['impacts']:>9}")
    print(f"\n{problem}: the least time to an error, as a multiple of that of {FIRST}")
    print(f"{'error':>8}{'saltus, s':>12}", *(f"{name:>16}" for name in (SCIPY, STEPPING, EVENTS)))
    for level in (1e-3, 1e-4, 1e-5, 1e-6, 1e-8):
        ours = least_time(lines[FIRST], level)
        times = [least_time(lines[name], level) for name in (SCIPY, STEPPING, EVENTS)]
        print(f"{level:8.0e}{ours:12.2e}", *(f"{'not reached' if t is None else format(t / ours, '.0f'):>16}"
                                             for t in times))


# Colours that remain apart for the colour-blind; Saltus' own lines whole, its peers' dashed.
LOOKS = {FIRST: ("#000000", ""), "saltus paoli-schatzman": ("#0072b2", ""), "saltus mabrouk": ("#56b4e9", ""),
         "saltus moreau-midpoint": ("#009e73", ""), "saltus moreau-jean": ("#8a8a00", ""),
         SCIPY: ("#d55e00", "7 3"), STEPPING: ("#cc79a7", "7 3"), EVENTS: ("#e69f00", "7 3")}


def svg(problems):
    """Both problems side by side; the same axes, so that they can be compared."""
    points = [p for lines in problems.values() for points in lines.values() for p in points]

    def decades(key):
        logs = [math.log10(p[key]) for p in points]
        return math.floor(min(logs)), math.ceil(max(logs))
    (x0, x1), (y0, y1) = decades("seconds"), decades("error")
    width, height, top = 400, 400, 40
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="960" height="560" viewBox="0 0 960 560" '
           'font-family="sans-serif" font-size="12">', '<rect width="960" height="560" fill="#fff"/>']

    def text(x, y, words, more=""):
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" {more}>{words}</text>')

    def power(k, x, y, anchor):
        text(x, y, f'10<tspan dy="-5" font-size="9">{k}</tspan>', f'text-anchor="{anchor}"')
    for left, (problem, lines) in zip((70, 530), problems.items()):
        def place(p):
            return (left + width * (math.log10(p["seconds"]) - x0) / (x1 - x0),
                    top + height * (y1 - math.log10(p["error"])) / (y1 - y0))
        for k in range(x0, x1 + 1):
            x = left + width * (k - x0) / (x1 - x0)
            out.append(f'<path d="M{x:.1f} {top}V{top + height}" stroke="#ddd"/>')
            power(k, x, top + height + 18, "middle")
        for k in range(y0, y1 + 1):
            y = top + height * (y1 - k) / (y1 - y0)
            out.append(f'<path d="M{left} {y:.1f}H{left + width}" stroke="#ddd"/>')
            if (k - y1) % 2 == 0:
                power(k, left - 6, y + 4, "end")
        out.append(f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#666"/>')
        text(left + width / 2, top - 14, problem, 'text-anchor="middle" font-size="15"')
        text(left + width / 2, top + height + 38, "seconds a run", 'text-anchor="middle"')
        text(0, 0, "error of the final state",
             f'text-anchor="middle" transform="translate({left - 42} {top + height / 2}) rotate(-90)"')
        for method, points in lines.items():
            colour, dash = LOOKS.get(method, ("#777", "2 2"))
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in map(place, points))
            out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2" '
                       f'stroke-dasharray="{dash or "none"}"/>')
            out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in map(place, points)]
    for i, method in enumerate(lines):
        x, y, (colour, dash) = 70 + 225 * (i % 4), 508 + 24 * (i // 4), LOOKS.get(method, ("#777", "2 2"))
        out.append(f'<path d="M{x} {y}h34" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash or "none"}"/>'
                   f'<circle cx="{x + 17}" cy="{y}" r="3" fill="{colour}"/>')
        text(x + 42, y + 4, method)
    return "\n".join(out + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", type=int, default=3, help="passes over all; the least time counts (3)")
    parser.add_argument("--svg", type=pathlib.Path, help="draw error against time into this file")
    args = parser.parse_args()
    if args.passes < 1:
        parser.error("need at least one pass")
    sn.numerics_set_verbose(0)

    with tempfile.TemporaryDirectory() as folder:
        plugin = compile_plugin(folder)
        passes = [one_pass(plugin) for _ in range(args.passes)]
    problems = {}
    for same in zip(*passes):
        # An error of 0 has no logarithm.
        point = {**same[0], "seconds": min(p["seconds"] for p in same), "error": max(same[0]["error"], 1e-17)}
        problems.setdefault(point["problem"], {}).setdefault(point["method"], []).append(point)
    print(f"error against time, least of {args.passes} passes")
    for problem, lines in problems.items():
        for points in lines.values():
            points.sort(key=lambda p: -p["knob"])
        problems[problem] = lines = dict(sorted(lines.items()))
        report(problem, lines)
    if args.svg:
        args.svg.write_text(svg(problems))


if __name__ == "__main__":
    main()
