#!/usr/bin/env python3
"""Read the files of a run with the programs people use, and compare them.

Runs `saltus` on a few models with --format npz,csv,mat,parquet, reads each file with NumPy, SciPy, pandas and PyArrow, and
checks that all hold the same numbers, names and metadata, bit by bit.

How to run it, from the repository root:

    cargo build --release
    pip install numpy scipy pandas pyarrow
    python3 bench/readers/check.py [--saltus target/release/saltus]

Exit status: 0, or 1 if a file differs or cannot be read.
"""
import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

MODELS = ["ball-gravity", "hard-rods", "rocking-block", "wedge"]


def same(name, a, b):
    import numpy as np

    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or not np.array_equal(a, b, equal_nan=True):
        raise SystemExit(f"{name}: {a.shape} and {b.shape} differ")


def check(saltus, model, formats, folder):
    import numpy as np
    import pandas as pd
    from scipy.io import loadmat

    command = [saltus, "run", model, "--out", str(folder), "--format", ",".join(formats)]
    subprocess.run(command, check=True, capture_output=True)
    record = json.loads((folder / "run.json").read_text())
    summary = record["summary"]
    coordinates, constraints = summary["coordinates"], summary["constraints"]
    npz = np.load(folder / "trajectory.npz")
    n, d = npz["q"].shape
    assert d == len(coordinates)

    mat = loadmat(folder / "trajectory.mat")
    for name in npz.files:
        expected = npz[name] if npz[name].ndim == 2 else npz[name][:, None]
        same(f"{model}: {name} in mat", mat[name], expected)
    words = lambda cell: [str(c[0]) if c.size else "" for c in cell.ravel()]
    assert words(mat["coordinates"]) == coordinates, mat["coordinates"]
    assert words(mat["constraints"]) == constraints
    meta = mat["meta"][0, 0]
    assert str(meta["title"][0]) == summary["title"]
    assert str(meta["model_sha256"][0]) == record["model_sha256"]
    assert float(meta["step"][0, 0]) == summary["step"]

    tables = {"csv": pd.read_csv(folder / "trajectory.csv", float_precision="round_trip")}
    impacts = {"csv": pd.read_csv(folder / "impacts.csv", float_precision="round_trip")}
    if "parquet" in formats:
        import pyarrow.parquet as pq

        tables["parquet"] = pd.read_parquet(folder / "trajectory.parquet")
        impacts["parquet"] = pd.read_parquet(folder / "impacts.parquet")
        pairs = pq.read_schema(folder / "trajectory.parquet").metadata
        assert pairs[b"title"].decode() == summary["title"], pairs
        assert pairs[b"model_sha256"].decode() == record["model_sha256"]
        assert list(impacts["parquet"].columns) == list(impacts["csv"].columns)
        for column in impacts["csv"].columns:
            a, b = impacts["csv"][column], impacts["parquet"][column]
            if column == "constraint":
                assert list(a.astype(str)) == list(b)
            else:
                same(f"{model}: {column} of impacts", a, b)
    for kind, table in tables.items():
        same(f"{model}: t in {kind}", table["t"], npz["t"])
        same(f"{model}: q in {kind}", table[coordinates], npz["q"])
        for side in ["v_left", "v_right"]:
            same(f"{model}: {side} in {kind}", table[[f"{side}_{c}" for c in coordinates]], npz[side])
        if "reaction" in npz.files:
            same(f"{model}: reaction in {kind}", table[[f"reaction_{c}" for c in constraints]], npz["reaction"])
    print(f"{model}: {n} instants, {len(npz['impact_t'])} impacts, the same in {', '.join(formats)}")


def main():
    # Newer versions of pandas read exactly by themselves and complain about being asked to.
    warnings.filterwarnings("ignore", message=".*float_precision.*")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--saltus", default="target/release/saltus")
    saltus = parser.parse_args().saltus
    formats = ["npz", "csv", "mat", "parquet"]
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            check(saltus, model, formats, Path(folder) / model)


if __name__ == "__main__":
    try:
        main()
    except (ImportError, AssertionError, subprocess.CalledProcessError, OSError) as error:
        sys.exit(f"failed: {error}")
