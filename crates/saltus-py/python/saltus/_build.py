"""Building a model in Python: each method gives a new model with one thing more, named as in model files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _data
from ._errors import ModelError
from ._text import Number, number

if TYPE_CHECKING:
    from ._model import Model


def _value(name: str, of: Any) -> Any:
    """A number as a number, a text as an expression; checked here, so that the mistake has the caller's name."""
    text = number(name, of)
    return text if isinstance(of, str) else float(text)


def _given(**entries: Any) -> dict[str, Any]:
    return {name.rstrip("_"): of for name, of in entries.items() if of is not None}


class Building:
    """The methods that build a model."""

    if TYPE_CHECKING:

        def _sections(self) -> dict[str, Any]: ...

        def _changed(self, sections: dict[str, Any], data: Mapping[str, bytes] | None = None) -> Model: ...

    def _with(self, section: str, name: str, of: Any, data: Mapping[str, bytes] | None = None) -> Model:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a name is a text, not {name!r}")
        sections = self._sections()
        sections.setdefault(section, {})[name] = of
        return self._changed(sections, data)

    def _listed(self, section: str, entry: dict[str, Any]) -> Model:
        sections = self._sections()
        sections.setdefault(section, []).append(entry)
        return self._changed(sections)

    def parameter(self, name: str, value: Number | Sequence[float], unit: str | None = None) -> Model:
        """A parameter: a number, an expression of other parameters, or a list of numbers for a family."""
        is_list = not isinstance(value, str) and getattr(value, "__len__", None) is not None and getattr(value, "shape", None) != ()
        given = _data.vector(name, value).tolist() if is_list else _value(name, value)
        made = self._with("parameters", name, given)
        return made if unit is None else made.unit(name, unit)

    def coordinate(
        self,
        name: str,
        position: Number | Sequence[float],
        velocity: Number | Sequence[float] = 0,
        unit: str | None = None,
        for_: str | None = None,
    ) -> Model:
        """A coordinate with its start; `for_="i = 1..n"` makes a family of them."""

        def start(what: str, of: Any) -> Any:
            if isinstance(of, (list, tuple)) or getattr(of, "shape", ()) not in ((), (1,)):
                return [_value(what, x) for x in of]
            return _value(what, of)

        entry = _given(for_=for_, position=start(f"the position of {name}", position))
        entry |= _given(velocity=start(f"the velocity of {name}", velocity), unit=unit)
        return self._with("coordinates", name, entry)

    def definition(self, name: str, value: Number, for_: str | None = None) -> Model:
        """A name for an expression of coordinates and velocities."""
        given = _value(name, value)
        return self._with("definitions", name, given if for_ is None else {"for": for_, "value": given})

    def kinetic(self, energy: str) -> Model:
        """The kinetic energy, from which the mass matrix and all inertial forces are derived."""
        return self._with("dynamics", "kinetic", _value("the kinetic energy", energy))

    def mass(self, rows: Sequence[Sequence[Number]]) -> Model:
        """The mass matrix, instead of the kinetic energy: rows of numbers or expressions."""
        given = [[_value("a mass", x) for x in row] for row in rows]
        return self._with("dynamics", "mass", given)

    def potential(self, energy: Number) -> Model:
        """The potential energy."""
        return self._with("dynamics", "potential", _value("the potential energy", energy))

    def force(self, coordinate: str, value: Number, for_: str | None = None) -> Model:
        """A force along a coordinate, besides those of the potential."""
        given = _value(f"the force along {coordinate}", value)
        sections = self._sections()
        forces = sections.setdefault("dynamics", {}).setdefault("force", {})
        forces[coordinate] = given if for_ is None else {"for": for_, "value": given}
        return self._changed(sections)

    def constraint(
        self,
        name: str,
        gap: Number | None = None,
        restitution: Number | None = None,
        *,
        friction: Number | None = None,
        slip: str | Sequence[str] | None = None,
        static: Number | None = None,
        tangential: Number | None = None,
        point: str | None = None,
        within: Number | None = None,
        stiffness: Number | None = None,
        slide: str | None = None,
        for_: str | None = None,
    ) -> Model:
        """An obstacle: `gap` must stay ≥ 0. Or a guide: the `point` of a structure stays `within` a distance of zero.

        `restitution` is in [0, 1]; without, that of `Model.restitution`. `friction` is Coulomb's coefficient, with the `slip` velocity (two
        in space); `stiffness` makes a spring of the stop of a structure.
        """
        entry = _given(name=name, for_=for_, gap=gap, restitution=restitution, friction=friction, slip=slip, static_=static)
        entry |= _given(tangential=tangential, point=point, within=within, stiffness=stiffness, slide=slide)
        for what in ("gap", "restitution", "friction", "static", "tangential", "within", "stiffness"):
            if what in entry:
                entry[what] = _value(f"the {what} of {name}", entry[what])
        return self._listed("constraint", entry)

    def restitution(self, e: Number) -> Model:
        """The restitution coefficient of all constraints that have none of their own."""
        return self._with("impact", "restitution", _value("restitution", e))

    def joint(self, name: str, equation: str | Sequence[str], for_: str | None = None) -> Model:
        """Equations that hold at all times."""
        return self._listed("joint", _given(name=name, for_=for_, equation=equation))

    def friction(self, name: str, slip: str, limit: Number, static: Number | None = None, for_: str | None = None) -> Model:
        """Dry friction of a known limit against a slip velocity."""
        entry = _given(name=name, for_=for_, slip=slip, limit=limit, static_=static)
        return self._listed("friction", {k: v if k in ("name", "for") else _value(k, v) for k, v in entry.items()})

    def state(self, name: str, start: Number, rate: Number, unit: str | None = None, for_: str | None = None) -> Model:
        """A first-order state: a pressure, a temperature, a voltage."""
        entry = _given(for_=for_, start=_value(f"the start of {name}", start), rate=_value(f"the rate of {name}", rate), unit=unit)
        return self._with("states", name, entry)

    def event(self, name: str, value: Number, crossing: str = "both") -> Model:
        """An event of one's own: where an expression crosses zero, `"up"`, `"down"` or `"both"`."""
        return self._listed("event", {"name": name, "value": _value(name, value), "crossing": crossing})

    def unit(self, of: str, unit: str) -> Model:
        """The unit of a coordinate, a state, a parameter, or of time, length, force, impulse, energy."""
        return self._with("units", of, unit)

    def input(self, name: str, t: Any, y: Any, outside: str = "hold") -> Model:
        """A sampled function of time from two arrays, used as `name(t)`; beyond its data it holds its end values, or is `"zero"`.

        >>> import saltus
        >>> cart = (
        ...     saltus.Model("cart").coordinate("x", 0).kinetic("x'^2/2")
        ...     .input("u", [0, 1, 2], [0, 1, 0], outside="zero").force("x", "u(t)")
        ... )
        >>> round(float(cart.run(end=2)["x"][-1]), 9)
        1.0
        """
        file = f"{name}.csv"
        return self._with("inputs", name, {"file": file, "outside": outside}, {file: _data.samples(name, t, y)})

    def matrices(
        self,
        mass: Any,
        stiffness: Any,
        damping: Any = None,
        direction: str | Sequence[int] | Mapping[str, int] | None = None,
    ) -> Model:
        """A structure of matrices: SciPy's sparse ones, or arrays.

        `damping` is a matrix, or `{"rayleigh": [a, b]}`, `{"ratio": 0.02, "between": [f1, f2]}` (Hz), `{"modal": 0.02}`. `direction` says which
        degrees of freedom move with the base: `"all"`, a list counted from 1, or `{"first": 1, "every": 3}`.

        >>> import numpy as np, saltus
        >>> n = 20
        >>> bar = (
        ...     saltus.Model("bar against a wall")
        ...     .matrices(np.eye(n), 400 * (2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)), {"modal": 0.01})
        ...     .point("middle", index=10).load("middle", "5*sin(t)").constraint("wall", "0.02 - middle", 0)
        ... )
        >>> len(bar.run(end=10, step=1e-2).contacts) > 0
        True
        """
        sections = self._sections()
        data: dict[str, bytes] = {}
        given: dict[str, Any] = {"mass": mass, "stiffness": stiffness}
        entry: dict[str, Any] = {}
        if damping is not None and not isinstance(damping, Mapping):
            given["damping"] = damping
        elif damping is not None:
            entry["damping"] = dict(damping)
        sizes = {}
        for what, of in given.items():
            content, sizes[what] = _data.matrix(f"the {what} matrix", of)
            data[f"{what}.npz"] = content
            entry[what] = f"{what}.npz"
        if len(set(sizes.values())) > 1:
            shown = ", ".join(f"{what} {n} × {n}" for what, n in sizes.items())
            raise ModelError(f"the matrices of a structure are of one size, these are not: {shown}")
        if direction is not None:
            is_list = not isinstance(direction, (str, Mapping))
            entry["direction"] = [int(i) for i in direction] if is_list else direction
        sections["structure"] = entry
        sections["_size"] = sizes["mass"]
        return self._changed(sections, data)

    def point(self, name: str, *, index: int | None = None, **place: Any) -> Model:
        """A place of a structure that is observed, loaded or stopped.

        `index` is a row of the matrices, counted from 0 (or from the end, if negative) as in Python; else as in model files: `dof=` counted
        from 1, `x=`, `rotation=`, `floor=`, `from_=` and `to=`, with several parts `of=`.
        """
        entry = {k.rstrip("_"): v for k, v in place.items()}
        if index is not None:
            size = self._sections().get("_size")
            if size is None:
                raise ModelError(f"`index` counts the rows of matrices: give them first, with .matrices(…); or dof= for `{name}`")
            if not hasattr(index, "__index__") or isinstance(index, bool) or not -size <= index < size:
                raise ModelError(f"there is no row {index!r}: the matrices have {size} rows, counted from 0")
            entry["dof"] = int(index) % size + 1
        if not entry:
            raise ModelError(f"where is the point `{name}`?  give index=, dof=, x=, floor= or rotation=")
        return self._with("points", name, entry)

    def load(self, point: str, force: Number) -> Model:
        """A force at a point of a structure."""
        return self._with("loads", point, _value(f"the load at {point}", force))

    def base(self, acceleration: Number) -> Model:
        """The acceleration of the base of a structure."""
        return self._with("base", "acceleration", _value("the acceleration of the base", acceleration))

    def defaults(self, **run: Any) -> Model:
        """What runs are by default: `end`, `step`, `scheme`, `tolerance`, …."""
        sections = self._sections()
        sections.setdefault("run", {}).update(run)
        return self._changed(sections)
