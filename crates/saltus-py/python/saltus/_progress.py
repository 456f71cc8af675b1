"""How far a computation is, in the way of tqdm where that is installed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

#: Nothing is shown before so many seconds.
PATIENCE = 2.0

#: `True` shows a bar, `False` none, None one where a person sees it; or a class like tqdm.
Progress = bool | Callable[..., Any] | None


def _is_seen() -> bool:
    return "ipykernel" in sys.modules or sys.stderr.isatty()


class Bar:
    """A bar that appears after some seconds; `total` is known when it does."""

    def __init__(self, wanted: Progress, what: object) -> None:
        self.what, self.wanted, self.begun = what, wanted, time.monotonic()
        self.bar: Any = None
        self.patience = PATIENCE if wanted is None else 0.0

    @property
    def is_wanted(self) -> bool:
        return self.wanted is not False

    def share(self, share: float, t: float, impacts: int) -> None:
        """How far a run is."""
        self.counted(round(1000 * min(max(share, 0.0), 1.0)), 1000, f"t = {t:.6g}, {impacts} impacts")

    def counted(self, done: int, of: int, words: str = "") -> None:
        """How far something is that is counted."""
        if self.wanted is False or of == 0:
            return
        if self.bar is None:
            if time.monotonic() - self.begun < self.patience:
                return
            make = self._made()
            if make is None:
                self.wanted = False
                return
            self.bar = make(total=of, desc=self.what if isinstance(self.what, str) else str(getattr(self.what, "title", "")), leave=False)
        if words and hasattr(self.bar, "set_postfix_str"):
            self.bar.set_postfix_str(words, refresh=False)
        if getattr(self.bar, "total", of) != of:
            self.bar.total = of
        self.bar.update(done - self.bar.n)

    def _made(self) -> Callable[..., Any] | None:
        if callable(self.wanted):
            return self.wanted
        return _tqdm() if self.wanted is True or _is_seen() else None

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def _tqdm() -> Callable[..., Any] | None:
    import warnings

    try:
        with warnings.catch_warnings():
            # (Without widgets the bar is one of characters, which is no reason to warn.)
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        return None
    made: Callable[..., Any] = tqdm
    return made
