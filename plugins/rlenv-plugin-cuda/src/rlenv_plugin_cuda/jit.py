"""When compiled loops measure a block, and where their code is kept.

numba is imported only where that pays: it costs half a second, and compiling some seconds more
where no earlier
process has left its code.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .blocks import Measures, Near, Numpy, Room

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

__all__ = ["measures"]

_PAYS = 1 << 25  # elements of one process for which compiled code is worth its start
_WARM = 1 << 15  # elements of one output, once it has started
_compared = 0


def measures(elements: int, *, jit: bool | None = None) -> Measures:
    """What measures the blocks of an output of this many elements; both ways find the same.

    Args:
        jit: True or False to choose; None: compiled loops, once this process has much to compare.
    """
    global _compared  # noqa: PLW0603 - a count of this process
    _compared += elements
    if jit is None:
        started = _loops.cache_info().currsize > 0
        jit = elements >= _WARM and (started or _compared >= _PAYS)
    loops = _loops() if jit else None
    return Numpy() if loops is None else loops


class _Loops:
    def __init__(
        self,
        by_size: Callable[..., Near],
        by_room: Callable[..., Near],
        largest: Callable[..., float],
        farthest: Callable[..., int],
    ) -> None:
        self._by_size = by_size
        self._by_room = by_room
        self._largest = largest
        self._farthest = farthest

    def near(self, got: Values, want: Values, room: Room) -> Near:
        if isinstance(room, tuple):
            found: Near = self._by_size(got, want, *room)
        else:
            found = self._by_room(got, want, room)
        return found

    def top(self, got: Values, want: Values) -> float:
        return float(self._largest(got, want))

    def ulp(self, got: Values, want: Values, mask: int) -> int:
        return int(self._farthest(got, want, mask, -(1 << 8 * got.dtype.itemsize - 1)))


@cache
def _loops() -> _Loops | None:
    """The compiled loops; None where numba cannot be used."""
    try:
        import numba
    except ImportError:
        return None
    config: Any = numba.config
    if config.DISABLE_JIT:
        return None
    from . import loops

    with _kept(config) as kept:
        sums = numba.njit(fastmath={"reassoc"}, error_model="numpy", nogil=True, cache=kept)
        whole = numba.njit(error_model="numpy", nogil=True, cache=kept)
        near = sums(loops.near_by_size), sums(loops.near_by_room)
        return _Loops(*near, whole(loops.largest), whole(loops.farthest))


@contextlib.contextmanager
def _kept(config: Any) -> Iterator[bool]:
    """Whether code is kept.

    While this lasts, numba's folder for it is one that nobody else can write to.

    Code that another user could put there would be run here.
    """
    before = config.CACHE_DIR
    folder = next(filter(_private, _folders(before)), None)
    if folder is not None:
        config.CACHE_DIR = str(folder)
    try:
        yield folder is not None
    finally:
        config.CACHE_DIR = before


def _folders(named: str) -> Iterator[Path]:
    if named:
        yield Path(named)
    yield Path(__file__).parent / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    yield Path(home) / "rlenv" / "kernels"


def _private(folder: Path) -> bool:
    """Whether a folder is there, or can be made, and is this user's alone to write to."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
    return mine and not found.st_mode & 0o022 and os.access(folder, os.W_OK | os.X_OK)
