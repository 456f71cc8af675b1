"""`python -m saltus` is the command `saltus`."""

from ._command import main

raise SystemExit(main())
