"""Looking at a run: figures with matplotlib, and what a notebook shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ._scratch import optional

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ._run import Run


def axes(given: Axes | None) -> Axes:
    """The axes to draw in: those given, else new ones."""
    if given is not None:
        return given
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise optional("matplotlib", "figures", "plot") from None
    new: Axes = plt.subplots(layout="constrained")[1]
    return new


def label(name: str, units: dict[str, str]) -> str:
    """A name with its unit."""
    return f"{name} ({units[name]})" if name in units else name


class Looks:
    """The figures of a run."""

    def _curve(self, name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A quantity over time; a velocity with both of its limits where it jumps."""
        run = cast("Run", self)
        import numpy as np

        if name.endswith("'") and name[:-1] in run.coordinates:
            left, right = run.velocity_left[name[:-1]], run.velocity[name[:-1]]
            return np.repeat(run.t, 2), np.stack([left, right], axis=1).reshape(-1)
        return run.t, run[name]

    def plot(self, *names: str, ax: Axes | None = None, impacts: bool = True, **style: Any) -> Axes:
        """Draws coordinates, velocities (`"x'"`) or states over time; without names all coordinates. Impacts are ticks on the axis."""
        run = cast("Run", self)
        ax = axes(ax)
        wanted = names or tuple(run.coordinates[:8])
        for name in wanted:
            ax.plot(*run._curve(name), **{"label": name, "linewidth": 1, **style})
        if impacts and len(run.impacts):
            ax.plot(run.impacts["t"], [0] * len(run.impacts), "|", color="0.4", markersize=8, transform=ax.get_xaxis_transform(), clip_on=False)
        ax.set_xlabel(label("t", run.units))
        if len(wanted) == 1:
            ax.set_ylabel(label(wanted[0], run.units))
        else:
            ax.legend()
        return ax

    def phase(self, name: str | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws velocity over position, with jumps as dashed lines."""
        run = cast("Run", self)
        import numpy as np

        ax = axes(ax)
        name = name or run.coordinates[0]
        x, left, right = run[name], run.velocity_left[name], run.velocity[name]
        jumps = np.flatnonzero(left != right)
        both = np.insert(right, jumps, left[jumps])
        x_both = np.insert(x, jumps, x[jumps])
        cut = jumps + np.arange(len(jumps)) + 1
        line = ax.plot(np.insert(x_both, cut, np.nan), np.insert(both, cut, np.nan), **{"linewidth": 1, **style})[0]
        if len(jumps):
            ax.plot([x[jumps], x[jumps]], [left[jumps], right[jumps]], color=line.get_color(), linewidth=0.6, linestyle=":")
        ax.set_xlabel(label(name, run.units))
        ax.set_ylabel(f"{name}'")
        return ax

    def plot_impacts(self, what: str = "impulse", *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws a column of the impacts over time, one mark each, coloured by the constraint: `"impulse"`, `"approach"`, `"energy_change"`, …."""
        run = cast("Run", self)
        ax = axes(ax)
        hits = run.impacts
        values = hits[what]
        for name in run.constraints:
            own = hits["constraint"] == name
            if own.any():
                ax.plot(hits["t"][own], values[own], **{"linestyle": "", "marker": ".", "label": name, **style})
        if len(run.constraints) > 1 and len(hits):
            ax.legend()
        ax.set_xlabel(label("t", run.units))
        ax.set_ylabel(what.replace("_", " "))
        return ax

    def _repr_html_(self) -> str:
        from ._html import of_run

        return of_run(cast("Run", self))
