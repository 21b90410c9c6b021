"""The two places in a sandbox where answers are compiled: a warm interpreter with the compilers, and ptxas."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from rlenv.sandbox import Profile

from .toolchain import Toolchain, toolchain

__all__ = ["BOOT", "FRAME_BYTES", "assembler", "compilers"]

SECONDS = 20.0  # of CPU, for all compiling of one answer
MEMORY_MB = 1024
PIDS = 32
FRAME_BYTES = 16 << 20  # of an object, and of a log
BOOT = "import kernel_build; kernel_build.serve()"
_GUEST = (
    "kernel_build",
    "kernel_extremes",
    "kernel_numba",
    "kernel_played",
    "kernel_ptx",
    "kernel_rules",
)
_PACKAGES = (
    "llvmlite",
    "numba",
    "numpy",
    "numpy.libs",
)  # all of what is installed that compiling needs
_NUMBA = "\nimport sys\nsys.path.append({folder!r})\n"


@cache
def _files(tools: Toolchain) -> tuple[tuple[str, bytes], ...]:
    folder = Path(__file__).parents[1] / "guest"
    paths = {
        "nvrtc": tools.nvrtc,
        "builtins": list(tools.builtins),
        "nvvm": tools.nvvm,
        "libdevice": tools.libdevice,
    }
    where = f"PATHS = {paths!r}\n"
    files = {f"{name}.py": (folder / f"{name}.py").read_bytes() for name in _GUEST}
    return tuple(sorted({**files, "kernel_where.py": where.encode()}.items()))


@cache
def _packages() -> tuple[str, ...]:
    """The folders of numba and what it needs, without what is installed beside them."""
    found = []
    for name in _PACKAGES:
        spec = find_spec(name) if "." not in name else None
        if spec and spec.origin:
            found.append(str(Path(spec.origin).parent))
    beside = Path(found[-1]).parent / "numpy.libs" if found else None
    return (*found, *([str(beside)] if beside and beside.is_dir() else []))


@lru_cache(32)
def compilers(lang: str, budget: float, min_isolation: str) -> Profile:
    """Where source becomes an object or PTX; ``lang`` is "cuda" or "numba"."""
    tools = toolchain()
    warm = lang == "numba"
    kept = Toolchain(nvrtc="" if warm else tools.nvrtc, builtins=() if warm else tools.builtins)
    if warm:
        kept = Toolchain(nvvm=tools.nvvm, libdevice=tools.libdevice)
    files = dict(_files(kept))
    packages = _packages() if warm else ()
    if packages:
        folders = sorted({str(Path(path).parent) for path in packages})
        files["kernel_where.py"] += "".join(_NUMBA.format(folder=f) for f in folders).encode()
    seconds = min(SECONDS, budget)
    return Profile(
        preload=("kernel_build",),
        cpu_s=seconds,
        wall_s=2 * seconds,
        memory_mb=MEMORY_MB,
        pids=PIDS,
        output_bytes=1 << 14,
        files=tuple(sorted(files.items())),
        paths=(*kept.folders, *packages),
        min_isolation=min_isolation,
    )


@lru_cache(32)
def assembler(budget: float, min_isolation: str) -> Profile:
    """Where ptxas makes an object of PTX."""
    seconds = min(SECONDS, budget)
    return Profile(
        runtime="native",
        cpu_s=seconds,
        wall_s=2 * seconds,
        memory_mb=MEMORY_MB,
        pids=PIDS,
        output_bytes=FRAME_BYTES,
        paths=Toolchain(ptxas=toolchain().ptxas).folders,
        min_isolation=min_isolation,
    )
