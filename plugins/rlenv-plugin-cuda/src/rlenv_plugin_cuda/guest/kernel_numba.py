"""``numba.cuda`` where there is neither a GPU nor a CUDA toolkit: told where libNVVM is, and what
to compile for.
"""

from __future__ import annotations

import types
from importlib import import_module

import kernel_extremes
from kernel_where import PATHS
from kernel_wire import Broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["aimed", "numba"]


def numba() -> Any:
    """The package.

    Raises:
        Broken: it cannot be imported.
    """
    try:
        return import_module("numba")
    except (ImportError, OSError, RuntimeError) as error:
        raise Broken(f"numba cannot be imported: {error}") from None


def aimed(capability: Sequence[int]) -> Any:
    """``numba.cuda`` for one compute capability, (9, 0).

    Raises:
        Broken: it is not there, or cannot be used.
    """
    numba()
    try:
        cuda = import_module("numba.cuda")
        nvvm = import_module("numba.cuda.cudadrv.nvvm")
        _told_where()
        aim = tuple(capability)
        nvvm.NVVM()._supported_ccs = (aim,)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from loading
        raise Broken(f"numba.cuda or libNVVM cannot be used: {error}") from None
    device = types.SimpleNamespace(compute_capability=aim)
    dispatcher: Any = import_module("numba.cuda.dispatcher")
    dispatcher.get_current_device = lambda: device
    return cuda


def _told_where() -> None:
    """It looks for a toolkit in conda, CUDA_HOME and the system only.

    Pip's packages are none of these.
    """
    paths = import_module("numba.cuda.cuda_paths")
    if hasattr(paths.get_cuda_paths, "_cached_result"):
        return
    here = paths._env_path_tuple
    found = {name: here("rlenv", PATHS[name]) for name in ("nvvm", "libdevice")}
    found["cudalib_dir"] = found["static_cudalib_dir"] = here("rlenv", None)
    paths.get_cuda_paths._cached_result = found
    kernel_extremes.restore()
