"""The exceptions and warnings of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._run import Run


class SaltusError(Exception):
    """The base of all exceptions of Saltus."""


class ModelError(SaltusError, ValueError):
    """A mistake in a model, or in what is asked of it, with the text that the command line shows.

    >>> import saltus
    >>> try:
    ...     saltus.Model("ball").coordinate("y", 1).kinetic("y'^2/2").potential("G*y").run(end=1)
    ... except saltus.ModelError as mistake:
    ...     print(mistake.message, mistake.line)
    unknown name `G` 8
    """

    #: What is wrong, in one line.
    message: str = ""
    #: What to do about it.
    help: str | None = None
    #: The file or the model in which the mistake is.
    file: str | None = None
    #: The line of the mistake there, from 1.
    line: int | None = None
    #: Its column, from 1.
    column: int | None = None

    def __init__(self, shown: str, message: str | None = None) -> None:
        super().__init__(shown)
        self.message = shown.strip() if message is None else message

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args, self.__dict__)


class UnknownName(ModelError, KeyError):
    """A name that does not exist; the text names the nearest one that does."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class RunError(SaltusError, RuntimeError):
    """A run that failed. What was computed before is in `run`."""

    run: Run | None

    def __init__(self, message: str, run: Run | None = None) -> None:
        super().__init__(message)
        self.run = run

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), self.args)


class Defect(SaltusError, RuntimeError):
    """Something that must not happen, and is a mistake in Saltus itself."""


class SaltusWarning(UserWarning):
    """A run that is not what it should be: breached, or interrupted."""


def unknown(what: str, name: object, known: list[str]) -> UnknownName:
    """The exception for a name that does not exist."""
    from ._saltus import nearest

    near = nearest(str(name), known)
    listed = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    hint = f"did you mean `{near}`?" if near else (f"there are: {listed}" if known else "there are none")
    error = UnknownName(f"there is no {what} `{name}`: {hint}")
    error.help = hint
    return error
