"""Families of motions: sweeps, bifurcation diagrams, sections, basins."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _saltus
from ._ask import ask, changes
from ._axes import Axis, axes, listed
from ._errors import RunError
from ._family import Family
from ._model import Model, as_model
from ._progress import Progress
from ._scratch import Scratch
from ._text import Number, number

Models = Model | str | os.PathLike[str] | Mapping[str, Any]


def _directory(out: str | os.PathLike[str] | None) -> tuple[Path, Any]:
    """The directory of the results; without a name, one that lives as long as the results do."""
    if out is not None:
        return Path(out), None
    keep = Scratch()
    return keep.path / "family", keep


def _family(command: str, model: Models, options: dict[str, Any], varied: list[str], out: Any, progress: Progress) -> Family:
    given = as_model(model)
    directory, keep = _directory(out)
    answer = ask(command, given, {**options, "out": os.fspath(directory)}, progress)
    if not answer and command != "sweep":
        raise RunError(f"{command}: interrupted before there was anything to show")
    return Family(given, directory, answer, varied, keep)


def _count(name: str, of: Any) -> str | None:
    return None if of is None else number(name, of)


def sweep(
    model: Models,
    over: Mapping[str, Axis] | None = None,
    *,
    points: Any = None,
    sample: int | None = None,
    vary: Mapping[str, str] | None = None,
    design: str | None = None,
    seed: int | None = None,
    carry: str | None = None,
    transient: Number | None = None,
    periods: Number | None = None,
    period: Number | None = None,
    end: Number | None = None,
    returns: int | None = None,
    impacts: int | str | None = None,
    strobe: bool = False,
    section: str | Sequence[str] = (),
    last: int | None = None,
    stat: str | Sequence[str] = (),
    settled: bool = False,
    set: Mapping[str, Number] | None = None,
    start: Mapping[str, Number] | None = None,
    assemble: bool = False,
    tol: float | None = None,
    scheme: str | None = None,
    step: Number | None = None,
    native: bool = False,
    device: str | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    formats: Sequence[str] | None = None,
    client: Any = None,
    shards: int | None = None,
    retries: int = 3,
    progress: Progress = None,
) -> Family:
    """Runs a family of motions on all cores, or with `client` on a Dask cluster.

    `over` are axes: `{"w": (0.5, 1.5, 500)}` is a range, an array gives the values; several make a product, the first the slowest. `points` are
    points one by one, a dictionary of arrays. `sample` draws so many points from distributions, `vary={"w": "normal(1, 0.05)"}`.

    A motion is left to settle for `transient` and kept for `periods` (of the forcing); or until `end`; or for so many `returns` to the first `section`. What is kept: `impacts` (how many, or
    `"all"`), `strobe` (once a period), `section`s (all states there, or the `last` ones), `stat`istics of expressions, what it `settled` on. It is
    computed by events, or by the steps of a `scheme`: `scheme="moreau-jean", step="2*pi/w/1000"`.

    `out` is a directory for the results; with `resume=True` a sweep that was interrupted there goes on. With a `client` of Dask the sweep is
    cut into `shards`; finished ones are on the disk of `out` at once, lost workers are replaced, and a rerun computes only what is missing.

    >>> import saltus
    >>> found = saltus.sweep("oscillator", over={"w": [0.9, 1.1], "e": (0.5, 0.8, 4)}, transient=20, periods=5, stat="x")
    >>> len(found.points), found.points["max(x)"].round(6).max()
    (8, np.float64(1.0))
    """
    varied = [*(over or {}), *(vary or {})]
    options: dict[str, Any] = {
        "over": axes("over", over),
        "sample": sample,
        "vary": [f"{name}={of}" for name, of in (vary or {}).items()],
        "design": design,
        "seed": seed,
        "carry": carry,
        "transient": _count("transient", transient),
        "periods": _count("periods", periods),
        "period": _count("period", period),
        "end": _count("end", end),
        "returns": returns,
        "last": last,
        "impacts": str(impacts) if impacts is not None else None,
        "strobe": strobe,
        "section": [section] if isinstance(section, str) else list(section),
        "stat": [stat] if isinstance(stat, str) else list(stat),
        "settled": settled,
        "assemble": assemble,
        "tol": tol,
        "scheme": scheme,
        "step": _count("step", step),
        "native": native,
        "device": device,
        **changes(set, start),
    }
    written = ",".join(dict.fromkeys(["npz", *formats])) if formats else None
    scratch = None
    if points is not None:
        scratch = Scratch()
        file = scratch.path / "points.csv"
        file.write_text(listed(points), encoding="utf-8")
        options["points"] = os.fspath(file)
    if client is not None:
        from ._dask import distributed

        directory, keep = _directory(out)
        answer = distributed(as_model(model), options, directory, client, shards, retries, written, threads, progress)
        return Family(as_model(model), directory, answer, varied, (keep, scratch))
    options |= {"threads": threads, "resume": resume, "format": written}
    return _family("sweep", model, options, varied, out, progress)


def merge(parts: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], formats: Sequence[str] | None = None) -> Path:
    """Puts the parts of a sweep together that `saltus sweep --shard k/N` made; the directory of the whole."""
    words = ["merge", *(os.fspath(part) for part in parts), "--out", os.fspath(out), "--json"]
    _saltus.answer([*words, *(["--format=" + ",".join(formats)] if formats else [])])
    return Path(out)


def _starts(start: Mapping[str, Axis] | None) -> list[str]:
    return axes("start", start)


def bifurcation(
    model: Models,
    over: Mapping[str, Axis],
    *,
    at: str | None = None,
    of: str | None = None,
    map: str | None = None,
    exponents: bool = False,
    carry: str | None = None,
    transient: Number | None = None,
    periods: Number | None = None,
    period: Number | None = None,
    set: Mapping[str, Number] | None = None,
    start: Mapping[str, Axis] | None = None,
    tol: float | None = None,
    native: bool = False,
    device: str | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress = None,
) -> Family:
    """A bifurcation diagram over one parameter, or a map over two; its picture is what a notebook shows.

    >>> import saltus
    >>> found = saltus.bifurcation("oscillator", {"w": (0.8, 1.2, 5)}, transient=20, periods=5)
    >>> found.strobe["x"].shape
    (30,)
    """
    options = {
        "over": axes("over", over),
        "at": at,
        "of": of,
        "map": map,
        "exponents": exponents,
        "carry": carry,
        "transient": _count("transient", transient),
        "periods": _count("periods", periods),
        "period": _count("period", period),
        "set": changes(set, None)["set"],
        "start": _starts(start),
        "tol": tol,
        "native": native,
        "device": device,
        "threads": threads,
        "resume": resume,
    }
    return _family("bifurcation", model, options, list(over), out, progress)


def section(
    model: Models,
    *,
    at: str | None = None,
    x: str | None = None,
    y: str | None = None,
    transient: Number | None = None,
    periods: Number | None = None,
    period: Number | None = None,
    returns: int | None = None,
    set: Mapping[str, Number] | None = None,
    start: Mapping[str, Axis] | None = None,
    tol: float | None = None,
    native: bool = False,
    device: str | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress = None,
) -> Family:
    """A Poincaré section: the motion once a period, at its impacts, or where an expression vanishes, for so many `returns`."""
    options = {
        "at": at,
        "returns": returns,
        "x": x,
        "y": y,
        "transient": _count("transient", transient),
        "periods": _count("periods", periods),
        "period": _count("period", period),
        "set": changes(set, None)["set"],
        "start": _starts(start),
        "tol": tol,
        "native": native,
        "device": device,
        "threads": threads,
        "resume": resume,
    }
    return _family("section", model, options, [], out, progress)


def basins(
    model: Models,
    start: Mapping[str, Axis],
    *,
    refine: bool = False,
    periods: int | None = None,
    period: Number | None = None,
    end: Number | None = None,
    set: Mapping[str, Number] | None = None,
    tol: float | None = None,
    native: bool = False,
    device: str | None = None,
    threads: int | None = None,
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Progress = None,
) -> Family:
    """The attractors of a system, and which starts lead to each: `family.attractors`, and `family.points["attractor"]`.

    With `out` and `resume=True`, basins that were interrupted go on.

    >>> import saltus
    >>> found = saltus.basins("oscillator", {"x": (-2, 1, 6), "x'": (-3, 3, 6)}, set={"w": 5.7, "A": 3.09})
    >>> len(found.answer.attractors)
    3
    """
    options = {
        "start": _starts(start),
        "refine": refine,
        "periods": periods,
        "period": _count("period", period),
        "end": _count("end", end),
        "set": changes(set, None)["set"],
        "tol": tol,
        "native": native,
        "device": device,
        "threads": threads,
        "resume": resume,
    }
    found = _family("basins", model, options, list(start), out, progress)
    if found.is_complete:
        found.__dict__["points"] = found.table("basins")
    return found
