"""Where Triton is on this machine, and what of this package its sandbox gets."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["BOOT_FILES", "REMEDY", "assembler", "files", "missing", "packages", "tools"]

VARIABLE = "RLENV_TRITON"  # a folder of sys.path that holds triton, where it is not beside rlenv
REMEDY = f"pip install triton, or name a folder that holds it in {VARIABLE}"
_HOME = Path(__file__).parents[1]
BOOT_FILES = (
    "guest/kernel_tidy",
    "guest/kernel_wire",
    "planning/checking",
    "planning/dialect",
    "planning/host",
    "planning/names",
    "planning/reading",
    "planning/rules",
    "planning/tables",
    "planning/values",
    "planning/worth",
)
_NEEDS = ("numpy", "triton")


def _folder(name: str) -> Path | None:
    """Of an installed package; imports nothing."""
    given = os.environ.get(VARIABLE, "")
    if given and name != "numpy" and (Path(given) / name / "__init__.py").is_file():
        return (Path(given) / name).resolve()
    spec = find_spec(name)
    return Path(spec.origin).parent if spec and spec.origin else None


def missing() -> str:
    """Why Triton cannot be used here, with the remedy; "" where it can."""
    for name in _NEEDS:
        if _folder(name) is None:
            return f"{name} is not installed: {REMEDY}"
    return ""


def packages() -> tuple[str, ...]:
    """The folders that a sandbox must see: Triton's, numpy's, and its libraries."""
    found = [folder for name in _NEEDS if (folder := _folder(name))]
    libraries = [folder.with_name(f"{folder.name}.libs") for folder in found]
    return tuple(str(folder) for folder in (*found, *libraries) if folder.is_dir())


def tools() -> str:
    """The folder of the assemblers in Triton's wheel."""
    folder = _folder("triton")
    assert folder is not None
    return str(folder / "backends" / "nvidia" / "bin")


def assembler(folder: str, arch: int) -> str:
    """Of these the one that Triton takes for an architecture."""
    newer = Path(folder) / "ptxas-blackwell"
    return str(newer if arch >= 90 and newer.is_file() else Path(folder) / "ptxas")


@cache
def files(names: tuple[str, ...], boot: str) -> tuple[tuple[str, bytes], ...]:
    """Modules of this package for the far side, and ``rlenv_boot``, which finds what they need and
    loads them.

    Args:
        names: as "lang_triton/rules".
        boot: what ``rlenv_boot`` does at the end.
    """
    own = {f"rlenv_plugin_cuda/{name}.py": (_HOME / f"{name}.py").read_bytes() for name in names}
    for folder in {name.rpartition("/")[0] for name in names} | {""}:
        own[f"rlenv_plugin_cuda/{folder}/__init__.py".replace("//", "/")] = b""
    places = sorted({str(Path(folder).parent) for folder in packages()})
    text = (
        "import os, sys\n"
        "for key in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS'):\n"
        "    os.environ[key] = '1'\n"
        f"sys.path += {places!r}\n"
        f"{boot}\n"
    )
    return tuple(sorted({**own, "rlenv_boot.py": text.encode()}.items()))
