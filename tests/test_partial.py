"""`make test PKG=…` and `make test-changed` select the tests that a change calls for."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import partial_tests as partial
import pytest

COMMAND = [sys.executable, partial.__file__]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository of the same shape, without git."""
    for name in ("core", "plugins/rlenv-plugin-math", "contrib/rlenv-testing"):
        (tmp_path / name / "tests").mkdir(parents=True)
        (tmp_path / name / "pyproject.toml").touch()
    (tmp_path / "plugins/rlenv-plugin-math/tests/test_math_plugin.py").touch()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_words.py").write_text("from trees import parsed\n")
    (tmp_path / "tests/test_install.py").write_text("folder = 'no helper'\n")
    (tmp_path / "tests/test_example_office.py").write_text('FOLDER = EXAMPLES / "office"\n')
    return tmp_path


@pytest.fixture
def git(repository: Path) -> Callable[..., str]:
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]

    def run(*words: str) -> str:
        command = ["git", *who, *words]
        return subprocess.run(
            command, cwd=repository, check=True, capture_output=True, text=True
        ).stdout

    run("init", "-q", "-b", "main")
    run("add", ".")
    run("commit", "-q", "-m", "all")
    return run


@pytest.mark.parametrize(
    "name", ["math", "Math", "rlenv-plugin-math", "rlenv_plugin_math", "plugins/rlenv-plugin-math/"]
)
def test_a_distribution_has_several_names(repository: Path, name: str) -> None:
    selected = partial.of_distribution(name, repository)

    assert list(selected) == ["plugins/rlenv-plugin-math/tests"]


def test_a_name_that_is_not_there_is_reported_with_the_nearest() -> None:
    near = subprocess.run([*COMMAND, "maht"], capture_output=True, text=True, check=False)
    far = subprocess.run([*COMMAND, "xyzzy"], capture_output=True, text=True, check=False)

    assert near.returncode == far.returncode == 2
    assert near.stderr == "PKG=maht: there is no such distribution; did you mean PKG=math?\n"
    assert "choose from agent, auditor, cli, code" in far.stderr


def test_a_file_of_a_distribution_runs_its_tests(repository: Path) -> None:
    path = "plugins/rlenv-plugin-math/src/rlenv_plugin_math/equal.py"

    assert partial.of_changes([path], repository) == {
        "plugins/rlenv-plugin-math/tests": f"{path} changed"
    }


def test_a_source_of_core_runs_its_tests_and_those_of_the_laws(repository: Path) -> None:
    selected = partial.of_changes(["core/src/rlenv/engine.py"], repository)

    assert list(selected) == [
        "core/tests",
        "contrib/rlenv-testing/tests",
        "plugins/rlenv-plugin-math/tests/test_math_plugin.py",
    ]
    assert list(partial.of_changes(["core/tests/test_x.py"], repository)) == ["core/tests"]


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("tests/test_install.py", ["tests/test_install.py"]),
        ("tests/test_deleted.py", []),
        ("tests/helpers/trees.py", ["tests/test_words.py"]),
        ("examples/office/env.toml", ["tests/test_example_office.py"]),
        ("CHANGELOG.md", []),
    ],
)
def test_a_file_of_the_root_runs_the_tests_that_use_it(
    repository: Path, path: str, tests: list[str]
) -> None:
    assert list(partial.of_changes([path], repository)) == tests


def test_a_page_runs_what_it_shows(house: Path) -> None:
    selected = partial.of_changes(["plugins/rlenv-plugin-math/README.md"], house)

    assert list(selected) == [
        "plugins/rlenv-plugin-math/tests",
        f"{partial.PAGE}[plugins/rlenv-plugin-math/README.md]",
    ]


def test_commits_uncommitted_and_untracked_files_are_changes(
    repository: Path, git: Callable[..., str]
) -> None:
    git("checkout", "-q", "-b", "mine")
    (repository / "core/committed.py").touch()
    git("add", ".")
    git("commit", "-q", "-m", "more")
    git("mv", "tests/test_words.py", "core/tests/test_words.py")
    (repository / "core/untracked ü.py").touch()
    (repository / ".gitignore").write_text("core/ignored.py\n")
    (repository / "core/ignored.py").touch()

    base, paths = partial.changed(repository)

    assert base.startswith("main (")
    assert paths == [
        ".gitignore",
        "core/committed.py",
        "core/tests/test_words.py",
        "core/untracked ü.py",
        "tests/test_words.py",
    ]


def test_what_main_has_since_is_not_a_change_of_the_branch(
    repository: Path, git: Callable[..., str]
) -> None:
    git("checkout", "-q", "-b", "mine")
    git("checkout", "-q", "main")
    (repository / "core/theirs.py").touch()
    git("add", ".")
    git("commit", "-q", "-m", "theirs")
    git("checkout", "-q", "mine")

    assert partial.changed(repository)[1] == []


def test_the_rules_are_the_tests_of_the_root_that_read_sources(house: Path) -> None:
    found = {Path(path).stem for path in partial.rules(house)}
    files = {path.stem for path in house.glob("tests/test_*.py")}

    assert files >= partial.NOT_RULES
    assert {"test_arrows", "test_files", "test_layout", "test_sizes", "test_words"} <= found
    assert not [name for name in found if name.startswith("test_example_")]


def test_the_output_says_what_runs_and_why() -> None:
    ran = subprocess.run(
        [*COMMAND, "math", "--dry-run"], capture_output=True, text=True, check=True
    )

    assert "plugins/rlenv-plugin-math/tests: PKG=math" in ran.stdout
    assert "`make test` runs all" in ran.stdout
