"""What a solution's names stand for, what its calls come to, and what they raise.

It runs inside the sandbox.
"""

from __future__ import annotations

# private, see ``rlenv_guest``
from builtins import BaseException, KeyError, NameError, getattr, isinstance, str, type

from rlenv_codec import encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


async def _sample() -> None:
    pass


_sampled = _sample()
_Coroutine = type(_sampled)
_sampled.close()


def what(err: Any) -> Any:
    """The name of an exception's type."""
    try:
        name = str(type(err).__name__)
        encode(name)
    except BaseException:  # noqa: BLE001 - names may be made by the program
        return "Exception"
    return name[:200]


def find(module: Any, name: Any) -> Any:
    """What a dotted name stands for; of a class that is passed on the way, a new instance."""
    first, _, rest = name.partition(".")
    try:
        found = module.__dict__[first]
    except KeyError:
        raise NameError(name) from None
    while rest:
        if isinstance(found, type):
            found = found()
        first, _, rest = rest.partition(".")
        found = getattr(found, first)
    return found


def finished(value: Any) -> Any:
    """The value, or the result if it is a coroutine."""
    if type(value) is _Coroutine:
        import asyncio

        return asyncio.run(value)
    return value
