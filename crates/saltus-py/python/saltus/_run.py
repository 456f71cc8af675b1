"""Runs: arrays of the motion, dense output, tables, the ledger, figures."""

from __future__ import annotations

import os
import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from . import _saltus
from ._errors import ModelError, RunError, SaltusWarning, unknown
from ._looks import Looks
from ._named import ByName, Floats, States
from ._scratch import optional
from ._tables import Table, table

if TYPE_CHECKING:
    import pandas
    import xarray

    from ._model import Model


def _floats(column: _saltus.Column) -> Floats:
    """The numbers where they are, read-only."""
    return np.frombuffer(memoryview(column), dtype=np.float64)


class Run(Looks):
    """A motion with all that is known about it.

    >>> import saltus
    >>> run = saltus.run("ball-gravity", end=2, set={"e": 0.5})
    >>> run.t.shape, run.q.shape
    ((2018,), (2018, 1))
    >>> y = run["y"]                              # by name; run["y'"] is the velocity, its right limit
    >>> round(float(run.at(1.0)["y"]), 6)         # dense output, between the stored instants as well
    0.061256
    >>> run.impacts["t"][:2].round(6).tolist()    # tables are structured arrays, .to_pandas() makes data frames
    [0.451524, 0.903047]
    """

    def __init__(self, model: Model, motion: _saltus.Motion) -> None:
        self.model = model
        self._motion = motion

    # The motion at the stored instants.

    @cached_property
    def _known(self) -> dict[str, list[str]]:
        return dict(self._motion.names())

    @property
    def coordinates(self) -> list[str]:
        """The names of the coordinates; of a structure, its points."""
        return self._known["coordinates"]

    @property
    def states(self) -> list[str]:
        """The names of first-order states."""
        return self._known["states"]

    @property
    def constraints(self) -> list[str]:
        """The names of the constraints."""
        return self._known["constraints"]

    @cached_property
    def units(self) -> dict[str, str]:
        """The units that the model gives."""
        return dict(self._motion.units())

    @cached_property
    def t(self) -> Floats:
        """The stored instants: those asked for, and all at which the velocity jumps. (Read-only, as all arrays of a run.)"""
        return _floats(self._motion.t())

    def _rows(self, column: _saltus.Column) -> Floats:
        n, _, d = self._motion.shape
        return _floats(column).reshape(n, d)

    @cached_property
    def q(self) -> Floats:
        """The positions, one row an instant, one column a coordinate."""
        return self._rows(self._motion.q())[:, : self._motion.shape[1]]

    @cached_property
    def _left(self) -> Floats:
        return self._rows(self._motion.v_left())

    @property
    def v_left(self) -> Floats:
        """The velocities, left limits: before an impact."""
        return self._left[:, : self._motion.shape[1]]

    @cached_property
    def v_right(self) -> Floats:
        """The velocities, right limits: after an impact."""
        return self._rows(self._motion.v_right())[:, : self._motion.shape[1]]

    @property
    def z(self) -> Floats:
        """First-order states, one column each."""
        return self._left[:, self._motion.shape[1] :]

    @property
    def velocity(self) -> ByName:
        """Velocities by the name of the coordinate: right limits, as after an impact."""
        return ByName("coordinate", self.coordinates, self.v_right)

    @property
    def velocity_left(self) -> ByName:
        """Velocities by the name of the coordinate: left limits, as before an impact."""
        return ByName("coordinate", self.coordinates, self.v_left)

    @cached_property
    def reaction(self) -> ByName:
        """Reaction densities of constraints, joints and friction by name (right limits); NaN where a run has none."""
        known = self._known
        names = [*known["constraints"], *known["joints"], *known["frictions"]]
        rows = _floats(self._motion.reactions()).reshape(len(self.t), len(names))
        return ByName("constraint, joint or friction", names, rows)

    def __getitem__(self, name: str) -> Floats:
        """A coordinate, its velocity `"x'"` (right limit), or a state, at the stored instants."""
        if not isinstance(name, str):
            raise TypeError(f"a run has its columns by name, such as run[{self.coordinates[0]!r}], not by {name!r}")
        if name == "t":
            return self.t
        if name in self.coordinates:
            column: Floats = self.q[:, self.coordinates.index(name)]
            return column
        if name in self.states:
            state: Floats = self.z[:, self.states.index(name)]
            return state
        if name.endswith("'") and name[:-1] in self.coordinates:
            return self.velocity[name[:-1]]
        raise unknown("coordinate or state", name, ["t", *self.coordinates, *(f"{c}'" for c in self.coordinates), *self.states])

    def __len__(self) -> int:
        """The number of stored instants."""
        return self._motion.shape[0]

    def at(self, t: ArrayLike, side: str = "right") -> States:
        """The motion at any times within the run, from its polynomials: accurate to the tolerance between stored instants too.

        `side` is which limit of the velocity is meant where it jumps.
        """
        if isinstance(t, np.ma.MaskedArray) and np.ma.is_masked(t):
            raise ModelError("some of the times are masked: give those that are not, t.compressed()")
        times = np.asarray(t)
        if times.dtype.kind not in "fiu":
            raise ModelError(f"times are real numbers, not {times.dtype}")
        flat = np.ascontiguousarray(times, dtype=np.float64).reshape(-1)
        q, v = self._motion.at(flat.data, side)
        n, d = self._motion.shape[1:]
        positions, velocities = (_floats(x).reshape(*times.shape, d) for x in (q, v))
        return States(times.astype(np.float64), positions[..., :n], velocities[..., :n], velocities[..., n:], self._known)

    def times(self, n: int = 1000) -> Floats:
        """Evenly spaced times from start to end, all of them inside the motion."""
        even: Floats = np.linspace(self.t[0], self.t[-1], n)
        return even

    # Tables.

    @cached_property
    def impacts(self) -> Table:
        """One row for each constraint that acts in an impact; rows of one impact share its number."""
        return table(self._motion.table("impacts"))

    @cached_property
    def contacts(self) -> Table:
        """The intervals of lasting contact."""
        return table(self._motion.table("contacts"))

    @cached_property
    def timeline(self) -> Table:
        """The phases in order: flight, impact, chatter, contact, release, stick, slip."""
        return table(self._motion.table("timeline"))

    @cached_property
    def events(self) -> Table:
        """Events of the model's own."""
        return table(self._motion.table("events"))

    @cached_property
    def energy(self) -> Table:
        """The energy account, one row an interval between impacts."""
        return table(self._motion.table("energy"))

    def to_pandas(self) -> pandas.DataFrame:
        """The motion as a data frame, indexed by the time."""
        try:
            import pandas
        except ImportError:
            raise optional("pandas", "data frames", "tables") from None

        columns = {name: self[name] for name in [*self.coordinates, *(f"{c}'" for c in self.coordinates), *self.states]}
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))

    def to_xarray(self) -> xarray.Dataset:
        """The motion as a dataset over `t`, with the units that the model gives."""
        try:
            import xarray
        except ImportError:
            raise optional("xarray", "datasets", "tables") from None

        units = self.units
        found = {}
        for name in [*self.coordinates, *(f"{c}'" for c in self.coordinates), *self.states]:
            attributes = {"units": units[name]} if name in units else {}
            found[name] = ("t", np.asarray(self[name]), attributes)
        return xarray.Dataset(found, coords={"t": ("t", self.t, {"units": units["t"]} if "t" in units else {})})

    # How it went.

    @property
    def status(self) -> str:
        """`"finished"`, `"breached"` (the ledger complains), `"interrupted"` or `"failed"`."""
        return self._motion.status[0]

    @property
    def message(self) -> str:
        """How it ended, in words."""
        return self._motion.status[1]

    @property
    def warnings(self) -> list[str]:
        """What one should know about it."""
        return self._motion.warnings

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self._motion.wall_s

    def ok(self) -> Run:
        """The run itself, or `RunError` if it failed, was interrupted, or its ledger complains."""
        if self.status != "finished":
            raise RunError(self.message, self)
        return self

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that `saltus run --json` prints."""
        from json import loads

        found: dict[str, Any] = loads(self._motion.summary())
        return found

    @property
    def ledger(self) -> dict[str, Any]:
        """What held and what did not: the properties with their figures, the energy account, complaints."""
        found: dict[str, Any] = self.summary["ledger"]
        return found

    @property
    def settled(self) -> dict[str, Any]:
        """What it settled on: rest, a period, or neither."""
        found: dict[str, Any] = self.summary["settled"]
        return found

    # What can be done with it.

    def resume(self, end: Any = None, **options: Any) -> Run:
        """Goes on from its last state: see `Model.run`."""
        return self.model.run(end, start=self, **options)

    def save(self, directory: str | os.PathLike[str], formats: list[str] | None = None) -> None:
        """Writes its files as `saltus run --out` does: `npz`, `csv`, `mat`, `parquet`. `saltus.rerun` makes the run again."""
        self._motion.save(os.fspath(directory), [formats] if isinstance(formats, str) else list(formats or []))

    def report(self, path: str | os.PathLike[str]) -> None:
        """Writes one page for any browser: the motion played, figures, tables, the ledger."""
        self._motion.report(os.fspath(path))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self.coordinates + self.states:
            raise AttributeError(f"the columns of a run have their names in brackets: run[{name!r}], and run[\"{name}'\"] for a velocity")
        raise AttributeError(f"a run has no attribute {name!r}")

    def __copy__(self) -> Run:
        return self

    def __deepcopy__(self, _: Any) -> Run:
        # (Nothing of it can be changed.)
        return self

    def __reduce__(self) -> Any:
        raise TypeError("a run cannot be pickled: pickle its arrays or tables, or write it with run.save(directory)")

    def __repr__(self) -> str:
        n = int(self._motion.shape[0])
        return f"<saltus.Run of {self.model.title!r}: {self.status}, t = {self.t[0]:g} … {self.t[-1]:g}, {n} instants>"


def verdict(run: Run, check: bool) -> Run:
    """The run; an exception if it failed, a warning if something is wrong with it."""
    status = run.status
    if status == "failed" and check:
        raise RunError(run.message, run)
    if status == "interrupted":
        warnings.warn(f"{run.message}; the run has what was computed", SaltusWarning, stacklevel=3)
    elif status in ("breached", "failed"):
        found = [text for text in run.warnings if text.startswith("breach: ")]
        warnings.warn("; ".join([run.message, *found]), SaltusWarning, stacklevel=3)
    return run


def rerun(directory: str | os.PathLike[str]) -> Run:
    """A run that was saved, made again from its `run.json`: bit for bit the same."""
    from json import loads
    from pathlib import Path

    from ._model import Model

    motion = _saltus.Motion.saved(os.fspath(directory))
    record = loads((Path(directory) / "run.json").read_text(encoding="utf-8"))
    return verdict(Run(Model.parse(record["model_text"], record["model"], carried(record)), motion), check=False)


def carried(record: dict[str, Any]) -> dict[str, bytes]:
    """The data files that the record of a run carries."""
    from base64 import b64decode
    from zlib import decompress

    files = {}
    for file in record.get("files", []):
        if file.get("data"):
            files[str(file["name"])] = decompress(b64decode(file["data"]), -15)
    return files
