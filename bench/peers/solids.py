"""Solids of eight-node bricks: set-up and steps of Saltus beside SciPy's splu and eigsh, in processor time.

    python3 bench/peers/solids.py [--saltus target/release/saltus] [cube] [tower]

`cube` has 38 088 degrees of freedom (22 x 22 x 24 bricks on a fixed base), `tower` 35 964 (5 x 5 x 333).
Processor time, not time on the clock, so that other work on the machine does not count.
"""

import argparse
import json
import os
import resource
import subprocess
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
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def ours(saltus, folder, *options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([saltus, "run", "solid.toml", "--json", *options], cwd=folder, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, json.loads(out.stdout)


def memory(saltus, folder, *options):
    """The largest resident set of one run, in MB."""
    child = subprocess.Popen([saltus, "run", "solid.toml", "--json", *options], cwd=folder, stdout=subprocess.DEVNULL)
    return os.wait4(child.pid, 0)[2].ru_maxrss / 1e3


def compare(name, size, saltus):
    K, M = bricks(*size)
    n = K.shape[0]
    print(f"{name}: {n} degrees of freedom, {K.nnz} entries")
    A = (M + H * H / 4 * K).tocsc()
    resident = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    before = resident()
    factor_s, lu = timed(lambda: sl.splu(A))
    u = np.ones(n)
    step_s = timed(lambda: [lu.solve(K @ u) for _ in range(10)])[0] / 10
    print(f"  SciPy splu: {factor_s:.1f} s, {lu.L.nnz + lu.U.nnz} entries, {resident() - before:.0f} MB more; solve and product {1e3 * step_s:.1f} ms")
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(f"{folder}/K.npz", K)
        sp.save_npz(f"{folder}/M.npz", M)
        with open(f"{folder}/solid.toml", "w") as file:
            file.write(
                f"points.top = {n - 2}\nloads.top = '1e5*sin(2000*t)'\nrun = {{ step = {H}, end = {10 * H} }}\n"
                "structure = { mass = 'M.npz', stiffness = 'K.npz', direction = 'all' }\n"
                "constraint = [{ name = 'wall', gap = '1e-6 - top', restitution = 0 }]\n"
            )
        few, run = ours(saltus, folder)
        many, _ = ours(saltus, folder, "--end", f"{110 * H}")
        step = (many - few) / 100
        print(f"  Saltus: {few - 10 * step:.1f} s until the first step (files, checks, frequencies, factors), {run['structure']['factor_entries']} entries,", end=" ")
        print(f"{memory(saltus, folder):.0f} MB in all; step {1e3 * step:.1f} ms")
        print(f"  set-up {(few - 10 * step) / factor_s:.2f} of splu, step {step_s / step:.1f} times as fast")
        if name == "tower":
            eigsh_s, (squares, _) = timed(lambda: sl.eigsh(K, 50, M, sigma=0))
            modal, _ = ours(saltus, folder, "--modes", "50")
            print(f"  50 modes: eigsh {eigsh_s:.1f} s, Saltus {modal - (few - 10 * step):.1f} s more than without modes")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--saltus", default="target/release/saltus")
    parser.add_argument("solids", nargs="*", default=[])
    given = parser.parse_args()
    sizes = {"cube": (22, 22, 24), "tower": (5, 5, 333)}
    for name in given.solids or sizes:
        compare(name, sizes[name], os.path.abspath(given.saltus))


if __name__ == "__main__":
    main()
