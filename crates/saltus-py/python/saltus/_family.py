"""The results of a family of motions: tables, datasets, figures."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _saltus
from ._ask import Answer
from ._errors import ModelError, RunError, unknown
from ._looks import axes as drawn_in
from ._looks import label
from ._model import Model
from ._run import carried
from ._scratch import optional
from ._tables import Table, saved

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes


class Family:
    """The results of many motions, in a directory: tables by name, one row a motion or an instant of one.

    >>> import saltus
    >>> found = saltus.sweep("oscillator", over={"w": (0.8, 1.2, 5)}, transient=40, periods=20, settled=True)
    >>> found.points["period"].tolist()
    [1, 1, 1, 1, 1]
    """

    def __init__(self, model: Model, directory: Path, answer: Answer, varied: list[str], keep: Any = None) -> None:
        self.model, self.directory, self.answer = model, directory, answer
        self._varied, self._keep = varied, keep

    @classmethod
    def open(cls, directory: str | os.PathLike[str]) -> Family:
        """The results in a directory that `saltus.sweep(…, out=directory)`, `saltus.bifurcation` or the command line wrote.

        >>> import saltus, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = saltus.sweep("oscillator", {"w": (0.8, 1.2, 5)}, periods=5, out=folder + "/sweep")
        ...     found = saltus.Family.open(folder + "/sweep")
        ...     bool((found.points["x"] == made.points["x"]).all()), list(found.to_xarray().dims)
        (True, ['w'])
        """
        import json

        path = Path(directory)
        if not (path / "sweep.json").is_file():
            raise ModelError(f"there is no sweep in `{path}`: it has no sweep.json")
        record = json.loads((path / "sweep.json").read_text(encoding="utf-8"))
        request = record["request"]
        model = Model.parse(record["model_text"], record["model"], carried(record))
        varied = [text.split("=", 1)[0].strip() for text in [*request["over"], *request["vary"]]]
        answer = Answer(trajectories=record["trajectories"], complete=(path / "points.npz").exists())
        found = cls(model, path, answer, varied)
        if (path / "basins.json").exists():
            found.answer.update(json.loads((path / "basins.json").read_text(encoding="utf-8")))
            found.__dict__["points"] = found.table("basins")
        return found

    @property
    def attractors(self) -> list[dict[str, Any]]:
        """The attractors that `saltus.basins` found, with their shares of the starts; a start has its number in `points["attractor"]`."""
        if "attractors" not in self.answer:
            raise ModelError("these are no basins: `saltus.basins` finds attractors")
        found: list[dict[str, Any]] = self.answer["attractors"]
        return found

    @cached_property
    def _tables(self) -> dict[str, Path]:
        return {path.stem: path for path in sorted(self.directory.glob("*.npz"))}

    def table(self, name: str) -> Table:
        """A table by its name, as its file is called."""
        if not self.directory.is_dir():
            raise RunError(f"the results are not there any more: `{self.directory}` is gone. With out=directory they stay")
        if name not in self._tables and not self.is_complete:
            done, of = self.answer.get("computed", 0), self.answer.get("trajectories", "all")
            message = f"it was interrupted: {done} of {of} motions are computed, and there are no tables yet"
            raise RunError(f"{message}. The same call with out=directory and resume=True goes on")
        if name not in self._tables:
            raise unknown("table", name, list(self._tables))
        return saved(self._tables[name])

    @cached_property
    def points(self) -> Table:
        """One row a motion: what was varied, how it ended, its last state, what it settled on."""
        return self.table("points")

    @cached_property
    def impacts(self) -> Table:
        """The impacts that were kept."""
        return self.table("impacts")

    @cached_property
    def strobe(self) -> Table:
        """The states once a period."""
        return self.table("strobe")

    @cached_property
    def sections(self) -> Table:
        """The states where expressions vanish."""
        return self.table("sections")

    @property
    def is_complete(self) -> bool:
        """Whether all motions were computed."""
        return bool(self.answer.get("complete", True)) and not self.answer.get("interrupted", False)

    def _shape(self) -> tuple[dict[str, Any], Any]:
        """The axes of a product with their values, and the place of each point in it; nothing if it is none."""
        points = self.points
        names = [name if name in points.columns else f"start_{name}" for name in self._varied]
        if "direction" in points.columns:
            names.insert(0, "direction")
        if not names or any(name not in points.columns for name in names):
            return {}, None
        values, places = {}, []
        for name in names:
            found, first, place = np.unique(points[name], return_index=True, return_inverse=True)
            order = np.argsort(first)
            values[name] = found[order]
            places.append(np.argsort(order)[place.reshape(-1)])
        sizes = [len(v) for v in values.values()]
        # (Samples and lists of many axes would make a product too large to count.)
        if float(np.prod(sizes, dtype=float)) != len(points):
            return {}, None
        flat = np.ravel_multi_index(places, sizes)
        return (values, flat) if len(np.unique(flat)) == len(points) else ({}, None)

    def to_xarray(self) -> xarray.Dataset:
        """The points as a dataset: a dimension for each axis, with units; else one dimension `point`."""
        try:
            import xarray
        except ImportError:
            raise optional("xarray", "datasets", "tables") from None

        points, units, (shape, places) = self.points, self.model.units, self._shape()
        given = {name: {"units": units[name]} if name in units else {} for name in points.columns}
        if not shape:
            own = {name: ("point", points[name], given[name]) for name in points.columns if name != "point"}
            return xarray.Dataset(own, coords={"point": points["point"]})
        sizes = [len(v) for v in shape.values()]
        rest = [name for name in points.columns if name not in shape]
        order = np.argsort(places)
        data = {name: (list(shape), points[name][order].reshape(sizes), given[name]) for name in rest}
        coords = {name: (name, of, given[name]) for name, of in shape.items()}
        return xarray.Dataset(data, coords=coords, attrs={"title": self.model.title})

    def to_parquet(self, directory: str | os.PathLike[str]) -> list[Path]:
        """Writes its tables as Parquet files into a directory."""
        out = Path(directory)
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="saltus-") as scratch:
            whole = Path(scratch) / "whole"
            _saltus.answer(["merge", os.fspath(self.directory), "--out", os.fspath(whole), "--format=parquet", "--json"])
            made = []
            for file in sorted(whole.glob("*.parquet")):
                shutil.copyfile(file, out / file.name)
                made.append(out / file.name)
        return made

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Copies everything to another directory."""
        shutil.copytree(self.directory, directory)

    def plot(self, what: str, against: str | None = None, *, of: str = "points", ax: Axes | None = None, **style: Any) -> Axes:
        """Draws a column of a table over another one; without one, over what was varied first."""
        ax = drawn_in(ax)
        data = self.table(of)
        across = against or (self._varied[0] if self._varied else "point")
        if across not in data.columns and f"start_{across}" in data.columns:
            across = f"start_{across}"
        if across in data.columns:
            x = data[across]
        else:
            x = self.points[across][np.searchsorted(self.points["point"], data["point"])]
        ax.plot(x, data[what], **{"linestyle": "", "marker": ".", "markersize": 2, **style})
        ax.set_xlabel(label(across, self.model.units))
        ax.set_ylabel(label(what, self.model.units))
        return ax

    def _picture(self, ending: str) -> str | None:
        found = [p for p in sorted(self.directory.glob(f"*.{ending}"))]
        return found[0].read_text(encoding="utf-8") if found else None

    def _repr_html_(self) -> str:
        from html import escape

        if not self.is_complete:
            return f"<div><b>{escape(self.model.title)}</b><p>interrupted</p></div>"
        words = ", ".join(f"{n} {word}" for word, n in (self.answer.get("status") or {}).items())
        picture = self._picture("svg")
        shown = f'<div style="max-width:52em">{picture}</div>' if picture else self.points._repr_html_()
        return f"<div><b>{escape(self.model.title)}</b><p>{escape(words)}</p>{shown}</div>"

    def __repr__(self) -> str:
        if not self.is_complete:
            return f"<saltus.Family of {self.model.title!r}: interrupted>"
        return f"<saltus.Family of {self.model.title!r}: {len(self.points)} motions, tables {', '.join(self._tables)}>"
