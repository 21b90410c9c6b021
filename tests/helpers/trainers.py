"""Install the trainers' environments, test rlenv in them, and run what conformance.md shows.

    python tests/helpers/trainers.py test trl verl     # make test-trainers TRAINERS="trl verl"
    python tests/helpers/trainers.py install trl       # into build/trainers/trl
    python tests/helpers/trainers.py conformance       # into results.json of rlenv-train's tests
    python tests/helpers/trainers.py lock gymnasium    # write requirements/trainers/gymnasium.txt

Without names, the first three take all environments. ``requirements/trainers/environments.toml`` is
the table of environments; nothing else lists them. The standard library is enough to run this.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PINS = ROOT / "requirements/trainers"
TABLE = PINS / "environments.toml"
TRAIN = ROOT / "contrib/rlenv-train"
# Distributions that every environment has.
COMMON = (
    "core",
    "contrib/rlenv-cli",
    "contrib/rlenv-train",
    "contrib/rlenv-testing",
    "contrib/rlenv-auditor",
)
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input")
HEADER = (
    "# What `make test-trainers` installs to test with {packages}: exact versions, with pytest and"
    " all that they require.\n"
)


class UnknownEnvironmentError(Exception):
    """The table has no such environment; the message has the nearest one."""


class TrainerEnvironment(NamedTuple):
    """A row of the table; its comment says what the fields mean."""

    name: str
    packages: Sequence[str]
    folders: Sequence[str]
    like: str
    requires: bool
    title: str | None

    @property
    def folder(self) -> Path:
        return ROOT / "build/trainers" / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin/python"

    @property
    def pins(self) -> Path:
        return PINS / f"{self.name}.txt"

    @property
    def projects(self) -> tuple[str, ...]:
        """Folders of the distributions that are installed, in editable mode."""
        return (*COMMON, *self.folders)


def environments() -> dict[str, TrainerEnvironment]:
    """Read the table, by name and in its order."""
    rows: Mapping[str, Mapping[str, object]] = tomllib.loads(TABLE.read_text("utf-8"))
    return {name: _environment(name, dict(row)) for name, row in rows.items()}


def _environment(name: str, row: dict[str, object]) -> TrainerEnvironment:
    made = TrainerEnvironment(
        name=name,
        packages=_strings(row.pop("packages")),
        folders=_strings(row.pop("with", [])),
        like=str(row.pop("like", name)),
        requires=bool(row.pop("requires", True)),
        title=str(row.pop("title")) if "title" in row else None,
    )
    if row:
        raise ValueError(f"{TABLE.name}: [{name}] has keys that mean nothing: {', '.join(row)}")
    return made


def _strings(value: object) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(f"{TABLE.name}: expected a list of strings, not {value!r}")
    return [str(each) for each in value]


def chosen(names: Sequence[str]) -> list[TrainerEnvironment]:
    """The environments of these names; all if there are none.

    Raises:
        UnknownEnvironmentError: the table has no environment of a name.
    """
    known = environments()
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(known)}"
            raise UnknownEnvironmentError(f"TRAINERS={name}: there is no such environment; {hint}")
    return [known[name] for name in names or known]


def files_for(environment: TrainerEnvironment) -> list[Path]:
    """The test files for which an environment is made."""
    name = environment.name
    like = environment.like
    patterns = (
        f"contrib/rlenv-train/tests/trainers/test_with_{name}.py",
        f"contrib/rlenv-train/tests/trainers/test_with_{name}_*.py",
        f"plugins/rlenv-plugin-agent/tests/trainers/test_with_{like}_*.py",
        f"contrib/rlenv-serve/tests/clients/test_with_{like}_*.py",
        f"contrib/rlenv-{name}/tests/test_*.py",
    )
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def install(environment: TrainerEnvironment) -> None:
    """Make the environment, unless it is there and all that it is made of is unchanged."""
    stamp = environment.folder / ".installed"
    state = _state(environment)
    if stamp.exists() and stamp.read_text() == state:
        return
    print(f"installing {environment.name} into {environment.folder.relative_to(ROOT)}", flush=True)
    start = time.monotonic()
    _run(sys.executable, "-m", "venv", str(environment.folder))
    alone = [] if environment.requires else ["--no-deps"]
    words = ["install", *alone, "-r", str(environment.pins), *_editable(environment)]
    _run(str(environment.python), *PIP, *words)
    stamp.write_text(state)
    print(f"installed {environment.name} in {time.monotonic() - start:.0f} s", flush=True)


def _editable(environment: TrainerEnvironment) -> Iterator[str]:
    for folder in environment.projects:
        yield from ("-e", f"./{folder}")


def _state(environment: TrainerEnvironment) -> str:
    """A digest of the environment's row, its pins and the manifests of its distributions."""
    manifests = [ROOT / folder / "pyproject.toml" for folder in environment.projects]
    texts = [path.read_text("utf-8") for path in (environment.pins, *manifests)]
    return hashlib.sha256(repr((environment, texts)).encode()).hexdigest()


def _run(*words: str, offline: bool = False) -> None:
    """Run a command in the root folder; what it prints is shown, and its failure ends this."""
    env = {**os.environ, "HF_HUB_OFFLINE": "1"} if offline else None
    ran = subprocess.run(words, cwd=ROOT, env=env, check=False)
    if ran.returncode:
        sys.exit(ran.returncode)


def test(environment: TrainerEnvironment) -> None:
    """Run the tests that need an environment, in it."""
    install(environment)
    words = ["-m", "pytest", "-q", "-W", "ignore", *map(str, files_for(environment))]
    _run(str(environment.python), *words, offline=True)


def conformance(environment: TrainerEnvironment) -> None:
    """Run the script of one trainer, and record what it printed."""
    if environment.title is not None:
        install(environment)
        script = TRAIN / "tests/conformance/run.py"
        _run(sys.executable, str(script), environment.name)


def lock(environment: TrainerEnvironment) -> None:
    """Resolve the packages of an environment anew, and write its pins."""
    if not environment.requires:
        sys.exit(f"{environment.pins.name} is kept by hand: it says which requirements it omits")
    with TemporaryDirectory() as folder:
        python = Path(folder) / "bin/python"
        _run(sys.executable, "-m", "venv", folder)
        # Python 3.11 puts it there, required or not
        _run(str(python), *PIP, "uninstall", "--yes", "setuptools")
        tools = ["pytest", "pytest-timeout", "hypothesis"]
        _run(str(python), *PIP, "install", *environment.packages, *tools, *_editable(environment))
        words = [str(python), "-m", "pip", "list", "--format=json", "--exclude-editable"]
        listed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found = {each["name"]: each["version"] for each in json.loads(listed)}
    pins = [f"{name}=={found[name]}\n" for name in sorted(found, key=str.lower) if name != "pip"]
    header = HEADER.format(packages=", ".join(environment.packages))
    environment.pins.write_text("".join([header, *pins]), "utf-8")


COMMANDS = {"test": test, "install": install, "conformance": conformance, "lock": lock}


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("names", nargs="*", help="environments; all if none is named")
    given = parser.parse_args(words)
    if given.command == "lock" and not given.names:
        parser.error("name the environments whose pins are written")
    try:
        selected = chosen(given.names)
    except UnknownEnvironmentError as err:
        sys.exit(str(err))
    for environment in selected:
        COMMANDS[given.command](environment)


if __name__ == "__main__":
    main(sys.argv[1:])
