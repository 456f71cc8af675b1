"""Columns by the names of what they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from ._errors import unknown

Floats = NDArray[np.float64]


class ByName(Mapping[str, Floats]):
    """The columns of an array by the names of what they stand for."""

    def __init__(self, what: str, names: list[str], array: Floats) -> None:
        self._what, self._names, self._array = what, names, array

    def __getitem__(self, name: str) -> Floats:
        if name not in self._names:
            raise unknown(self._what, name, self._names)
        column: Floats = self._array[..., self._names.index(name)]
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{self._what}s: {', '.join(self._names)}>"


class States(Mapping[str, Floats]):
    """The motion at given times: `q`, `v` and `z`, by name `["x"]` and `["x'"]`."""

    def __init__(self, t: Floats, q: Floats, v: Floats, z: Floats, names: dict[str, list[str]]) -> None:
        self.t, self.q, self.v, self.z, self._names = t, q, v, z, names

    def __getitem__(self, name: str) -> Floats:
        coordinates, states = self._names["coordinates"], self._names["states"]
        found: Floats
        if name in coordinates:
            found = self.q[..., coordinates.index(name)]
        elif name.endswith("'") and name[:-1] in coordinates:
            found = self.v[..., coordinates.index(name[:-1])]
        elif name in states:
            found = self.z[..., states.index(name)]
        else:
            raise unknown("coordinate or state", name, list(self))
        return found

    def __iter__(self) -> Iterator[str]:
        coordinates = self._names["coordinates"]
        return iter([*coordinates, *(f"{c}'" for c in coordinates), *self._names["states"]])

    def __len__(self) -> int:
        return 2 * len(self._names["coordinates"]) + len(self._names["states"])

    def __repr__(self) -> str:
        return "<motion: " + ", ".join(f"{name} = {self[name]}" for name in self) + ">"
