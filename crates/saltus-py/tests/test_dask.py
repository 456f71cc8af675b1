"""Sweeps on a cluster: complete and bit for bit the same, whatever happens to the workers."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import saltus

distributed = pytest.importorskip("distributed")

SWEEP: dict[str, Any] = {"over": {"w": (0.8, 1.2, 240)}, "transient": 40, "periods": 4000, "impacts": 3, "settled": True}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        yield client


def same(a: saltus.Family, b: saltus.Family) -> bool:
    tables = ("points", "impacts")
    return all((a.directory / f"{name}.npz").read_bytes() == (b.directory / f"{name}.npz").read_bytes() for name in tables)


def test_a_worker_that_is_killed_changes_nothing(client: Any, tmp_path: Path) -> None:
    plain = saltus.sweep("oscillator", **SWEEP)
    pids = list(client.run(os.getpid).values())
    parts = tmp_path / "s" / "parts"
    killed = []

    def kill() -> None:
        # In the middle: some shards are on the disk, others are being computed.
        while len(list(parts.glob("*-of-12"))) < 3:
            time.sleep(0.005)
        os.kill(pids[0], signal.SIGKILL)
        killed.append(len(list(parts.glob("*-of-12"))))

    thread = threading.Thread(target=kill)
    thread.start()
    found = saltus.sweep("oscillator", **SWEEP, client=client, shards=12, out=tmp_path / "s")
    thread.join()
    assert 3 <= killed[0] < 12
    assert found.answer.shards == 12 and same(plain, found)
    client.wait_for_workers(2, timeout=30)

    # A rerun computes what is missing, and nothing else; a cluster of another size goes on with the same shards.
    lost = sorted(parts.glob("*-of-12"))[4]
    for file in lost.rglob("*"):
        if file.is_file():
            file.unlink()
    for folder in sorted(lost.rglob("*"), reverse=True):
        folder.rmdir()
    lost.rmdir()
    again = saltus.sweep("oscillator", **SWEEP, client=client, out=tmp_path / "s")
    assert again.answer.computed_shards == 1 and same(plain, again)
    assert saltus.sweep("oscillator", **SWEEP, client=client, out=tmp_path / "s").answer.computed_shards == 0

    with pytest.raises(saltus.ModelError, match="another sweep"):
        saltus.sweep("oscillator", **{**SWEEP, "periods": 10}, client=client, out=tmp_path / "s")


def test_models_with_data_travel(client: Any) -> None:
    model = saltus.load("oscillator").input("u", [0, 1, 2], [0.0, 0.1, 0.0], outside="zero").force("x", "cos(w*t) - 0.1*x' + u(t)")
    options: dict[str, Any] = {"points": {"w": [0.9, 1.0, 1.1], "e": [0.5, 0.6, 0.7]}, "end": 20, "impacts": "all"}
    assert same(saltus.sweep(model, **options), saltus.sweep(model, **options, client=client))


def test_mistakes_are_those_of_a_plain_sweep(client: Any) -> None:
    with pytest.raises(saltus.ModelError, match="did you mean `w`"):
        saltus.sweep("oscillator", {"W": (0, 1, 3)}, periods=2, client=client)
    with pytest.raises(saltus.ModelError, match="carries states"):
        saltus.sweep("oscillator", {"w": (0, 1, 3)}, periods=2, carry="up", client=client)
    for bad in (0, 1.5, True):
        with pytest.raises(saltus.ModelError, match="positive whole"):
            saltus.sweep("oscillator", {"w": (0, 1, 3)}, periods=2, client=client, shards=bad)


def test_a_closed_client(client: Any) -> None:
    other = distributed.Client(client.scheduler.address)
    other.close()
    with pytest.raises(saltus.RunError, match="closed"):
        saltus.sweep("oscillator", {"w": (0.8, 1.2, 3)}, periods=2, client=other)
