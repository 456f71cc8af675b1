"""Sweeps on a cluster of Dask: independent shards with stable names, on the disk as soon as they are finished."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _saltus
from ._ask import Answer, words
from ._errors import ModelError, RunError
from ._progress import Bar, Progress

if TYPE_CHECKING:
    from ._model import Model

#: So many shards for each thread of the cluster: short enough that a lost worker costs little, long enough to be worth a task.
PER_THREAD = 16


def shard(model: Model, options: Mapping[str, Any], part: tuple[int, int], threads: int | None) -> bytes:
    """Computes part k of N on a worker; its directory as an archive."""
    k, n = part
    with tempfile.TemporaryDirectory(prefix="saltus-") as scratch:
        given = dict(options)
        if "points" in given:
            table = Path(scratch) / "points.csv"
            table.write_text(given["points"], encoding="utf-8")
            given["points"] = os.fspath(table)
        out = Path(scratch) / "part"
        asked = {**given, "shard": f"{k}/{n}", "threads": threads or 1, "out": os.fspath(out), "json": True}
        _, interrupted = _saltus.answer(words("sweep", model, asked), model._core)
        if interrupted:
            raise KeyboardInterrupt
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(out, arcname=".")
        return packed.getvalue()


def _finished(directory: Path, key: str, shards: int | None) -> tuple[int | None, set[int]]:
    """Into how many shards this sweep was cut before, as far as it was, and which of them are on the disk.

    A cluster of another size goes on with the shards that there are.
    """
    found: dict[int, set[int]] = {}
    for path in directory.glob(f"{key}-*-of-*"):
        k, _, n = path.name.removeprefix(f"{key}-").partition("-of-")
        if k.isdigit() and n.isdigit() and (path / "sweep.json").exists():
            found.setdefault(int(n), set()).add(int(k))
    wanted = shards if shards is not None else max(found, key=lambda n: len(found[n]) / n, default=None)
    return wanted, found.get(wanted or 0, set())


def _vacant(directory: Path, kept: Path, key: str) -> None:
    """Refuses a directory that holds another sweep."""
    others = [path.name for path in kept.glob("*-of-*") if not path.name.startswith(key)]
    if others or (not kept.is_dir() and directory.is_dir() and any(directory.iterdir())):
        raise ModelError(f"`{directory}` is not empty and holds another sweep, or none: choose another directory for `out`")


def _store(directory: Path, name: str, packed: bytes) -> None:
    """Unpacks a shard; it has its name only when it is complete."""
    unfinished = directory / f"{name}.tmp"
    shutil.rmtree(unfinished, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(unfinished, filter="data")
    unfinished.rename(directory / name)


def _identity(model: Model, options: Mapping[str, Any]) -> str:
    """A short name for what is computed: the same sweep has the same name, on any machine and day."""
    digest = sha256(model.text.encode())
    for name, content in sorted(dict(model._core.data()).items()):
        digest.update(name.encode() + sha256(content).digest())
    digest.update(repr([_saltus.__version__, *sorted(options.items())]).encode())
    return digest.hexdigest()[:12]


def _unpacked(packed: bytes) -> Model:
    """The model, on a worker. (A task, and not data: the cluster can make it again whichever worker is lost.)"""
    from pickle import loads

    model: Model = loads(packed)
    return model


def _threads(client: Any) -> int:
    """How many threads the workers have together."""
    try:
        total = sum(client.nthreads().values())
    except Exception as error:
        raise RunError(f"the client does not answer, is it closed? ({error})") from error
    if total == 0:
        raise RunError("the cluster has no workers: scale it up, or wait for them with client.wait_for_workers(1)")
    return int(total)


def _submit(client: Any, *args: Any, **options: Any) -> Any:
    try:
        return client.submit(*args, **options)
    except Exception as error:
        raise RunError(f"the client takes no work, is it closed? ({error})") from error


def distributed(
    model: Model,
    options: Mapping[str, Any],
    directory: Path,
    client: Any,
    shards: int | None,
    retries: int,
    formats: str | None,
    threads: int | None,
    progress: Progress,
) -> Answer:
    """Computes the missing shards of a sweep on a cluster, and puts all of them together."""
    from json import loads
    from pickle import dumps

    if shards is not None and (isinstance(shards, bool) or not hasattr(shards, "__index__") or shards < 1):
        raise ModelError(f"`shards` must be a positive whole number, not {shards!r}")
    if options.get("carry"):
        raise ModelError("a sweep that carries states on from point to point has no shards: leave `client` or `carry` out")
    if getattr(client, "status", "running") != "running":
        raise RunError(f"the client is {client.status}: make a new one")
    workers = _threads(client)
    given = {name: of for name, of in options.items() if of not in (None, False, [])}
    if "points" in given:
        given["points"] = Path(given["points"]).read_text(encoding="utf-8")
    counted = int(loads(_dry(model, options))["trajectories"])
    key, kept = _identity(model, given), directory / "parts"
    _vacant(directory, kept, key)
    kept.mkdir(parents=True, exist_ok=True)
    earlier, done = _finished(kept, key, shards)
    n = max(1, min(earlier or PER_THREAD * workers, counted))
    missing = [k for k in range(1, n + 1) if k not in done]
    bar = Bar(progress, f"sweep {model.title}")
    try:
        if missing:
            sent = _submit(client, _unpacked, dumps(model), key=f"saltus-{key}-model", pure=False)
            futures = [
                _submit(client, shard, sent, given, (k, n), threads, key=f"saltus-{key}-{k}-of-{n}", retries=retries, pure=False)
                for k in missing
            ]
            _gather(client, futures, kept, n, retries, bar)
    finally:
        bar.close()
    whole = directory / "whole.tmp"
    shutil.rmtree(whole, ignore_errors=True)
    parts = [os.fspath(kept / f"{key}-{k}-of-{n}") for k in range(1, n + 1)]
    asked = ["merge", *parts, "--out", os.fspath(whole), "--json", *([f"--format={formats}"] if formats else [])]
    text, _ = _saltus.answer(asked)
    for file in whole.iterdir():
        target = directory / file.name
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(file, target)
    whole.rmdir()
    answer = Answer(loads(text))
    answer.update(complete=True, shards=n, computed_shards=len(missing), key=key)
    return answer


def _dry(model: Model, options: Mapping[str, Any]) -> str:
    """How many trajectories there are; mistakes show here, not on the workers."""
    text, _ = _saltus.answer(words("sweep", model, {**options, "dry_run": True, "json": True}), model._core)
    return text


def _completed(futures: list[Any]) -> Any:
    """Futures as they end, in whatever way."""
    from importlib import import_module

    return import_module("distributed").as_completed(futures)


def _gather(client: Any, futures: list[Any], kept: Path, n: int, retries: int, bar: Bar) -> None:
    """Writes shards as they come. Whatever happens, those that came are on the disk."""
    done, deaths = n - len(futures), dict.fromkeys((future.key for future in futures), 0)
    bar.counted(done, n)
    ended = _completed(futures)
    try:
        for future in ended:
            if future.status == "error" and type(future.exception()).__name__ == "KilledWorker" and deaths[future.key] < retries:
                # (Several workers were lost while they had this shard: it may not be its fault.)
                deaths[future.key] += 1
                client.retry([future])
                ended.add(future)
                continue
            if future.status == "error":
                raise RunError(f"{future.key}: {future.exception()}") from future.exception()
            if future.status != "finished":
                break
            _store(kept, str(future.key).removeprefix("saltus-"), future.result())
            future.release()
            done += 1
            bar.counted(done, n)
    except BaseException:
        _cancel(client, futures)
        raise
    if done < n:
        message = f"{n - done} of {n} shards were not computed: the client was closed, or the cluster went away"
        raise RunError(f"{message}. Those that were are kept: the same call goes on with them")


def _cancel(client: Any, futures: list[Any]) -> None:
    try:
        client.cancel(futures)
    except Exception:
        # There is nobody left to tell.
        pass
