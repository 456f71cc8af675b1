"""What a family is varied over, as the command line writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _data
from ._errors import ModelError
from ._text import number

#: A range `(first, last, how many)`, the values themselves, or a text as on the command line: `"log:0.1:10:50"`.
Axis = Any


def axis(name: str, of: Axis) -> str:
    """An axis: `w=0.5:1.5:500`, or `w=` and its values."""
    if isinstance(of, str):
        return f"{name}={of}"
    if isinstance(of, tuple):
        if len(of) != 3 or isinstance(of[2], bool) or not hasattr(of[2], "__index__"):
            raise ModelError(
                f"the axis `{name}` is a range (first, last, how many) with a whole number of values, or a list of values, not {of!r}"
            )
        if int(of[2]) < 1:
            raise ModelError(f"the axis `{name}` needs one value at least, not {of[2]}")
        return f"{name}={number(name, of[0])}:{number(name, of[1])}:{int(of[2])}"
    if isinstance(of, (int, float)) or getattr(of, "shape", None) == ():
        return f"{name}={number(name, of)}"
    values = _data.vector(f"the axis {name}", of)
    if values.size == 0:
        raise ModelError(f"the axis `{name}` has no values")
    return f"{name}=" + ",".join(map(repr, values.tolist()))


def axes(what: str, of: Mapping[str, Axis] | None) -> list[str]:
    """Axes by name; the first varies slowest."""
    if of is None:
        return []
    if not isinstance(of, Mapping):
        raise ModelError(f"`{what}` is a dictionary of names and axes, such as {what}={{'w': (0.5, 1.5, 500)}}, not {of!r}")
    return [axis(str(name), values) for name, values in of.items()]


def listed(points: Any) -> str:
    """Points one by one, from a dictionary of arrays or a data frame, as a table."""
    import numpy as np

    names = [str(name) for name in (points.columns if hasattr(points, "columns") else points)]
    if not names:
        raise ModelError("`points` has no names: give a dictionary of arrays of one length")
    columns = [_data.vector(f"points: {name}", points[name]) for name in names]
    if len({column.size for column in columns}) > 1:
        shown = ", ".join(f"{name} {column.size}" for name, column in zip(names, columns))
        raise ModelError(f"the columns of `points` have one length, these have not: {shown}")
    if columns[0].size == 0:
        raise ModelError("`points` has no points")
    rows = np.stack(columns, axis=1).tolist()
    return ",".join(names) + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in rows)
