"""What can be asked of a model besides a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from ._ask import SETTINGS, Answer, ask, changes, settings
from ._errors import ModelError
from ._progress import Progress
from ._text import Number, number

if TYPE_CHECKING:
    from ._model import Model

Values = Mapping[str, Number]


def _text(name: str, of: Any) -> str | None:
    return None if of is None else number(name, of)


class Analyses:
    """The commands that answer with a few numbers and sentences."""

    def _ask(self, command: str, options: Mapping[str, Any], progress: Progress) -> Answer:
        return ask(command, cast("Model", self), options, progress)

    def compare(
        self,
        schemes: Sequence[str] | None = None,
        *,
        end: Number | None = None,
        step: Number | None = None,
        steps: Sequence[float] | None = None,
        set: Values | None = None,
        start: Values | None = None,
        assemble: bool = False,
        progress: Progress = None,
        **options: Number,
    ) -> Answer:
        """Runs several schemes side by side: which agree, and which do not.

        >>> import saltus
        >>> found = saltus.load("ball").compare(["auto", "mabrouk"], step=1e-3)
        >>> found.agree
        [['auto', 'mabrouk']]
        """
        if isinstance(schemes, str):
            schemes = [schemes]
        given = {
            "schemes": ",".join(schemes) if schemes else None,
            "end": _text("end", end),
            "step": _text("step", step),
            "steps": ",".join(number("steps", h) for h in steps) if steps is not None else None,
            "assemble": assemble,
            **changes(set, start),
            **settings(options, SETTINGS),
        }
        return self._ask("compare", given, progress)

    def converge(
        self,
        scheme: str | None = None,
        *,
        step: Number | None = None,
        end: Number | None = None,
        levels: int | None = None,
        ratio: float | None = None,
        over: str | None = None,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
        **options: Number,
    ) -> Answer:
        """Measures the order of convergence of a time-stepping scheme, with ever smaller steps.

        >>> import saltus
        >>> found = saltus.load("ball").converge("mabrouk", step=1e-2, levels=4)
        >>> found.scheme, len(found.levels)
        ('mabrouk', 4)
        """
        given = {
            "scheme": scheme,
            "step": _text("step", step),
            "end": _text("end", end),
            "levels": levels,
            "ratio": ratio,
            "over": over,
            **changes(set, start),
            **settings(options, SETTINGS),
        }
        return self._ask("converge", given, progress)

    def check(
        self,
        *,
        end: Number | None = None,
        effort: int | None = None,
        seed: int | None = None,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
    ) -> Answer:
        """Which theorems cover the model, and what was found about its data, its gaps and its forces.

        >>> import saltus
        >>> [t["scheme"] for t in saltus.load("oscillator").check().theorems if t["covers"]][:2]
        ['paoli-schatzman', 'paoli-schatzman']
        """
        given = {"end": _text("end", end), "effort": effort, "seed": seed, **changes(set, start)}
        return self._ask("check", given, progress)

    def equilibria(
        self,
        *,
        time: float | None = None,
        effort: int | None = None,
        seed: int | None = None,
        assemble: bool = False,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
    ) -> Answer:
        """Where the system can rest, with reactions and stability.

        >>> import saltus
        >>> [e["stability"] for e in saltus.load("ball-gravity").equilibria().equilibria]
        ['stable']
        """
        given = {"time": time, "effort": effort, "seed": seed, "assemble": assemble, **changes(set, start)}
        return self._ask("equilibria", given, progress)

    def probe(
        self,
        starts: int = 20,
        *,
        size: float = 1e-6,
        seed: int = 1,
        end: Number | None = None,
        scheme: str | None = None,
        step: Number | None = None,
        tol: Number | None = None,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
    ) -> Answer:
        """Runs perturbed starts: do slightly different data lead elsewhere?

        >>> import saltus
        >>> saltus.load("oscillator").probe(4, end=30).splits
        False
        """
        given = {
            "probe": starts,
            "probe_size": size,
            "seed": seed,
            "end": _text("end", end),
            "scheme": scheme,
            "step": _text("step", step),
            "tol": _text("tol", tol),
            **changes(set, start),
        }
        found = self._ask("run", given, progress)
        if "probe" not in found:
            raise ModelError(f"the run itself did not finish: {found.get('message', '')}")
        return Answer(found["probe"])

    def sensitivity(
        self,
        by: str | Sequence[str],
        *,
        of: str | Sequence[str] = (),
        end: Number | None = None,
        tol: Number | None = None,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
    ) -> Answer:
        """The derivatives of the final state, and of the expressions `of`, by parameters or starts, through all impacts.

        >>> import saltus
        >>> found = saltus.load("ball-gravity").sensitivity("e", end=1)
        >>> round(found.by["e"]["y"], 6)
        2.429447
        """
        given = {
            "sensitivity": [by] if isinstance(by, str) else list(by),
            "quantity": [of] if isinstance(of, str) else list(of),
            "end": _text("end", end),
            "tol": _text("tol", tol),
            **changes(set, start),
        }
        found = self._ask("run", given, progress)
        return Answer(found["sensitivity"])

    def lyapunov(
        self,
        *,
        transient: int = 200,
        periods: int = 1000,
        period: Number | None = None,
        tol: float | None = None,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
    ) -> Answer:
        """The Lyapunov exponents of the motion, all of them, with their errors.

        >>> import saltus
        >>> found = saltus.load("oscillator").lyapunov(transient=20, periods=50)
        >>> found.kind, round(found.exponents[0]["value"], 6)
        ('periodic', -0.085514)
        """
        given = {"transient": transient, "periods": periods, "period": _text("period", period), "tol": tol, **changes(set, start)}
        return self._ask("lyapunov", given, progress)

    def orbits(
        self,
        *,
        starts: int | None = None,
        multiple: int | None = None,
        period: Number | None = None,
        transient: int | None = None,
        seed: int | None = None,
        tol: Number | None = None,
        set: Values | None = None,
        start: Values | None = None,
        progress: Progress = None,
    ) -> list[Answer]:
        """Periodic orbits with their multipliers; with `starts`, all distinct ones that so many random starts lead to.

        >>> import saltus
        >>> [(o.multiple, o.stable) for o in saltus.load("oscillator").orbits()]
        [(1, True)]
        """
        given = {
            "starts": starts,
            "multiple": multiple,
            "period": _text("period", period),
            "transient": transient,
            "seed": seed,
            "tol": _text("tol", tol),
            **changes(set, start),
        }
        return [Answer(orbit) for orbit in self._ask("orbit", given, progress)["orbits"]]
