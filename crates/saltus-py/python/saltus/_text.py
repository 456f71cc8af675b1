"""Values as the texts that models and commands take: numbers to the last bit, expressions as they are, models as TOML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from ._errors import ModelError

#: A number, or an expression of parameters.
Number = float | int | str

BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


def number(name: str, value: Any) -> str:
    """A number to the last bit, or the text of an expression."""
    if isinstance(value, str):
        if not value.strip():
            raise ModelError(f"`{name}` is empty: give a number or an expression of parameters")
        return value
    if type(value) is float or (type(value) is int and abs(value) < 2**53):
        real = float(value)
    else:
        if isinstance(value, (bool, complex, bytes)) or value is None:
            raise ModelError(f"`{name}` must be a number or an expression, not {value!r}")
        shape = getattr(value, "shape", ())
        if shape not in ((), (1,)) or (not hasattr(value, "__float__") and not hasattr(value, "__index__")):
            kind = f"an array of shape {shape}" if shape else repr(type(value).__name__)
            raise ModelError(f"`{name}` must be one number or an expression, not {kind}; saltus.sweep runs many values")
        if getattr(getattr(value, "dtype", None), "kind", "f") not in "fiu":
            raise ModelError(f"`{name}` must be a real number, not one of type {value.dtype}")
        try:
            real = float(value if shape == () else value[0])
        except OverflowError:
            raise ModelError(f"`{name}` is too large for a number of 64 bits") from None
    if not isfinite(real):
        raise ModelError(f"`{name}` must be a finite number, not {real}")
    return repr(real)


def pairs(what: str, values: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Names and values as texts."""
    if values is None:
        return []
    if not isinstance(values, Mapping):
        name = "x" if what == "start" else "e"
        raise ModelError(f"`{what}` is a dictionary of names and values, such as {what}={{{name!r}: 0.5}}, not {values!r}")
    found = []
    for name, value in values.items():
        if not isinstance(name, str) or not name.strip():
            raise ModelError(f"the names of `{what}` are texts, not {name!r}")
        found.append((name.strip(), number(name, value)))
    return found


def quoted(text: str) -> str:
    """A text in TOML."""
    from json import dumps

    return dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def key(name: Any) -> str:
    if not isinstance(name, str):
        raise ModelError(f"the names of a model are texts, not {name!r}")
    return name if BARE.match(name) else quoted(name)


def value(what: str, of: Any) -> str:
    """A value in TOML."""
    if isinstance(of, str):
        return quoted(of)
    if isinstance(of, bool):
        return "true" if of else "false"
    if isinstance(of, int):
        return str(of)
    if isinstance(of, Mapping):
        inner = ", ".join(f"{key(k)} = {value(f'{what}.{k}', v)}" for k, v in of.items())
        return f"{{ {inner} }}" if inner else "{}"
    if hasattr(of, "tolist"):
        return value(what, of.tolist())
    if isinstance(of, Iterable) and not isinstance(of, bytes):
        return "[" + ", ".join(value(what, v) for v in of) + "]"
    return number(what, of)


#: Tables whose own tables have a heading each.
NESTED = {"dynamics"}


def toml(tree: Mapping[str, Any]) -> str:
    """A model as a dictionary, as the text of a model file."""
    try:
        return _toml(tree)
    except RecursionError:
        raise ModelError("the sections of the model are nested too deeply, or contain themselves") from None


def _toml(tree: Mapping[str, Any]) -> str:
    from copy import copy

    if not isinstance(tree, Mapping):
        raise ModelError(f"a model is a dictionary of sections, not {tree!r}")
    # (Names with an underscore before them are the builder's own.)
    rest = {name: of for name, of in copy(dict(tree)).items() if not str(name).startswith("_")}
    is_table = {name: isinstance(of, Mapping) for name, of in rest.items()}
    is_list = {
        name: isinstance(of, (list, tuple)) and bool(of) and all(isinstance(x, Mapping) for x in of) for name, of in rest.items()
    }
    lines = [f"{key(n)} = {value(n, of)}" for n, of in rest.items() if not is_table[n] and not is_list[n]]
    for name, of in rest.items():
        if is_table[name]:
            inner = {k: v for k, v in of.items() if name in NESTED and isinstance(v, Mapping)}
            lines += ["", f"[{key(name)}]"]
            lines += [f"{key(k)} = {value(f'{name}.{k}', v)}" for k, v in of.items() if k not in inner]
            for heading, entries in inner.items():
                lines += ["", f"[{key(name)}.{key(heading)}]"]
                lines += [f"{key(k)} = {value(f'{name}.{heading}.{k}', v)}" for k, v in entries.items()]
        elif is_list[name]:
            for entry in of:
                lines += ["", f"[[{key(name)}]]"]
                lines += [f"{key(k)} = {value(f'{name}.{k}', v)}" for k, v in entry.items()]
    return "\n".join(lines).lstrip("\n") + "\n"
