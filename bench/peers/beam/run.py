#!/usr/bin/env python3
"""Time a step of a beam with a tip stop in Siconos, and compare with Saltus.

The model is in beam.cpp, which this script compiles into a temporary folder and
runs: a cantilever beam of d nodes with a stop at its tip, Moreau-Jean with
theta = 1/2. Of the time loop (setup and factorization left out) the best of the
repeats is taken; the repeats go round the variants in turn.

The variants (why, is said in beam.cpp):

    dense, sparse   Siconos as it comes
    sparse-mumps    sparse, with the package's default solver
    banded          products with a banded matrix, solves with a sparse one
    force           the elastic force computed by the program, not by Siconos

Debian's package is built without NDEBUG, so that uBLAS checks every access to a
matrix. With -DNDEBUG (name such an installation with --prefix) dense and sparse
take a half to a quarter of the time, force two thirds, and banded about the same
time as force: 5% of what it takes here with 100 nodes, 0.6% with 1000. The table
of ratios has two columns: the better of dense and sparse, and the best of all
variants; the second is the one that measures Siconos and not its package.

Every variant makes the same steps: over 5000 of them final_u agrees to about 2e-9,
and "positive" (the steps with a positive multiplier) and "first" (the first of
them; 0: none) exactly.

What has to be installed (Debian 12: Siconos 4.4.0):

    apt-get install g++ libsiconos-kernel-dev libsiconos-numerics-dev

How to run it, on an idle machine, from the repository root:

    python3 bench/peers/beam/run.py [--dofs 100 1000] [--variants dense sparse]
        [--steps 500] [--repeats 3] [--threads 1] [--saltus FILE] [--json]

FILE holds lines of JSON with the fields "dofs" and "us_per_step" (others are
ignored; of several lines for the same "dofs" the fastest counts). Exit status: 0,
or 1 if something is missing or fails.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

VARIANTS = ("dense", "sparse", "sparse-mumps", "banded", "force")
SOURCE = pathlib.Path(__file__).resolve().with_name("beam.cpp")


def fail(message):
    sys.exit(f"run.py: {message}")


def call(command, **options):
    """Output of a command; leaves the script with a plain reason if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, **options)
    except OSError as err:
        fail(f"cannot run {command[0]}: {err.strerror}")
    if done.returncode:
        fail(f"{pathlib.Path(command[0]).name} failed ({done.returncode}):\n"
             f"{(done.stderr + done.stdout).strip()}")
    return done.stdout


def version(prefix):
    """Version of the packaged Siconos, or where another one is."""
    if prefix != pathlib.Path("/usr"):
        return f"at {prefix}"
    try:
        done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "libsiconos-kernel-dev"],
                              capture_output=True, text=True)
    except OSError:
        return "of unknown version"
    return done.stdout.strip() or "of unknown version"


def build(folder, compiler, prefix):
    """Compiles beam.cpp; the path of the program."""
    headers = prefix / "include" / "siconos"
    if not (headers / "kernel" / "SiconosKernel.hpp").exists():
        fail(f"no Siconos headers in {headers}: install libsiconos-kernel-dev and "
             "libsiconos-numerics-dev, or name an installation with --prefix")
    program = folder / "beam"
    places = [f"-isystem{headers / part}" for part in ("", "kernel", "numerics", "externals")]
    if prefix != pathlib.Path("/usr"):
        for lib in ("lib", "lib64"):
            places += [f"-L{prefix / lib}", f"-Wl,-rpath,{prefix / lib}"]
    call([compiler, "-O3", "-DNDEBUG", "-std=c++17", *places, str(SOURCE), "-o", str(program),
          "-lsiconos_kernel", "-lsiconos_numerics"])
    return program


def measure(program, args):
    """The best run of each (dofs, variant), in that order."""
    best = {}
    env = {**os.environ, "OPENBLAS_NUM_THREADS": str(args.threads)}
    for dofs in args.dofs:
        steps = args.steps or (5000 if dofs <= 200 else 500)
        for _ in range(args.repeats):
            for variant in args.variants:
                out = call([str(program), variant, str(dofs), repr(args.step), str(steps),
                            repr(args.restitution)], env=env)
                try:
                    run = json.loads(out)
                except ValueError:
                    fail(f"unexpected output of beam {variant}:\n{out.strip()}")
                old = best.get((dofs, variant))
                if old is None or run["us_per_step"] < old["us_per_step"]:
                    best[dofs, variant] = {**run, "threads": args.threads}
    return list(best.values())


def read_saltus(path):
    """Fastest us_per_step for each dofs in a file of JSON lines."""
    fastest = {}
    try:
        for line in path.read_text().splitlines():
            if line.strip():
                row = json.loads(line)
                dofs, us = int(row["dofs"]), float(row["us_per_step"])
                fastest[dofs] = min(us, fastest.get(dofs, us))
    except OSError as err:
        fail(f"cannot read {path}: {err.strerror}")
    except (ValueError, KeyError, TypeError) as err:
        fail(f"{path} is not lines of JSON with dofs and us_per_step: {err!r}")
    return fastest


def ratios(runs, ours):
    """For each dofs measured in both: Siconos' times, ours, and their quotients."""
    rows = []
    for dofs in dict.fromkeys(run["dofs"] for run in runs):
        here = [run for run in runs if run["dofs"] == dofs]
        plain = [run for run in here if run["variant"] in ("dense", "sparse")]
        if dofs in ours:
            row = {"dofs": dofs, "saltus_us": ours[dofs]}
            for name, among in (("plain", plain), ("best", here)):
                if among:
                    run = min(among, key=lambda run: run["us_per_step"])
                    row[name] = {"variant": run["variant"], "us_per_step": run["us_per_step"],
                                 "ratio": run["us_per_step"] / ours[dofs]}
            rows.append(row)
    return rows


def show(runs, rows, head):
    print(head)
    print(f"{'dofs':>6} {'variant':13} {'steps':>6} {'us/step':>10} {'final_u':>20} "
          f"{'positive':>8} {'first':>6}")
    for run in runs:
        print(f"{run['dofs']:6d} {run['variant']:13} {run['steps']:6d} "
              f"{run['us_per_step']:10.2f} {run['final_u']:20.15f} "
              f"{run['positive_multipliers']:8d} {run['first_positive']:6d}")
    if rows:
        print(f"\nsiconos / saltus\n{'dofs':>6} {'saltus us':>10}  "
              f"{'better of dense, sparse':28}  best of all variants")
    for row in rows:
        cells = [f"{c['ratio']:9.1f}  ({c['variant']})" if c else "-"
                 for c in (row.get("plain"), row.get("best"))]
        print(f"{row['dofs']:6d} {row['saltus_us']:10.2f}  {cells[0]:28}  {cells[1]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dofs", type=int, nargs="+", default=[100, 1000], metavar="D",
                        help="numbers of nodes (100 1000)")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS),
                        metavar="V", help=f"which of {', '.join(VARIANTS)} (all)")
    parser.add_argument("--step", type=float, default=1e-4, help="time step (1e-4)")
    parser.add_argument("--steps", type=int,
                        help="steps of a run (5000 for up to 200 nodes, else 500)")
    parser.add_argument("--restitution", type=float, default=0.5, help="at the stop (0.5)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each (3)")
    parser.add_argument("--threads", type=int, default=1, help="OpenBLAS' threads (1)")
    parser.add_argument("--saltus", type=pathlib.Path, metavar="FILE",
                        help="lines of JSON with dofs and us_per_step, to compare with")
    parser.add_argument("--prefix", type=pathlib.Path, default=pathlib.Path("/usr"),
                        help="where Siconos is installed (/usr)")
    parser.add_argument("--compiler", default="g++", help="the C++ compiler (g++)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    if min(args.dofs) < 3 or not args.step > 0 or not 0 <= args.restitution <= 1:
        parser.error("need dofs >= 3, step > 0 and 0 <= restitution <= 1")
    if args.repeats < 1 or args.threads < 1 or (args.steps is not None and args.steps < 1):
        parser.error("steps, repeats and threads must be at least 1")

    ours = read_saltus(args.saltus) if args.saltus else {}
    with tempfile.TemporaryDirectory() as folder:
        runs = measure(build(pathlib.Path(folder), args.compiler, args.prefix), args)
    rows = ratios(runs, ours)
    siconos = version(args.prefix)
    if args.json:
        print(json.dumps({"siconos": siconos, "runs": runs, "ratios": rows}, indent=2))
    else:
        show(runs, rows, f"Siconos {siconos}: step {args.step:g}, restitution "
                         f"{args.restitution:g}, best of {args.repeats}, {args.threads} thread(s)")
    if ours and not rows:
        fail(f"{args.saltus} has none of the dofs measured")


if __name__ == "__main__":
    main()
