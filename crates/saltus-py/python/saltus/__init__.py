"""Saltus: mechanical systems that hit things, through any number of impacts.

>>> import saltus
>>> run = saltus.run("ball-gravity", end=2)
>>> run.impacts["t"][:3].round(4).tolist()
[0.4515, 1.174, 1.7519]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _ask, _saltus
from ._ask import Answer
from ._errors import Defect, ModelError, RunError, SaltusError, SaltusWarning, UnknownName
from ._model import Model, as_model, load, run
from ._saltus import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from ._branches import Branch as Branch
    from ._branches import Branches as Branches
    from ._branches import follow as follow
    from ._run import Run as Run
    from ._run import rerun as rerun
    from ._family import Family as Family
    from ._sweep import basins as basins
    from ._sweep import bifurcation as bifurcation
    from ._sweep import merge as merge
    from ._sweep import section as section
    from ._sweep import sweep as sweep
    from ._tables import Table as Table

    Models = Model | str | PathLike[str] | Mapping[str, Any]

#: What needs NumPy is loaded when it is used first.
_LATER = {
    "Branch": "_branches",
    "Branches": "_branches",
    "follow": "_branches",
    "Run": "_run",
    "rerun": "_run",
    "Family": "_family",
    "sweep": "_sweep",
    "merge": "_sweep",
    "bifurcation": "_sweep",
    "section": "_sweep",
    "basins": "_sweep",
    "Table": "_tables",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        from importlib import import_module

        found = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'saltus' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


def models() -> dict[str, str]:
    """The shipped models: their names and titles.

    >>> import saltus
    >>> saltus.models()["oscillator"]
    'Forced oscillator with one stop'
    """
    from re import search

    titles = {name: search(r'^title = "(.*)"', text, 8) for name, text in _saltus.shipped()}
    return {name: found.group(1) if found else name for name, found in titles.items()}


def schemes() -> list[str]:
    """The names of the schemes; docs/schemes.md tells about them."""
    return _saltus.schemes()


def ask(command: str, model: Models, **options: Any) -> Answer:
    """What any command of the command line answers with `--json`, for those that have no function of their own here.

    Options have their long names, with `_` for `-`: True is a switch, a list an option that comes again, numbers are exact.

    >>> import saltus
    >>> saltus.ask("orbit", "oscillator", set=["w=1.1"], tol=1e-9).orbits[0]["stable"]
    True
    """
    return _ask.ask(command, as_model(model), options)


def compare(model: Models, *args: Any, **options: Any) -> Answer:
    """Runs several schemes side by side: see `Model.compare`."""
    return as_model(model).compare(*args, **options)


def converge(model: Models, *args: Any, **options: Any) -> Answer:
    """Measures an order of convergence: see `Model.converge`."""
    return as_model(model).converge(*args, **options)


def check(model: Models, **options: Any) -> Answer:
    """Which theorems cover a model: see `Model.check`."""
    return as_model(model).check(**options)


def equilibria(model: Models, **options: Any) -> Answer:
    """Where a system can rest: see `Model.equilibria`."""
    return as_model(model).equilibria(**options)


def probe(model: Models, *args: Any, **options: Any) -> Answer:
    """Whether slightly different data lead elsewhere: see `Model.probe`."""
    return as_model(model).probe(*args, **options)


def lyapunov(model: Models, **options: Any) -> Answer:
    """The Lyapunov exponents of a motion: see `Model.lyapunov`."""
    return as_model(model).lyapunov(**options)


def orbits(model: Models, **options: Any) -> list[Answer]:
    """Periodic orbits: see `Model.orbits`."""
    return as_model(model).orbits(**options)


__all__ = [
    "Answer",
    "Branch",
    "Branches",
    "Defect",
    "Family",
    "Model",
    "ModelError",
    "Run",
    "RunError",
    "SaltusError",
    "SaltusWarning",
    "Table",
    "UnknownName",
    "__version__",
    "ask",
    "basins",
    "bifurcation",
    "check",
    "compare",
    "converge",
    "equilibria",
    "follow",
    "load",
    "lyapunov",
    "merge",
    "models",
    "orbits",
    "probe",
    "rerun",
    "run",
    "schemes",
    "section",
    "sweep",
]
