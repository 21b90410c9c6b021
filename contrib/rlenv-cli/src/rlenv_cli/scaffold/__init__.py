"""Folders that a stranger would publish: a plugin, or an environment that pip installs.

The templates beside this file end in ``.txt``; ``{{word}}`` in a template or in a path is filled
in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from attrs import frozen
from rlenv.model.errors import ConfigError

HERE = Path(__file__).parent
LICENSES = {"mit": "MIT", "apache-2.0": "Apache-2.0", "none": ""}

FILES: Mapping[str, Mapping[str, str]] = {
    "plugin": {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        ".gitignore": "gitignore",
        ".github/workflows/checks.yml": "ci.yml",
        "src/{{module}}/__init__.py": "init.py",
        "src/{{module}}/stages.py": "stages.py",
        "src/{{module}}/examples.py": "examples.py",
        "src/{{module}}/py.typed": "",
        "tests/test_{{module}}.py": "test.py",
    },
    "env": {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        ".gitignore": "gitignore",
        "src/{{module}}/__init__.py": "init.py",
        "src/{{module}}/env.toml": "env.toml",
        "src/{{module}}/tasks.jsonl": "tasks.jsonl",
        "tests/test_{{module}}.py": "test.py",
    },
}


@frozen
class Scaffold:
    """What to make: ``kind`` is plugin or env, ``name`` the short name that users write."""

    kind: str
    name: str
    license: str = "mit"
    author: str = "The authors"

    @property
    def distribution(self) -> str:
        return f"rlenv-{self.kind}-{self.name}"


def short_name(kind: str, name: str) -> str:
    """The short name in ``name``, which may be the distribution's.

    Raises:
        ConfigError: when it can be no name of a distribution.
    """
    short = name.removeprefix(f"rlenv-{kind}-")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", short) or short == "core":
        raise ConfigError(
            f"{name!r} is not a name for a plugin or environment: use lower-case letters, digits"
            " and single hyphens, beginning with a letter (and not core), such as my-checks"
        )
    return short


def make(scaffold: Scaffold, parent: Path) -> Path:
    """Write the folder ``parent/<distribution>`` and return it.

    Raises:
        ConfigError: when it exists and is not empty; nothing is overwritten.
    """
    folder = parent / scaffold.distribution
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ConfigError(f"{folder} exists already: remove it, or choose another name or --into")
    words = _words(scaffold)
    for path, template in FILES[scaffold.kind].items():
        text = _template(f"{scaffold.kind}/{template}") if template else ""
        _write(folder / _filled(path, words), _filled(text, words))
    if scaffold.license != "none":
        _write(folder / "LICENSE", _filled(_template(f"license-{scaffold.license}"), words))
    return folder


def _words(scaffold: Scaffold) -> dict[str, str]:
    from rlenv import __version__

    spdx = LICENSES[scaffold.license]
    return {
        "name": scaffold.name,
        "distribution": scaffold.distribution,
        "module": scaffold.distribution.replace("-", "_"),
        "title": scaffold.name.replace("-", " ").capitalize(),
        "license_lines": f'license = "{spdx}"\nlicense-files = ["LICENSE"]\n' if spdx else "",
        "rlenv": ".".join(__version__.split(".")[:2]),
        "year": str(datetime.now(tz=UTC).year),
        "author": scaffold.author,
    }


def _template(name: str) -> str:
    return (HERE / f"{name}.txt").read_text("utf-8")


def _filled(text: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda match: words[match[1]], text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
