"""Solids of eight-node bricks: set-up and steps of Saltus beside SciPy's splu and eigsh, in one run.

    python3 bench/peers/solids.py [--saltus target/release/saltus] [cube] [tower]

`cube` has 38 088 degrees of freedom (22 x 22 x 24 bricks on a fixed base), `tower` 35 964 (5 x 5 x 333).
Times are processor time, so that other work on the machine counts little, with the time on the clock in brackets. Each
program runs in a process of its own; its memory is the largest it held.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sl

H = 1e-5


def bricks(nx, ny, nz, side=0.1, young=2e11, poisson=0.3, density=7800.0):
    """Stiffness and lumped mass of a block of bricks, its lowest layer of nodes held."""
    lam, mu = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / 2 / (1 + poisson)
    law = np.diag([2 * mu] * 3 + [mu] * 3)
    law[:3, :3] += lam
    corner = np.array(
        [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float
    )
    stiffness, mass, g = np.zeros((24, 24)), np.zeros(8), 1 / np.sqrt(3)
    for p in np.array(np.meshgrid(*[[-g, g]] * 3)).reshape(3, -1).T:
        factors = 1 + corner * p
        shape = factors.prod(axis=1) / 8
        slope = corner * np.stack([factors[:, [1, 2]].prod(1), factors[:, [0, 2]].prod(1), factors[:, [0, 1]].prod(1)], 1) / (4 * side)
        strain = np.zeros((6, 24))
        for i, (x, y, z) in enumerate(slope):
            strain[:, 3 * i : 3 * i + 3] = [[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]]
        weight = (side / 2) ** 3
        stiffness += weight * strain.T @ law @ strain
        mass += weight * density * shape
    node = lambda i, j, k: (k * (ny + 1) + j) * (nx + 1) + i
    k, j, i = np.meshgrid(np.arange(nz), np.arange(ny), np.arange(nx), indexing="ij")
    i, j, k = i.ravel(), j.ravel(), k.ravel()
    cells = np.stack(
        [node(i + a, j + b, k + c) for a, b, c in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]], 1
    )
    n = (nx + 1) * (ny + 1) * (nz + 1)
    dofs = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), 24)
    rows, columns = np.repeat(dofs, 24, axis=1).ravel(), np.tile(dofs, (1, 24)).ravel()
    K = sp.coo_matrix((np.tile(stiffness.ravel(), len(cells)), (rows, columns)), shape=(3 * n, 3 * n)).tocsr()
    lumped = np.zeros(3 * n)
    np.add.at(lumped, dofs.ravel(), np.tile(np.repeat(mass, 3), len(cells)))
    free = np.arange(3 * (nx + 1) * (ny + 1), 3 * n)
    K = K[free][:, free]
    return ((K + K.T) / 2).tocsr(), sp.diags(lumped[free]).tocsr()


def timed(work):
    clock, start = time.perf_counter(), time.process_time()
    result = work()
    return (time.process_time() - start, time.perf_counter() - clock), result


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def splu(K, M):
    """The matrix of a step factored, and the solves and products of steps."""
    A = (M + H * H / 4 * K).tocsc()
    before = resident()
    factor, lu = timed(lambda: sl.splu(A))
    u = np.ones(K.shape[0])
    steps = timed(lambda: [lu.solve(K @ u) for _ in range(20)])[0]
    return {"factor": factor, "step": [x / 20 for x in steps], "entries": int(lu.L.nnz + lu.U.nnz), "MB": resident(), "before": before}


def eigsh(K, M):
    """Fifty modes."""
    taken, (squares, _) = timed(lambda: sl.eigsh(K, 50, M, sigma=0))
    return {"time": taken, "frequency": float(np.sqrt(squares.min()) / (2 * np.pi)), "MB": resident()}


PEERS = {"splu": splu, "eigsh": eigsh}


def peer(which, name):
    """A peer in a process of its own."""
    words = [sys.executable, os.path.abspath(__file__), "--peer", which, name]
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def ours(saltus, folder, *options):
    """One run: processor time and time on the clock, the largest memory in MB, what it said."""
    with open(f"{folder}/said.json", "w") as said:
        clock = time.perf_counter()
        child = subprocess.Popen([saltus, "run", "solid.toml", "--json", *options], cwd=folder, stdout=said)
        _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"saltus ended with {status}")
    with open(f"{folder}/said.json") as said:
        return (used.ru_utime + used.ru_stime, time.perf_counter() - clock), used.ru_maxrss / 1e3, json.load(said)


def both(times, unit=1):
    return f"{unit * times[0]:.3g} ({unit * times[1]:.3g})"


def compare(name, saltus):
    K, M = bricks(*SIZES[name])
    n = K.shape[0]
    print(f"{name}: {n} degrees of freedom, {K.nnz} entries", flush=True)
    theirs = peer("splu", name)
    print(f"  SciPy splu: {both(theirs['factor'])} s, {theirs['entries']} entries, {theirs['MB']:.0f} MB, {theirs['MB'] - theirs['before']:.0f} of them for it;", end=" ")
    print(f"solve and product {both(theirs['step'], 1e3)} ms", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/K.npz", K)
        sp.save_npz(f"{folder}/M.npz", M)
        with open(f"{folder}/solid.toml", "w") as file:
            file.write(
                f"points.top = {n - 2}\nloads.top = '1e5*sin(2000*t)'\nrun = {{ step = {H}, end = {10 * H} }}\n"
                "structure = { mass = 'M.npz', stiffness = 'K.npz', direction = 'all' }\n"
                "constraint = [{ name = 'wall', gap = '1e-6 - top', restitution = 0 }]\n"
            )
        few, memory, run = ours(saltus, folder)
        many, _, _ = ours(saltus, folder, "--end", f"{210 * H}")
        step = [(b - a) / 200 for a, b in zip(few, many)]
        setup = [a - 10 * s for a, s in zip(few, step)]
        print(f"  Saltus: {both(setup)} s until the first step (files, checks, frequencies, factors), {run['structure']['factor_entries']} entries,", end=" ")
        print(f"{memory:.0f} MB; step {both(step, 1e3)} ms")
        print(f"  set-up {setup[0] / theirs['factor'][0]:.2f} of splu, memory {memory / theirs['MB']:.2f}, step {theirs['step'][0] / step[0]:.1f} times as fast (processor time)", flush=True)
        if name == "tower":
            their_modes = peer("eigsh", name)
            modal, memory, run = ours(saltus, folder, "--modes", "50")
            off = run["structure"]["frequencies_hz"][0] / their_modes["frequency"] - 1
            print(f"  50 modes: eigsh {both(their_modes['time'])} s, {their_modes['MB']:.0f} MB; the whole run of Saltus {both(modal)} s, {memory:.0f} MB; first frequencies differ by {off:.0e}")


SIZES = {"cube": (22, 22, 24), "tower": (5, 5, 333)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saltus", default="target/release/saltus")
    parser.add_argument("--peer", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("solids", nargs="*", default=[])
    given = parser.parse_args()
    if given.peer:
        print(json.dumps(PEERS[given.peer](*bricks(*SIZES[given.solids[0]]))))
        return
    for name in given.solids or SIZES:
        compare(name, os.path.abspath(given.saltus))


if __name__ == "__main__":
    main()
