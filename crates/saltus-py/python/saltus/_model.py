"""Models: files, shipped ones, texts, dictionaries, or built step by step."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _saltus, _text
from ._analysis import Analyses
from ._build import Building
from ._errors import ModelError, UnknownName, unknown
from ._progress import Bar, Progress
from ._text import Number

if TYPE_CHECKING:
    from ._branches import Branches
    from ._family import Family
    from ._run import Run

Path = str | os.PathLike[str]


class Model(Building, Analyses):
    """A mechanical system that hits things.

    Built step by step, each method giving a new model:

    >>> import saltus
    >>> ball = (
    ...     saltus.Model("Ball dropped on a floor")
    ...     .parameter("e", 0.5)
    ...     .coordinate("y", 1)
    ...     .kinetic("y'^2/2")
    ...     .potential("9.81*y")
    ...     .constraint("floor", "y", restitution="e")
    ... )
    >>> run = ball.run(end=2)
    >>> round(float(run.impacts["t"][0]), 7)
    0.4515236

    Numbers are numbers; texts are expressions, as in model files. `saltus.load` reads a file or a shipped model, `Model.parse` a
    text, `Model.from_dict` a dictionary with the sections of a model file.
    """

    def __init__(self, title: str = "Untitled model") -> None:
        if not isinstance(title, str):
            raise ModelError(f"the title of a model is a text, not {title!r}; saltus.load reads files and shipped models")
        self._tree: dict[str, Any] | None = {"title": title}
        self._data: dict[str, bytes] = {}
        self._compiled: _saltus.Core | None = None
        self._label: str | None = None

    @classmethod
    def _of(cls, core: _saltus.Core, data: Mapping[str, bytes] | None = None) -> Model:
        model = cls.__new__(cls)
        model._tree, model._data, model._compiled, model._label = None, dict(data or {}), core, core.name
        return model

    @classmethod
    def parse(cls, text: str, name: str = "model", data: Mapping[str, bytes] | None = None, base: Path = "") -> Model:
        """A model text (TOML). `data` are the contents of the files that it names; `base` is the directory of others.

        >>> import saltus
        >>> text = saltus.load("ball-gravity").text
        >>> saltus.Model.parse(text).title
        'Ball dropped on a floor'
        """
        if not isinstance(text, str):
            raise ModelError(f"a model text is a text, not {type(text).__name__}")
        files = [(str(name), bytes(of)) for name, of in (data or {}).items()]
        return cls._of(_saltus.Core.parsed(str(name), text, files, os.fspath(base)), dict(files))

    @classmethod
    def from_dict(cls, sections: Mapping[str, Any], name: str | None = None, data: Mapping[str, bytes] | None = None) -> Model:
        """A dictionary with the sections of a model file.

        >>> import saltus
        >>> ball = saltus.Model.from_dict({
        ...     "title": "Ball",
        ...     "coordinates": {"y": {"position": 1}},
        ...     "dynamics": {"kinetic": "y'^2/2", "potential": "9.81*y"},
        ...     "constraint": [{"name": "floor", "gap": "y", "restitution": 0.8}],
        ... })
        >>> ball.coordinates
        ['y']
        """
        text = _text.toml(sections)
        return cls.parse(text, name or str(sections.get("title") or "model"), data)

    @property
    def _core(self) -> _saltus.Core:
        if self._compiled is None:
            tree = self._tree or {}
            title = str(tree.get("title", "model"))
            if len(tree) == 1 and any(name == title for name, _ in _saltus.shipped()):
                raise ModelError(f"the model `{title}` is empty: saltus.load({title!r}) is the shipped one of that name")
            text = _text.toml(tree)
            self._compiled = _saltus.Core.parsed(self._label or title, text, list(self._data.items()), "")
        return self._compiled

    def _sections(self) -> dict[str, Any]:
        """A copy of its sections, to be changed."""
        from copy import deepcopy

        if self._tree is None:
            import tomllib

            return tomllib.loads(self._core.text)
        return deepcopy(self._tree)

    def _changed(self, sections: dict[str, Any], data: Mapping[str, bytes] | None = None) -> Model:
        model = type(self).__new__(type(self))
        files = dict(self._data) if self._tree is not None else dict(self._core.data())
        model._tree, model._data = sections, {**files, **(data or {})}
        model._compiled, model._label = None, self._label
        return model

    # What it is.

    @property
    def name(self) -> str:
        """What it is called: its file, its shipped name, or its title."""
        return self._core.name

    @property
    def title(self) -> str:
        """Its title."""
        return self._core.title

    @property
    def text(self) -> str:
        """The text of its model file."""
        return self._core.text if self._tree is None else _text.toml(self._tree)

    def to_dict(self) -> dict[str, Any]:
        """Its sections, as in a model file."""
        return self._sections()

    @property
    def is_structure(self) -> bool:
        """Whether it is a structure: constant matrices, loads, stops."""
        return self._core.is_structure

    @property
    def parameters(self) -> dict[str, float]:
        """Its parameters with their values."""
        return dict(self._core.facts([])[0])

    def _names(self, what: str) -> list[str]:
        return dict(self._core.facts([])[1])[what]

    @property
    def coordinates(self) -> list[str]:
        """The names of its coordinates; for a structure, of its points."""
        return self._names("coordinates")

    @property
    def states(self) -> list[str]:
        """The names of its first-order states."""
        return self._names("states")

    @property
    def constraints(self) -> list[str]:
        """The names of its constraints."""
        return self._names("constraints")

    @property
    def units(self) -> dict[str, str]:
        """The units that it gives; `t` is the time."""
        return dict(self._core.facts([])[2])

    def save(self, path: Path) -> None:
        """Writes its model file, and the data files that it names beside it."""
        directory = os.path.dirname(os.path.abspath(path))
        for name, content in self._core.data():
            target = os.path.join(directory, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
        with open(path, "w", encoding="utf-8") as text:
            text.write(self.text)

    def __repr__(self) -> str:
        title = self._tree.get("title") if self._tree is not None else self._core.title
        return f"<saltus.Model {title!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self._core.name, self.text, dict(self._core.data())))

    # What it does. (Families are functions as well: `saltus.sweep(model, …)`.)

    def sweep(self, over: Mapping[str, Any] | None = None, **options: Any) -> Family:
        """Runs a family of motions: see `saltus.sweep`."""
        from ._sweep import sweep

        return sweep(self, over, **options)

    def bifurcation(self, over: Mapping[str, Any], **options: Any) -> Family:
        """A bifurcation diagram, or a map: see `saltus.bifurcation`."""
        from ._sweep import bifurcation

        return bifurcation(self, over, **options)

    def section(self, **options: Any) -> Family:
        """A Poincaré section: see `saltus.section`."""
        from ._sweep import section

        return section(self, **options)

    def basins(self, start: Mapping[str, Any], **options: Any) -> Family:
        """Attractors and the starts that lead to them: see `saltus.basins`."""
        from ._sweep import basins

        return basins(self, start, **options)

    def follow(self, over: Mapping[str, tuple[Number, Number]], **options: Any) -> Branches:
        """Follows its periodic orbits, or its equilibria, over a parameter: see `saltus.follow`."""
        from ._branches import follow

        return follow(self, over, **options)

    def run(
        self,
        end: Number | None = None,
        *,
        set: Mapping[str, Number] | None = None,
        start: Mapping[str, Number] | Run | None = None,
        scheme: str | None = None,
        tol: Number | None = None,
        step: Number | None = None,
        every: int | None = None,
        until_rest: bool = False,
        assemble: bool = False,
        modes: int | str | None = None,
        residual: bool = False,
        observe: Sequence[str] = (),
        rest: Number | None = None,
        penetration: float | None = None,
        check: bool = True,
        progress: Progress = None,
        **settings: Number,
    ) -> Run:
        """Runs it to an end time. What is not given is as the model says.

        `set` replaces parameters, `start` initial values (`"x"`, `"x'"`, a state, or `"t"`); or `start` is a run, whose last state is
        continued. `scheme` is one of `saltus.schemes()`, by default `"auto"`, which locates impacts, with the relative tolerance `tol`.
        `step` is the step of a time-stepping scheme; by events, the interval at which instants are stored. Settings of the schemes are
        keywords: `theta=0.6`.

        The interpreter is released meanwhile. Ctrl-C ends the run, which keeps what it has: its status is then `"interrupted"`. A run
        that fails raises `RunError`, with what was computed in its `run`; with `check=False` it is returned.

        >>> import saltus
        >>> run = saltus.load("oscillator").run(end=30, set={"w": 1.1, "A": "2*c"}, start={"x'": 0.5}, tol=1e-9)
        >>> run.status
        'finished'
        """
        # (A short run takes less than a millisecond: what is done here is kept short too.)
        runs = _runs or _load_runs()
        if every is not None:
            every = _text_whole("every", every)
        begin: list[tuple[str, str]] = []
        after: _saltus.Motion | None = None
        if start is not None:
            if isinstance(start, runs.Run):
                after = start._motion
            else:
                begin = _text.pairs("start", cast("Mapping[str, Any]", start))
        wanted: list[tuple[str, str]] = []
        if end is not None:
            wanted.append(("end", _text.number("end", end)))
        if step is not None:
            wanted.append(("step", _text.number("step", step)))
        if tol is not None:
            wanted.append(("tolerance", _text.number("tolerance", tol)))
        if modes is not None:
            wanted.append(("modes", _text.number("modes", modes)))
        if rest is not None:
            wanted.append(("rest", _text.number("rest", rest)))
        for name, of in settings.items():
            if isinstance(of, Mapping):
                raise unknown("option", name, ["set", "start", "end", "step", "tol", "scheme"])
            wanted.append((name, _text.number(name, of)))
        if penetration is not None:
            penetration = float(_text.number("penetration", penetration))
        places = [observe] if isinstance(observe, str) else list(observe)
        changed = _text.pairs("set", set) if set is not None else []
        bar = None if progress is False else Bar(progress, self)
        told = None if bar is None else bar.share
        core = self._compiled or self._core
        try:
            motion = core.run(
                changed, begin, wanted, scheme, every, until_rest, residual, penetration, places, assemble, after, told
            )
        except UnknownName:
            misplaced = [name for name in settings if name in self.parameters]
            if misplaced:
                raise ModelError(f"`{misplaced[0]}` is a parameter of the model: give  set={{{misplaced[0]!r}: …}}") from None
            raise
        finally:
            if bar is not None:
                bar.close()
        run: Run = runs.Run(self, motion)
        return run if motion.is_finished else runs.verdict(run, check)


_runs: Any = None


def _load_runs() -> Any:
    """What needs NumPy, loaded with the first run."""
    global _runs
    from . import _run

    _runs = _run
    return _run


def _text_whole(name: str, of: Any) -> int:
    if isinstance(of, bool) or not hasattr(of, "__index__") or of.__index__() < 1:
        raise ModelError(f"`{name}` must be a positive whole number, not {of!r}")
    return int(of.__index__())


def _again(name: str, text: str, data: dict[str, bytes]) -> Model:
    return Model.parse(text, name, data)


def load(word: Path) -> Model:
    """A model file, or a shipped model by its name (see `saltus.models()`).

    >>> import saltus
    >>> saltus.load("oscillator").parameters["w"]
    1.0
    """
    if not isinstance(word, (str, os.PathLike)):
        raise ModelError(f"saltus.load takes a file or the name of a shipped model, not {word!r}")
    return Model._of(_saltus.Core.named(os.fspath(word)))


def as_model(of: Model | Path | Mapping[str, Any]) -> Model:
    """A model, the file or the name of one, or its sections."""
    if isinstance(of, Model):
        return of
    if isinstance(of, Mapping):
        return Model.from_dict(of)
    if isinstance(of, str) and "\n" in of:
        return Model.parse(of)
    return load(of)


def run(model: Model | Path | Mapping[str, Any], end: Number | None = None, **options: Any) -> Run:
    """Runs a model, a model file, or a shipped model: see `Model.run`.

    >>> import saltus
    >>> run = saltus.run("ball-gravity", end=2, set={"e": 0.5})
    >>> len(run.impacts)
    17
    """
    return as_model(model).run(end, **options)


__all__ = ["Model", "as_model", "load", "run"]
