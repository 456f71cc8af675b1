"""Directories that live as long as the results in them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path


class Scratch:
    """A directory that is removed when nobody refers to it any more; by the process that made it, not by a fork of it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="saltus-"))
        self._end = weakref.finalize(self, _remove, self.path, os.getpid())

    def __copy__(self) -> Scratch:
        # (The directory is one: whoever copies results refers to it too.)
        return self

    def __deepcopy__(self, _: object) -> Scratch:
        return self

    def __reduce__(self) -> tuple[type[Path], tuple[str, ...]]:
        # Elsewhere it is only a path: the directory goes with those who refer to it here.
        return (Path, (os.fspath(self.path),))


def _remove(path: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(path, ignore_errors=True)


def optional(module: str, what: str, extra: str) -> ImportError:
    """The exception where an optional package is missing."""
    return ImportError(f"{what} need {module}:  pip install {module}  (saltus[{extra}] brings it)")
