"""A stage as bytes for its workers: by name where they can import it, else by value."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

from rlenv.compose.functions import closed_over
from rlenv.model.errors import ConfigError

MOST = 10_000_000  # bytes of a stage that is shipped by value


def pickled(stage: object) -> bytes:
    """The stage as bytes.

    What no module has, because it is defined in ``__main__``, in a notebook or in another function,
    goes by value.

    Raises:
        ConfigError: it cannot travel; the message names what holds it back, and what to do.
    """
    try:
        blob = pickle.dumps(stage, protocol=5)
        if b"__main__" not in blob:
            return blob
    except Exception:  # noqa: BLE001, S110 - pickling runs code of the stage; by value it may go
        pass
    try:
        blob = _by_value(stage)
    except Exception as err:
        raise ConfigError(_cannot(stage, " ".join(str(err).split()))) from err
    if len(blob) > MOST:
        sizes = [(len(_by_value(value)), name) for name, value in _reached(stage)]
        size, name = max(sizes, default=(len(blob), "the stage"))
        sent = f"it would send {len(blob):,} bytes to each worker, more than {MOST:,}"
        remedy = "move it into a module, or load it inside the function"
        raise ConfigError(f"{sent}; the largest part is {name} ({size:,} bytes): {remedy}")
    return blob


def _by_value(stage: object) -> bytes:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Rejects what cloudpickle would copy although the copy is of no use: open files."""

        def reducer_override(self, obj: object) -> object:
            if isinstance(obj, io.IOBase) and not isinstance(obj, (io.BytesIO, io.StringIO)):
                raise TypeError(f"cannot pickle an open file ({type(obj).__name__})")
            return super().reducer_override(obj)

    buffer = io.BytesIO()
    Pickler(buffer, protocol=5).dump(stage)
    return buffer.getvalue()


def _cannot(stage: object, why: str) -> str:
    for name, value in _reached(stage):
        try:
            _by_value(value)
        except Exception as err:  # noqa: BLE001 - as above
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            why = " ".join(str(err).split())
            remedy = 'create it inside the function, or write async def with where = "caller"'
            return f"{name} ({kind}) cannot be sent there ({why}): {remedy} to run in this process"
    return f"it cannot be sent there ({why}): move it into a module that the worker can import"


def _reached(stage: object, depth: int = 3) -> Iterator[tuple[str, object]]:
    """The globals, closed-over variables and attributes that a stage or function uses, innermost
    first.
    """
    function: Any = getattr(stage, "function", stage)
    code = getattr(function, "__code__", None)
    if code is None:
        values = dict(getattr(function, "__dict__", {}))
        found = {f"the attribute {name}": value for name, value in values.items()}
    else:
        found = {f"the variable {name}": value for name, value in closed_over(function)}
        names = [name for name in code.co_names if name in function.__globals__]
        found |= {f"the global {name}": function.__globals__[name] for name in names}
    for name, value in found.items():
        if depth and hasattr(value, "__code__"):
            yield from _reached(value, depth - 1)
        yield name, value
