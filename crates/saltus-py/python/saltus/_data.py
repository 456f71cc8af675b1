"""Arrays as the data files of a model: nothing is written where the user would see it."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from ._errors import ModelError


def vector(name: str, values: Any) -> Any:
    """A vector of finite real numbers."""
    import numpy as np

    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise ModelError(f"`{name}` must hold real numbers, not {array.dtype}")
    if array.ndim != 1:
        raise ModelError(f"`{name}` must have one axis, not the shape {array.shape}")
    array = np.ascontiguousarray(array, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ModelError(f"`{name}` has a value that is not finite: {array[bad[0]]} at place {bad[0]}")
    return array


def samples(name: str, t: Any, y: Any) -> bytes:
    """A sampled function of time as a table of two columns, every number to its last bit."""
    times, values = vector(f"{name}: t", t), vector(f"{name}: y", y)
    if times.shape != values.shape:
        raise ModelError(f"the input `{name}` has {times.size} times and {values.size} values")
    if times.size < 2:
        raise ModelError(f"the input `{name}` needs two samples at least, not {times.size}")
    late = (times[1:] <= times[:-1]).nonzero()[0]
    if late.size:
        k = int(late[0]) + 1
        raise ModelError(f"the times of the input `{name}` must increase: {times[k]} at place {k} comes after {times[k - 1]}")
    rows = zip(times.tolist(), values.tolist())
    return ("t,y\n" + "".join(f"{a!r},{b!r}\n" for a, b in rows)).encode()


def matrix(name: str, of: Any) -> tuple[bytes, int]:
    """A square matrix, sparse (SciPy's) or dense, as an archive of its rows; and its size."""
    import numpy as np

    if hasattr(of, "tocsr"):
        rows = of.tocsr()
        shape, kind = rows.shape, rows.dtype.kind
    else:
        rows = np.asarray(of)
        shape, kind = rows.shape, rows.dtype.kind
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ModelError(f"{name} must be square, not of the shape {tuple(shape)}")
    if kind not in "fiu":
        raise ModelError(f"{name} must hold real numbers, not {rows.dtype}")
    n = int(shape[0])
    if hasattr(rows, "indptr"):
        rows = rows.copy()
        rows.sum_duplicates()
        data, indices, indptr = rows.data, rows.indices, rows.indptr
    else:
        place = np.nonzero(rows)
        data, indices = rows[place], place[1]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(place[0], minlength=n))])
    data = np.asarray(data, dtype=np.float64)
    if not np.isfinite(data).all():
        raise ModelError(f"{name} has an entry that is not finite")
    file = BytesIO()
    np.savez(
        file,
        format=np.array(b"csr"),
        shape=np.array([n, n], dtype=np.int64),
        data=data,
        indices=indices.astype(np.int64),
        indptr=indptr.astype(np.int64),
    )
    return file.getvalue(), n
