"""The two places in a sandbox where answers are compiled: a warm interpreter with the compilers,
and ptxas.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from attrs import evolve
from rlenv.sandbox import Profile

from rlenv_plugin_cuda.box import Box

from .toolchain import Toolchain, toolchain

__all__ = [
    "BOOT",
    "FRAME_BYTES",
    "PATIENCE",
    "SECONDS",
    "apart",
    "assembler",
    "compilers",
    "planning",
]

SECONDS = 20.0  # of CPU, for a compiler and one answer
PATIENCE = 2.0  # times as much on its clock: it may wait for files
MEMORY_MB = 1024
PIDS = 32
FRAME_BYTES = 16 << 20  # of an object, and of a log
BOOT = "import kernel_build; kernel_build.serve()"
_PACKAGES = ("llvmlite", "numba", "numpy")
HOME = Path(__file__).parents[1]


@lru_cache(1)
def planning() -> tuple[tuple[str, bytes], ...]:
    """The package that reads launch plans, as files of a sandbox."""
    paths = sorted((HOME / "planning").glob("*.py"))
    return tuple((f"planning/{path.name}", path.read_bytes()) for path in paths)


def apart(box: Box) -> Box:
    """The same, with places that are kept for compilers: runners beside them would have to end them
    to get room.
    """
    if box.isolation not in ("jail", "process"):
        return box
    return evolve(box, options={"places": None, **box.options})


@lru_cache(32)
def compilers(lang: str, min_isolation: str) -> Profile:
    """Where source becomes an object ("cuda") or PTX ("numba").

    It sees the compiler of its language only.
    """
    here = toolchain()
    if lang == "cuda":
        tools = Toolchain(nvrtc=here.nvrtc, builtins=here.builtins)
        packages = list[Path]()
    else:
        tools = Toolchain(nvvm=here.nvvm, libdevice=here.libdevice)
        packages = _packages()
    return _profile(
        "python",
        (*tools.folders, *map(str, packages)),
        min_isolation,
        preload=("kernel_build",),
        files=_files(tools, packages),
    )


@lru_cache(32)
def assembler(min_isolation: str) -> Profile:
    """Where ptxas makes an object of PTX."""
    folders = Toolchain(ptxas=toolchain().ptxas).folders
    return _profile("native", folders, min_isolation)


def _profile(
    runtime: str,
    paths: tuple[str, ...],
    min_isolation: str,
    *,
    preload: tuple[str, ...] = (),
    files: tuple[tuple[str, bytes], ...] = (),
) -> Profile:
    return Profile(
        runtime=runtime,
        preload=preload,
        cpu_s=SECONDS,
        wall_s=PATIENCE * SECONDS,
        memory_mb=MEMORY_MB,
        pids=PIDS,
        output_bytes=FRAME_BYTES if runtime == "native" else 1 << 14,
        files=files,
        paths=paths,
        min_isolation=min_isolation,
    )


def _packages() -> list[Path]:
    """The folders of numba and what it needs, without all that is installed beside them."""
    specs = [find_spec(name) for name in _PACKAGES]
    found = [Path(spec.origin).parent for spec in specs if spec and spec.origin]
    libraries = [path.with_name(f"{path.name}.libs") for path in found]
    return [*found, *(path for path in libraries if path.is_dir())]


def _files(tools: Toolchain, packages: list[Path]) -> tuple[tuple[str, bytes], ...]:
    folder = HOME / "guest"
    names = (
        [path.name for path in folder.glob("kernel_*.py")]
        if packages
        else ["kernel_build.py", "kernel_wire.py"]
    )
    where = "import sys\nPATHS = {!r}\nsys.path += {!r}\n".format(
        {
            "nvrtc": tools.nvrtc,
            "builtins": list(tools.builtins),
            "nvvm": tools.nvvm,
            "libdevice": tools.libdevice,
        },
        sorted({str(path.parent) for path in packages}),
    )
    files = {name: (folder / name).read_bytes() for name in names}
    files |= dict(planning() if packages else ())
    return tuple(sorted({**files, "kernel_where.py": where.encode()}.items()))
