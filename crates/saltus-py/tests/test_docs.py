"""The Python code of the pages runs as pasted, and prints what they show (`...` stands for anything).
`SALTUS_UPDATE_DOCS=1` writes what is printed today into the pages."""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.M | re.S)


def blocks(page: Path) -> list[tuple[str, str, int]]:
    text = page.read_text(encoding="utf-8")
    return [(m.group(1), m.group(2), text[: m.start()].count("\n") + 2) for m in BLOCK.finditer(text)]


def alike(shown: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part) for part in shown.rstrip("\n").split("..."))
    return re.fullmatch(pattern, printed.rstrip("\n"), re.S) is not None


@pytest.mark.parametrize("name", ["README.md", "docs/python.md", "docs/clusters.md", "crates/saltus-py/README.md"])
def test_page(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / name)
    assert any(kind == "python" for kind, _, _ in found)
    names: dict[str, object] = {"__name__": "__page__"}
    printed = ""
    for kind, text, line in found:
        if kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (line - 1) + text, name, "exec"), names)
            printed = out.getvalue()
        elif os.environ.get("SALTUS_UPDATE_DOCS") and not alike(text, printed):
            page = ROOT / name
            page.write_text(page.read_text(encoding="utf-8").replace(f"```text\n{text}```", f"```text\n{printed}```"), encoding="utf-8")
            printed = ""
        else:
            assert alike(text, printed), f"{name}:{line} shows\n{text}\nand what is printed is\n{printed}"
            printed = ""
