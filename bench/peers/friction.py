#!/usr/bin/env python3
"""Compare Saltus' Moreau-Jean scheme with Siconos' where there is friction, step by step.

Both run theta = 1/2 with Newton's restitution and Coulomb's law on the velocity after
the step, in space with the round cone. Every case is a linear system, M v' + K q = f,
whose contacts have constant rows: one normal and one tangent in the plane, one normal
and two tangents in space. The matrices are written here once; the model file for Saltus
is generated from them. Then the schemes are the same, and what is left is the tolerance
of Siconos' solver and rounding.

A contact is active in the step from t_i if y_i + gamma h y'_i <= 0 (y the gap, y' its
speed), in both programs, with gamma = 1/2: that is Siconos' default and Saltus'
--activation 0.5. Velocities are compared at the end of each step, Saltus' v_right.

block      plane: a block of 0.7 kg thrown onto a floor, e = 0.5, mu = 0.3; it bounces,
           slides and comes to rest.
spring     the same with a horizontal spring: the slip turns round, then it sticks.
incline    plane: a cross slide (another mass in each direction) on an incline, so that
           normal and tangential impulses are coupled.
feet       plane: a block with two feet and small rotations, two contacts at once.
sphere     space: a solid sphere with backspin and spin about the vertical, thrown onto
           a table, e = 0.5, mu = 0.2; it bounces, slides and rolls.
springs    space: a particle on a table with two springs, so that the slip turns.
tilted     space: another mass in each of three directions, on a plane tilted both ways.
tripod     space: a plate on three feet, small rotations, three contacts at once.
kane       plane: an offset mass (coupled) for which Newton's restitution with friction
           creates energy. Saltus reduces the restitution in such a step, Siconos does
           not: they must part at that step and at no other.
random N   with --random: full M, springs, one to three contacts, plane or space.

Columns: the largest difference in q and in v over all nodes; "active", steps that Siconos
makes with an impulse; "stick" and "slip", contacts in those steps that stick (slip below
1e-9) or slip; "parts at" the first node where q or v differ by more than the tolerance;
"gains at" the first node at which the impulses of Siconos' step have created energy,
"energy" the most that they create in a step, J; "residual" how far Siconos' impulses and
velocities are from the law of an active contact (kg m/s and m/s), "misses at" the first
node where that is more than ten times the tolerance of its solver: the solver then gave up,
with a warning. In the plane --plane chooses another of Siconos' solvers.

How to run it, from the repository root:

    cargo build --release
    apt-get install python3-siconos     # Debian 12: Siconos 4.4.0
    /usr/bin/python3 bench/peers/friction.py [--step 1e-3] [--end 3] [--random 0] [--plane nsgs|lemke|enum]

Use the distribution's own python3. Exit status: 0 if all cases agree to the tolerance up to
the first step in which Siconos' impulses create energy (random systems: or its solver misses
its tolerance), else 1; also 1 if either program is missing.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import siconos.kernel as sk
    import siconos.numerics as sn
except ImportError as err:
    sys.exit(f"friction.py: Siconos cannot be imported ({err}): install python3-siconos "
             "and run this with the distribution's own python3")

G, TOLERANCE, SOLVER = 9.81, 1e-10, 1e-12
PLANE = {"nsgs": sn.SICONOS_FRICTION_2D_NSGS, "lemke": sn.SICONOS_FRICTION_2D_LEMKE,
         "enum": sn.SICONOS_FRICTION_2D_ENUM}
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Case:
    """M v' + K q = f with contacts: rows (normal, tangents) and the constant of the gap."""

    def __init__(self, name, mass, force, q, v, contacts, e, mu, stiffness=None):
        self.name, self.e, self.mu = name, e, mu
        self.mass = np.array(mass, float) if np.ndim(mass) == 2 else np.diag(np.array(mass, float))
        d = len(self.mass)
        self.stiffness = np.diag(np.zeros(d) if stiffness is None else np.array(stiffness, float))
        self.force, self.q, self.v = (np.array(x, float) for x in (force, q, v))
        self.contacts = [(np.array(rows, float), float(offset)) for rows, offset in contacts]

    def toml(self):
        """The model file of the same system."""
        d = len(self.q)
        names = [f"x{i}" for i in range(d)]

        def linear(row, mark="", offset=0.0):
            terms = [f"({c!r})*{n}{mark}" for c, n in zip(map(float, row), names) if c]
            return " + ".join(terms + ([f"({offset!r})"] if offset else []))

        def quadratic(matrix, mark=""):
            return " + ".join(f"({float(matrix[i, j] / 2)!r})*{names[i]}{mark}*{names[j]}{mark}"
                              for i in range(d) for j in range(d) if matrix[i, j])
        lines = [f'title = "{self.name}"', "[coordinates]"]
        lines += [f"{n} = {{ position = {float(a)!r}, velocity = {float(b)!r} }}"
                  for n, a, b in zip(names, self.q, self.v)]
        potential = " + ".join(filter(None, (quadratic(self.stiffness), linear(-self.force))))
        lines += ["[dynamics]", f'kinetic = "{quadratic(self.mass, chr(39))}"', f'potential = "{potential}"']
        for k, (rows, offset) in enumerate(self.contacts):
            slips = ", ".join(f'"{linear(row, chr(39))}"' for row in rows[1:])
            lines += ["[[constraint]]", f'name = "contact {k}"', f'gap = "{linear(rows[0], "", offset)}"',
                      f"friction = {self.mu!r}", f"slip = [{slips}]"]
        return "\n".join([*lines, "[impact]", f"restitution = {self.e!r}", ""])


def cases():
    """The systems above."""
    plane = [([[0, 1], [1, 0]], 0.0)]
    yield Case("block", [0.7, 0.7], [0, -0.7 * G], [0, 0.1], [1.3, 0], plane, 0.5, 0.3)
    yield Case("spring", [0.7, 0.7], [0, -0.7 * G], [0, 0.1], [4.0, 0], plane, 0.5, 0.3, [60, 0])
    s, c = np.sin(0.3), np.cos(0.3)
    yield Case("incline", [0.7, 2.1], [0, -0.7 * G], [0, 0.2], [0.4, 0],
               [([[-s, c], [c, s]], 0.0)], 0.5, 0.35)
    feet = [([[0, 1, b], [1, 0, 0.15]], 0.0) for b in (-0.2, 0.2)]
    yield Case("feet", [1.5, 1.5, 0.05], [0, -1.5 * G, 0], [0, 0.1, 0.03], [1.5, 0, 0], feet, 0.5, 0.25)
    m, r = 1.3, 0.1
    inertia = 0.4 * m * r * r
    sphere = [([[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, -r, 0], [0, 1, 0, r, 0, 0]], -r)]
    yield Case("sphere", [m, m, m, inertia, inertia, inertia], [0, 0, -m * G, 0, 0, 0],
               [0, 0, 0.3, 0, 0, 0], [1.0, 0.3, 0, -4, -60, 5], sphere, 0.5, 0.2)
    space = [([[0, 0, 1], [1, 0, 0], [0, 1, 0]], 0.0)]
    yield Case("springs", [1.7] * 3, [0, 0, -1.7 * G], [0, 0, 0.1], [2, -1.5, 0], space, 0.5, 0.15, [60, 25, 0])
    n = np.array([-0.2, 0.15, 1.0])
    n /= np.linalg.norm(n)
    t = np.cross(n, [0, 1, 0])
    t /= np.linalg.norm(t)
    yield Case("tilted", [1.0, 1.6, 2.2], [0, 0, -1.0 * G], [0, 0, 0.15], [-0.8, 0.9, 0],
               [([n, t, np.cross(n, t)], 0.0)], 0.5, 0.3)
    # Height z, tilts a and b; the feet are 0.1 below the centre.
    legs = [(0.3, 0.0), (-0.15, 0.26), (-0.15, -0.26)]
    tripod = [([[0, 0, 1, y, -x, 0], [1, 0, 0, 0, -0.1, -y], [0, 1, 0, 0.1, 0, x]], 0.0) for x, y in legs]
    yield Case("tripod", [2, 2, 2, 0.05, 0.05, 0.09], [0, 0, -2 * G, 0, 0, 0], [0, 0, 0.1, 0.02, 0.03, 0],
               [1.2, -0.7, 0, 0, 0, 6], tripod, 0.5, 0.25)
    # A rod at an angle, linear about its first position: the gap is y - l cos(a) th, the slip x' + l sin(a) th'.
    a = 0.8
    yield Case("kane", [1, 1, 1 / 3], [0, -G, 0], [0, 0.01, 0], [1.0, -2.0, 0],
               [([[0, 1, -np.cos(a)], [1, 0, np.sin(a)]], 0.0)], 0.9, 0.6)


def random_case(seed):
    """A random system: full M, springs, one to three contacts, in the plane or in space."""
    rng = np.random.default_rng(seed)
    tangents, d = int(rng.integers(1, 3)), int(rng.integers(3, 7))
    count = int(rng.integers(1, 4)) if (tangents + 1) * 3 <= d + 3 else 1
    a = rng.normal(size=(d, d))
    mass = np.eye(d) + 0.3 * a @ a.T / d
    contacts = []
    for _ in range(count):
        rows = rng.normal(size=(tangents + 1, d))
        rows[0, 0] = abs(rows[0, 0]) + 0.5
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        contacts.append((rows, float(rng.uniform(0.02, 0.2))))
    down = -sum(rows[0] for rows, _ in contacts) / count
    force = 10 * down + rng.normal(size=d)
    return Case(f"random {seed}", mass, force, np.zeros(d), rng.normal(size=d), contacts,
                float(rng.choice([0.0, 0.3, 0.5, 0.8])), float(rng.uniform(0.05, 0.6)), rng.uniform(0, 30, size=d))


def residual(p, w, mu):
    """How far impulse and velocity are from the law of a contact: 0 <= w_N, p_N, and p_T the nearest in its disk."""
    aim = p[1:] - w[1:]
    size, limit = np.linalg.norm(aim), mu * max(p[0], 0.0)
    nearest = aim * (limit / size) if size > limit else aim
    return max(abs(min(p[0], w[0])), np.linalg.norm(p[1:] - nearest))


def siconos(case, step, end, plane="nsgs"):
    """Steps the case: t, q, v, and what its steps were like."""
    dim = len(case.contacts[0][0])
    ds = sk.LagrangianLinearTIDS(case.q.copy(), case.v.copy(), case.mass.copy(), case.stiffness.copy(),
                                 np.zeros_like(case.mass))
    ds.setFExtPtr(case.force.copy())
    model = sk.NonSmoothDynamicalSystem(0.0, end)
    model.insertDynamicalSystem(ds)
    contacts = []
    for rows, offset in case.contacts:
        relation = sk.LagrangianLinearTIR(rows, np.array([offset] + [0.0] * (dim - 1)))
        contacts.append(sk.Interaction(sk.NewtonImpactFrictionNSL(case.e, 0.0, case.mu, dim), relation))
        model.link(contacts[-1], ds)
    solver = sk.FrictionContact(dim, PLANE[plane] if dim == 2 else sn.SICONOS_FRICTION_3D_NSGS)
    options = solver.numericsSolverOptions()
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = 100000
    options.dparam[sn.SICONOS_DPARAM_TOL] = SOLVER
    sim = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, step), sk.MoreauJeanOSI(0.5), solver)
    sim.setNewtonOptions(sk.SICONOS_TS_LINEAR)
    q, v, rows = ds.q(), ds.velocity(), [(0.0, *case.q, *case.v)]
    active = stick = slip = 0
    worst, miss, energy, gain, metric = 0.0, None, 0.0, None, case.mass + 0.25 * step**2 * case.stiffness
    while sim.hasNextEvent():
        sim.computeOneStep()
        rows.append((sim.nextTime(), *q, *v))
        push, any_push, (start, before) = np.zeros(len(q)), False, np.split(np.array(rows[-2][1:]), 2)
        for (normals, offset), contact in zip(case.contacts, contacts):
            impulse = contact.lambda_(1)
            if normals[0] @ (start + 0.5 * step * before) + offset <= 0:
                bounce = np.zeros(dim)
                bounce[0] = case.e * (normals[0] @ before)
                off = residual(impulse, normals @ v + bounce, case.mu)
                worst = max(worst, off)
                if miss is None and off > 10 * SOLVER:
                    miss = len(rows) - 1
            if impulse[0] > 0:
                any_push = True
                push += normals.T @ impulse
                still = np.linalg.norm(normals[1:] @ v) < 1e-9
                stick, slip = stick + still, slip + (not still)
        if any_push:
            active += 1
            jump = np.linalg.solve(metric, push)
            created = float(push @ (v - 0.5 * jump))
            energy = max(energy, created)
            if gain is None and created > 1e-10 * (abs(push) @ (abs(v) + abs(jump))):
                gain = len(rows) - 1
        sim.nextStep()
    rows = np.array(rows)
    d = len(q)
    return rows[:, 0], rows[:, 1:1 + d], rows[:, 1 + d:], {"active": active, "stick": int(stick),
                                                          "slip": int(slip), "energy": energy,
                                                          "gains at": gain, "residual": float(worst), "misses at": miss}


def saltus(binary, case, step, end):
    """The same in Saltus: t, q, v after each step."""
    with tempfile.TemporaryDirectory() as folder:
        model, out = pathlib.Path(folder) / "model.toml", pathlib.Path(folder) / "out"
        model.write_text(case.toml())
        command = [str(binary), "run", str(model), "--scheme", "moreau-jean", "--theta", "0.5",
                   "--activation", "0.5", "--step", repr(step), "--end", repr(end), "--out", str(out), "--json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as err:
            sys.exit(f"friction.py: cannot run saltus at {binary} ({err.strerror}): build it "
                     "with cargo build --release, or name it with --saltus")
        if done.returncode:
            sys.exit(f"friction.py: {case.name}: saltus failed ({done.returncode}): {done.stderr.strip()}")
        with np.load(out / "trajectory.npz") as data:
            return [data[name] for name in ("t", "q", "v_right")]


def compare(case, step, end, plane, binary):
    """One row: how far the two runs are from each other, and where they part."""
    t, q, v, counts = siconos(case, step, end, plane)
    t2, q2, v2 = saltus(binary, case, step, end)
    # Rounding may cost Siconos the last step, or give it one more.
    n = min(len(t), len(t2))
    if abs(len(t) - len(t2)) > 1 or abs(t[:n] - t2[:n]).max() > 1e-9:
        sys.exit(f"friction.py: {case.name}: the runs have other nodes ({len(t)} and {len(t2)})")
    t, q, v, q2, v2 = t[:n], q[:n], v[:n], q2[:n], v2[:n]
    dq, dv = abs(q - q2).max(axis=1), abs(v - v2).max(axis=1)
    apart = np.maximum(dq, dv) > TOLERANCE
    return {"case": case.name, "steps": len(t) - 1, **counts, "dq": float(dq.max()), "dv": float(dv.max()),
            "parts at": int(apart.argmax()) if apart.any() else None}


def agree(row):
    """They part where Siconos' impulses create energy, and there only; random systems count until its solver misses."""
    parts, gains, last = (row[name] or math.inf for name in ("parts at", "gains at", "misses at"))
    if not row["case"].startswith("random"):
        last = math.inf
    return min(parts, last) == min(gains, last)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=float, default=1e-3, help="step, s (1e-3)")
    parser.add_argument("--end", type=float, default=3.0, help="end, s (3)")
    parser.add_argument("--saltus", type=pathlib.Path, default=ROOT / "target/release/saltus",
                        help="the saltus binary (target/release/saltus in the repository)")
    parser.add_argument("--random", type=int, default=0, help="how many random systems to add (0)")
    parser.add_argument("--plane", choices=PLANE, default="nsgs", help="Siconos' solver in the plane (nsgs)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if not (0 < args.step <= args.end < math.inf and args.random >= 0):
        parser.error("need 0 < step <= end and no negative number of random systems")
    # Saltus takes the next smaller step that divides the run.
    args.step = args.end / math.ceil(args.end / args.step * (1 - 1e-12))
    sn.numerics_set_verbose(0)
    chosen = [*cases(), *(random_case(seed) for seed in range(args.random))]
    rows = [compare(case, args.step, args.end, args.plane, args.saltus) for case in chosen]
    bad = [row["case"] for row in rows if not agree(row)]
    if args.json:
        print(json.dumps({"step": args.step, "end": args.end, "tolerance": TOLERANCE, "solver": SOLVER,
                          "rows": rows, "agree": not bad}, indent=2))
    else:
        print(f"Moreau-Jean with friction, Siconos and Saltus: step {args.step:g}, end {args.end:g} s; "
              f"Siconos' solver {SOLVER:g}, tolerance {TOLERANCE:g}")
        columns = (("steps", 6, "d"), ("active", 7, "d"), ("stick", 6, "d"), ("slip", 6, "d"),
                   ("dq", 8, ".1e"), ("dv", 8, ".1e"), ("parts at", 9, "d"), ("gains at", 9, "d"),
                   ("energy", 8, ".1e"), ("residual", 9, ".1e"), ("misses at", 9, "d"))
        print(f"{'':10}", *(f"{name:>{width}}" for name, width, _ in columns))
        for row in rows:
            print(f"{row['case']:10}", *(f"{'-' if row[name] is None else format(row[name], form):>{width}}"
                                        for name, width, form in columns))
    if bad:
        sys.exit(f"friction.py: no agreement to {TOLERANCE:g} in: {', '.join(bad)}")


if __name__ == "__main__":
    main()
