"""The command `saltus`."""

from __future__ import annotations


def main() -> int:
    """Does what the command line says, in this process."""
    import signal
    import sys

    from . import _saltus

    # Ctrl-C is the program's own from here on: it stops, and keeps what it has.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _saltus.command(["saltus", *sys.argv[1:]])


if __name__ == "__main__":
    raise SystemExit(main())
