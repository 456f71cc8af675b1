"""Tables: structured arrays that know pandas."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _saltus
from ._errors import unknown
from ._scratch import optional

if TYPE_CHECKING:
    import pandas


class Table(np.ndarray[Any, Any]):
    """A structured array of NumPy, one row a record, with its columns by name: `table["t"]`."""

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a data frame of pandas."""
        try:
            import pandas
        except ImportError:
            raise optional("pandas", "data frames", "tables") from None

        return pandas.DataFrame({name: np.asarray(self[name]) for name in self.columns})

    @property
    def columns(self) -> list[str]:
        """The names of its columns."""
        return list(self.dtype.names or ())

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, str) and self.dtype.names is not None:
            if place not in self.dtype.names:
                raise unknown("column", place, list(self.dtype.names))
            return np.asarray(super().__getitem__(place))
        return super().__getitem__(place)

    def __repr__(self) -> str:
        names = self.columns
        if self.ndim != 1 or not names:
            return super().__repr__()
        rows = [[f"{x:.7g}" if isinstance(x, float) else str(x) for x in row] for row in self[:10].tolist()]
        widths = [max(len(row[k]) for row in [names, *rows]) for k in range(len(names))]
        lines = ["  ".join(x.rjust(width) for x, width in zip(row, widths)) for row in [names, *rows]]
        count = f"({len(self)} rows)" if len(self) <= 10 else f"({len(self)} rows, the first 10)"
        return "\n".join([*lines, count])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from html import escape

        if self.ndim != 1 or self.dtype.names is None:
            return f"<pre>{escape(repr(self))}</pre>"
        shown: Callable[[Any], str] = lambda x: f"{x:.8g}" if isinstance(x, float) else escape(str(x))
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns)
        rows = "".join("<tr>" + "".join(f"<td>{shown(x)}</td>" for x in row) + "</tr>" for row in self[:20].tolist())
        more = f"<p>{len(self)} rows, the first 20</p>" if len(self) > 20 else f"<p>{len(self)} rows</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def saved(path: Path) -> Table:
    """A table that the command line wrote (npz)."""
    with np.load(path, allow_pickle=False) as file:
        reasons = file["reasons"].tolist() if "reasons" in file.files else []
        columns = []
        for column in file.files:
            if column == "reasons":
                continue
            cells = file[column]
            if column == "reason" and cells.dtype.kind == "i":
                cells = np.array([reasons[k] if k >= 0 else "" for k in cells.tolist()], dtype=str)
            columns.append((column, cells))
    return table(columns)


def table(columns: Iterable[tuple[str, Any]]) -> Table:
    """A table of named columns; a name that comes twice has a number added."""
    arrays: dict[str, Any] = {}
    for name, cells in columns:
        is_column = isinstance(cells, _saltus.Column)
        array = np.frombuffer(memoryview(cells), dtype=np.float64) if is_column else np.asarray(cells)
        if array.dtype.kind == "O" or (array.size == 0 and isinstance(cells, list)):
            array = np.asarray(cells, dtype="U1")
        k = 2
        unique = name
        while unique in arrays:
            unique, k = f"{name}_{k}", k + 1
        arrays[unique] = array
    rows = len(next(iter(arrays.values()), ()))
    made = np.empty(rows, dtype=[(name, of.dtype) for name, of in arrays.items()])
    for name, of in arrays.items():
        made[name] = of
    return made.view(Table)
