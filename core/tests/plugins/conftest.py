"""A site folder of fake distributions on ``sys.path``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

Install = Callable[..., Path]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder on ``sys.path``; what is imported from it is forgotten afterwards."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture
def install(site: Path) -> Install:
    """Write a distribution as pip leaves it, with its entry points and its modules."""

    def write(
        distribution: str,
        version: str = "1.0",
        plugins: Mapping[str, str] | None = None,
        group: str = "rlenv",
        folder: Path = site,
        **modules: str,
    ) -> Path:
        info = folder / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        lines = [f"{name} = {target}" for name, target in (plugins or {}).items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
        for name, source in modules.items():
            (folder / f"{name}.py").write_text(source)
        return info

    return write
