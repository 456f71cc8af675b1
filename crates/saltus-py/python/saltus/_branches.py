"""Branches of periodic orbits and of equilibria, followed over a parameter."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._ask import Answer, ask, changes
from ._errors import ModelError, RunError, unknown
from ._looks import axes as drawn_in
from ._looks import label
from ._model import Model, as_model
from ._named import Floats
from ._progress import Progress
from ._scratch import Scratch
from ._tables import Table, saved
from ._text import Number, number

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ._sweep import Models

#: How special points are drawn.
_MARKS = {"fold": "s", "doubling": "D", "torus": "*", "branch": "X", "grazing": "o", "hopf": "*", "change": "^"}


class Branch:
    """One branch: its orbits in order, by columns, and the special points on it.

    >>> import saltus
    >>> branch = saltus.load("oscillator").follow({"w": (1, 1.3)}, direction="up", simulate=0)[0]
    >>> float(branch["w"].min()), float(branch["w"].max()), bool(branch.stable.all())
    (1.0, 1.3, True)
    """

    def __init__(self, of: Branches, answer: Answer, points: Table, special: Table) -> None:
        self._of, self.answer = of, answer
        self.points, self.special = points, special

    @property
    def number(self) -> int:
        """Its number, from 1."""
        return int(self.answer["branch"])

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        return str(self.answer["from"])

    @property
    def end(self) -> str:
        """Why it ends, in words."""
        return str(self.answer.get("end", ""))

    def __getitem__(self, name: str) -> Any:
        """A column: the parameter, `"period"`, `"start_x"`, what is shown of an orbit, …."""
        return self.points[name]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def values(self) -> Floats:
        """The values of the parameter."""
        found: Floats = self.points[self._of.parameters[0]]
        return found

    @property
    def stable(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which orbits are stable."""
        found: np.ndarray[Any, np.dtype[np.bool_]] = self.points["stability"] == "stable"
        return found

    @property
    def multipliers(self) -> np.ndarray[Any, np.dtype[np.complex128]]:
        """The multipliers of each orbit (of an equilibrium, its eigenvalues), one row each."""
        names = self.points.columns
        count = sum(name.startswith("multiplier_") and name.endswith("_re") for name in names)
        found = np.empty((len(self.points), count), dtype=np.complex128)
        for k in range(count):
            found[:, k].real = self.points[f"multiplier_{k + 1}_re"]
            found[:, k].imag = self.points[f"multiplier_{k + 1}_im"]
        return found

    def to_pandas(self) -> pandas.DataFrame:
        """Its orbits as a data frame."""
        return self.points.to_pandas()

    def run(self, k: int, periods: int = 1, **options: Any) -> Any:
        """Runs orbit number `k` for some periods: see `Model.run`. An orbit that is not stable is left after some of them."""
        row = self.points[k : k + 1] if k >= 0 else self.points[len(self) + k : len(self) + k + 1]
        if len(row) == 0:
            raise ModelError(f"there is no orbit {k}: the branch has {len(self)}")
        one = {name: float(row[name][0]) for name in row.columns if row[name].dtype.kind == "f"}
        start = {name.removeprefix("start_"): of for name, of in one.items() if name.startswith("start_")}
        given = {**self._of._set, **{name: one[name] for name in self._of.parameters}}
        end = one["t"] + periods * one["period"]
        return self._of.model.run(end, set=given, start={**start, "t": one["t"]}, **options)

    def plot(self, what: str | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws a column over the parameter (what is shown of the orbits, if none is given): solid where they are stable, dashed where
        they are not, with a mark at each special point."""
        return self._of._draw([self], what, ax, style)

    def __repr__(self) -> str:
        name = self._of.parameters[-1]
        ends = f"{name} = {self[name][0]:g} … {self[name][-1]:g}" if len(self) else "empty"
        return f"<saltus.Branch {self.number}: {len(self)} points, {ends}, {len(self.special)} special>"


class Branches:
    """Branches that were followed together: a sequence of `Branch`.

    >>> import saltus
    >>> found = saltus.load("oscillator").follow({"w": (1, 1.8)}, direction="up", simulate=0)
    >>> list(zip(found.special["kind"].tolist(), found.special["w"].round(6).tolist()))
    [('fold', 1.750143), ('grazing', 1.410674)]
    """

    def __init__(self, model: Model, directory: Path, answer: Answer, given: Mapping[str, Any], keep: Any = None) -> None:
        self.model, self.directory, self.answer = model, directory, answer
        self._set, self._keep = dict(given), keep
        self.parameters = [str(name) for name in answer["parameters"]]
        #: All orbits, and all special points, of all branches: tables.
        self.points, self.special = saved(directory / "points.npz"), saved(directory / "special.npz")
        self._branches = [self._one(Answer(one)) for one in answer["branches"]]

    def _one(self, answer: Answer) -> Branch:
        def mine(table: Table) -> Table:
            rows: Table = table[table["branch"] == answer["branch"]].view(Table)
            return rows

        return Branch(self, answer, mine(self.points), mine(self.special))

    def __len__(self) -> int:
        return len(self._branches)

    def __getitem__(self, k: int) -> Branch:
        return self._branches[k]

    def __iter__(self) -> Iterator[Branch]:
        return iter(self._branches)

    @property
    def shown(self) -> list[str]:
        """The columns of what is shown of the orbits."""
        head = self._record("head")
        name = str(head[0]["shown"]) if head else "period"
        own = [column for column in self.points.columns if column == name or column.rpartition(" ")[0] == name]
        return own or ["period"]

    @property
    def simulated(self) -> tuple[Floats, Floats]:
        """What simulated motions settled on: values of the parameter, and of what is shown."""
        found = self._record("simulated")
        x, y = (np.array([v for line in found for v in line[name]], dtype=np.float64) for name in "xy")
        return x, y

    def _record(self, what: str) -> list[dict[str, Any]]:
        lines = (self.directory / "branches.jsonl").read_text(encoding="utf-8").splitlines()
        return [line for line in map(json.loads, lines) if line["what"] == what]

    def to_pandas(self) -> pandas.DataFrame:
        """All orbits as a data frame; `branch` is the number of the branch."""
        return self.points.to_pandas()

    def plot(self, what: str | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws all branches, over what simulations settled on: see `Branch.plot`."""
        return self._draw(self._branches, what, ax, style)

    def _draw(self, branches: list[Branch], what: str | None, ax: Axes | None, style: Mapping[str, Any]) -> Axes:
        columns = [what] if what is not None else self.shown
        for column in columns:
            if column not in self.points.columns:
                raise unknown("column", column, self.points.columns)
        ax = drawn_in(ax)
        across = self.parameters[0]
        if len(self.parameters) == 2 and what is None:
            columns = [self.parameters[1]]
        if what is None and len(branches) == len(self) and len(self.parameters) == 1:
            ax.plot(*self.simulated, linestyle="", marker=".", markersize=1.5, color="0.75", zorder=0)
        for branch in branches:
            given = {"linewidth": 1.2, "color": f"C{(branch.number - 1) % 10}", **style}
            for column in columns:
                x, y, stable = branch[across], np.asarray(branch[column], dtype=float), branch.stable
                # (Dashed lines reach to the first stable orbit, so that the curve is not broken where stability changes.)
                dashed = ~stable
                dashed[1:] |= ~stable[:-1]
                dashed[:-1] |= ~stable[1:]
                ax.plot(x, np.where(stable, y, np.nan), **{"linestyle": "-", **given})
                ax.plot(x, np.where(dashed, y, np.nan), **{"linestyle": "--", **given})
                self._mark(ax, branch, column)
        ax.set_xlabel(label(across, self.model.units))
        ax.set_ylabel(label(columns[0] if len(columns) == 1 else columns[0].rpartition(" ")[0], self.model.units))
        return ax

    def _mark(self, ax: Axes, branch: Branch, column: str) -> None:
        special = branch.special
        if column not in special.columns:
            return
        present = set(ax.get_legend_handles_labels()[1])
        for kind in dict.fromkeys(special["kind"].tolist()):
            own = special[special["kind"] == kind].view(Table)
            mark: dict[str, Any] = {"linestyle": "", "marker": _MARKS.get(kind, "o"), "markersize": 5, "color": "0.2", "markerfacecolor": "white"}
            ax.plot(own[self.parameters[0]], own[column], **mark, label=None if kind in present else kind)
        if len(special):
            ax.legend()

    def __repr__(self) -> str:
        return f"<saltus.Branches of {self.model.title!r} over {', '.join(self.parameters)}: {len(self)} branches, {len(self.points)} points>"

    def _repr_html_(self) -> str:
        from html import escape

        picture = (self.directory / "branches.svg").read_text(encoding="utf-8") if (self.directory / "branches.svg").exists() else ""
        return f'<div><b>{escape(self.model.title)}</b><div style="max-width:52em">{picture}</div>{self.special._repr_html_()}</div>'


def _range(name: str, of: Any) -> str:
    if not isinstance(of, (tuple, list)) or len(of) != 2:
        raise ModelError(f"`{name}` is followed over a range (lowest, highest), not {of!r}")
    return f"{name}={number(name, of[0])}:{number(name, of[1])}"


def follow(
    model: Models,
    over: Mapping[str, tuple[Number, Number]],
    *,
    of: str | None = None,
    curve: str | None = None,
    show: str | None = None,
    doublings: int | None = None,
    direction: str | None = None,
    step: float | None = None,
    points: int | None = None,
    period: Number | None = None,
    multiple: int | None = None,
    transient: float | None = None,
    simulate: int | None = None,
    tol: float | None = None,
    set: Mapping[str, Number] | None = None,
    start: Mapping[str, Number] | None = None,
    after: str | os.PathLike[str] | Branches | None = None,
    branch: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Branches:
    """Follows a periodic orbit (`of="equilibria"`: places of rest) over a parameter, stable or not, through folds and grazing.

    `over={"w": (0.5, 2)}` is the parameter and its range. The first orbit is the one that the motion settles on at the model's value (`set`
    gives another). Folds, period doublings, torus and branch points, grazing and changes of contact are located on the way. `show` is what
    is shown of an orbit, `"max(x)"`, `"rms(x)"`, `"speed"`, `"period"`; `doublings` how many times the period may double, `direction`
    `"up"`, `"down"` or `"both"`. With two parameters, `curve="fold"`, `"doubling"` or `"grazing"` follows the curve of such points.
    `after` is what was followed before, or its directory: it goes on from there. docs/continuation.md tells more.

    >>> import saltus
    >>> found = saltus.follow("ball-table", {"G": (1.4, 1.6)}, set={"G": 1.45}, show="speed", direction="up", simulate=0)
    >>> round(float(found.special["G"][0]), 6)                # the period doubles: in closed form at 1.526824
    1.526824
    """
    given = as_model(model)
    if not isinstance(over, Mapping) or not over:
        raise ModelError(f"`over` is a dictionary with a parameter and its range, such as over={{'w': (0.5, 2)}}, not {over!r}")
    keep = Scratch() if out is None else None
    directory = keep.path / "branches" if keep is not None else Path(os.fspath(out or ""))
    options = {
        "over": ",".join(_range(str(name), ends) for name, ends in over.items()),
        "of": of,
        "curve": curve,
        "show": show,
        "doublings": doublings,
        "direction": direction,
        "step": step,
        "points": points,
        "period": None if period is None else number("period", period),
        "multiple": multiple,
        "transient": transient,
        "simulate": simulate,
        "tol": tol,
        "from": None if after is None else os.fspath(after.directory if isinstance(after, Branches) else after),
        "branch": branch,
        "out": os.fspath(directory),
        **changes(set, start),
    }
    answer = ask("continue", given, options, progress)
    if not answer or not (directory / "points.npz").exists():
        raise RunError("follow: interrupted before there was anything to show")
    return Branches(given, directory, answer, set or {}, keep)


__all__ = ["Branch", "Branches", "follow"]
