"""The compilers of this machine: NVRTC, libNVVM and ptxas, from pip's packages or an installed CUDA
toolkit.

Nothing is loaded into this process: the libraries meet an answer in the sandbox only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen

__all__ = ["ARCH", "REMEDY", "Toolchain", "architectures", "missing", "toolchain", "unsupported"]

ARCH = re.compile(r"sm_([1-9][0-9]{1,2})([af]?)")
REMEDY = "pip install nvidia-cuda-nvcc nvidia-cuda-nvrtc"
SECONDS = 30.0  # for a compiler to say what it is
_LIBRARIES = ("lib", "lib64", "nvvm/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
_ASK = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
count = ctypes.c_int()
assert not library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
found = (ctypes.c_int * count.value)()
assert not library.nvrtcGetSupportedArchs(found)
print(*["sm_%d" % arch for arch in found])
"""


@frozen
class Toolchain:
    """Absolute paths, "" for what is not here.

    Args:
        nvrtc: the compiler of CUDA C++, a library.
        builtins: the libraries that it loads by name.
        nvvm: the library that makes PTX of numba's code.
        libdevice: its mathematical functions.
        ptxas: the assembler of PTX, a program.
    """

    nvrtc: str = ""
    builtins: tuple[str, ...] = ()
    nvvm: str = ""
    libdevice: str = ""
    ptxas: str = ""

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders in which these lie, which a sandbox shows to the compilers."""
        paths = (self.nvrtc, *self.builtins, self.nvvm, self.libdevice, self.ptxas)
        return tuple(sorted({os.path.dirname(os.path.realpath(path)) for path in paths if path}))

    @property
    def identity(self) -> str:
        """What changes when another compiler is installed."""
        paths = (self.nvrtc, *self.builtins, self.nvvm, self.libdevice, self.ptxas)
        stats = [os.stat(path) if path else None for path in paths]
        return repr(
            [(p, s and (s.st_size, s.st_mtime_ns)) for p, s in zip(paths, stats, strict=True)]
        )


def _roots() -> Iterator[Path]:
    """Where a toolkit may lie, the likeliest first: pip's packages, the environment's, the
    system's.
    """
    spec = find_spec("nvidia")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        base = Path(place)
        yield from sorted(base.glob("cu[0-9]*"), reverse=True)
        yield from (base / name for name in ("cuda_nvrtc", "cuda_nvcc", "cuda_nvcc/nvvm", "nvvm"))
    for name in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(name):
            yield Path(os.environ[name])
    assembler = shutil.which("ptxas")
    if assembler:
        yield Path(assembler).resolve().parent.parent
    system = Path(os.sep, "usr", "local")
    yield system / "cuda"
    yield from sorted(system.glob("cuda-*"), reverse=True)


def _found(roots: list[Path], folders: tuple[str, ...], pattern: str) -> str:
    """The first file of this name; of several beside each other the newest."""
    for root in roots:
        for folder in folders:
            files = sorted(path for path in (root / folder).glob(pattern) if path.is_file())
            if files:
                return str(files[-1])
    return ""


@cache
def toolchain() -> Toolchain:
    """What is installed; looked for once per process."""
    roots = list(_roots())
    nvrtc = _found(roots, _LIBRARIES, "libnvrtc.so.[0-9]*")
    beside = sorted(Path(nvrtc).parent.glob("libnvrtc-builtins.so.[0-9]*")) if nvrtc else []
    return Toolchain(
        nvrtc,
        tuple(str(path) for path in beside[-1:]),
        _found(roots, _LIBRARIES, "libnvvm.so.[0-9]*"),
        _found(roots, ("nvvm/libdevice", "libdevice"), "libdevice.*.bc"),
        _found(roots, ("bin",), "ptxas"),
    )


def missing(lang: str) -> str:
    """What a language lacks to be compiled here, and the remedy; "" when it lacks nothing."""
    tools = toolchain()
    needs = {"NVRTC (libnvrtc)": tools.nvrtc} if lang == "cuda" else {}
    if lang == "numba":
        needs = {"libNVVM": tools.nvvm, "libdevice": tools.libdevice, "ptxas": tools.ptxas}
    lacks = [name for name, path in needs.items() if not path]
    if not lacks:
        return ""
    return (
        f"no compiler for {lang} kernels: {', '.join(lacks)} not found; {REMEDY}, or install a CUDA"
        " toolkit and set CUDA_HOME"
    )


def architectures(lang: str) -> tuple[str, ...]:
    """The architectures that the compiler of a language builds for ("sm_90"), () when there is
    none.
    """
    tools = toolchain()
    return _of_nvrtc(tools.nvrtc) if lang == "cuda" else _of_ptxas(tools.ptxas)


@cache
def _of_ptxas(path: str) -> tuple[str, ...]:
    said = _output([path, "--help"]) if path else ""
    return tuple(sorted(set(re.findall(r"'(sm_[0-9]+[af]?)'", said)), key=_order))


@cache
def _of_nvrtc(path: str) -> tuple[str, ...]:
    """NVRTC names families only; what it names with an ending it also takes."""
    said = _output([sys.executable, "-I", "-S", "-c", _ASK, path]) if path else ""
    return tuple(sorted(set(said.split()), key=_order))


def _output(words: list[str]) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - a compiler that is installed here
            words, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _order(arch: str) -> tuple[int, str]:
    match = ARCH.fullmatch(arch)
    return (int(match[1]), match[2]) if match else (0, arch)


def unsupported(lang: str, arch: str) -> str:
    """Why nothing can be built for this architecture, naming those that can.

    "" when it can, or no compiler is here.
    """
    match = ARCH.fullmatch(arch)
    if match is None:
        return f'{arch!r:.40} is no architecture; it is written like "sm_90"'
    known = architectures(lang)
    if not known or arch in known or (lang == "cuda" and f"sm_{match[1]}" in known):
        return ""
    return f"{arch} is unknown to the compiler that is installed; it builds for {', '.join(known)}"
