"""The commands of the command line, asked in this process: their words are made here, their answers are dictionaries."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _saltus, _text
from ._errors import ModelError, SaltusWarning
from ._progress import Bar, Progress

if TYPE_CHECKING:
    from ._model import Model


class Answer(dict[str, Any]):
    """What a command answers: a dictionary, whose entries are attributes too."""

    def __getattr__(self, name: str) -> Any:
        try:
            found = self[name]
        except KeyError:
            from ._errors import unknown

            raise AttributeError(str(unknown("entry", name, list(self)))) from None
        return Answer(found) if type(found) is dict else found

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def words(command: str, model: Model, options: Mapping[str, Any]) -> list[str]:
    """A command line. Nothing and False are left out, True is a switch, a list is an option that comes again, numbers are exact."""
    name = model._core.name
    if name.startswith("-"):
        raise ModelError(f"a model cannot be called {name!r}: that would be an option")
    made = [command]
    for option, of in options.items():
        flag = "--" + option.replace("_", "-")
        if of is None or of is False:
            continue
        if of is True:
            made.append(flag)
            continue
        for value in of if isinstance(of, list) else [of]:
            text = value if isinstance(value, str) else str(value) if isinstance(value, int) else _text.number(option, value)
            made.append(f"{flag}={text}")
    return [*made, "--", name]


def changes(set: Mapping[str, Any] | None, start: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Parameters and initial values as options."""
    return {
        "set": [f"{name}={of}" for name, of in _text.pairs("set", set)],
        "start": [f"{name}={of}" for name, of in _text.pairs("start", start)],
    }


def settings(options: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Settings of the schemes as options; others are unknown."""
    for name in options:
        if name not in known:
            from ._errors import unknown

            raise unknown("option", name, list(known))
    return {name: _text.number(name, of) for name, of in options.items() if of is not None}


#: The settings of the schemes, as the command line has them.
SETTINGS = ["tol", "forcing", "rebound", "theta", "activation", "stiffness", "penetration", "modes"]


def ask(command: str, model: Model, options: Mapping[str, Any], progress: Progress = None) -> Answer:
    """What a command answers about a model."""
    from json import loads

    bar = Bar(progress, f"{command} {model.title}")
    try:
        text, interrupted = _saltus.answer(
            words(command, model, {**options, "json": True}), model._core, bar.counted if bar.is_wanted else None
        )
    finally:
        bar.close()
    answer = Answer(loads(text)) if text.strip() else Answer()
    if interrupted and "error" in answer:
        raise KeyboardInterrupt
    if interrupted:
        answer["interrupted"] = True
        warnings.warn(f"{command}: interrupted; the answer has what was computed", SaltusWarning, stacklevel=4)
    return answer
