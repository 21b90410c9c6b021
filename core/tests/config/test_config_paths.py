"""Options that are files are found beside the env.toml, from whatever folder somebody works in."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from attrs import field, frozen
from rlenv import ConfigError, Environment, Outcome
from rlenv.config.files import File
from rlenv.hooks import hookimpl
from rlenv.plugins.registry import registry


@frozen
class Inner:
    """A table of options.

    Args:
        file: a file.
    """

    file: File = field(factory=File)


@frozen
class Reads:
    """Passes a response that a file holds.

    Args:
        file: the file.
        inner: a table with another.
    """

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"
    file: File
    inner: Inner = field(factory=Inner)

    def check(self, attempt: Any) -> Outcome:
        found = File(self.file).path.read_text("utf-8")
        return Outcome(float(attempt.response == found))


class Plugin:
    RLENV_API = 1

    @hookimpl
    def rlenv_stages(self) -> dict[str, Any]:
        return {"reads": Reads}


@pytest.fixture(autouse=True)
def plugin() -> Iterator[None]:
    registry().register(Plugin(), "paths-test")
    yield
    registry().unregister("paths-test")


def written(folder: Path, options: str) -> Path:
    folder.mkdir()
    (folder / "wanted.txt").write_text("yes", "utf-8")
    path = folder / "env.toml"
    path.write_text(
        f'name = "paths"\n[[stage]]\nuse = "paths-test/reads"\noptions = {options}\n'
        '[[task]]\nprompt = "?"\n',
        "utf-8",
    )
    return path


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")


@pytest.mark.usefixtures("elsewhere")
def test_a_file_is_found_beside_the_env_toml(tmp_path: Path) -> None:
    written(tmp_path / "a", '{ file = "wanted.txt", inner = { file = "x/y" } }')
    env = Environment.from_file("../a/env.toml")
    stage: Any = env.slots[0].stage

    assert env.verify("?", "yes") == 1.0
    assert stage.inner.file.path == tmp_path / "a" / "x" / "y"


@pytest.mark.usefixtures("elsewhere")
def test_where_it_lies_is_no_part_of_the_fingerprint(tmp_path: Path) -> None:
    first, second = (
        Environment.from_file(written(tmp_path / name, '{ file = "wanted.txt" }'))
        for name in ("a", "b")
    )

    assert first.fingerprint == second.fingerprint
    stage: Any = first.slots[0].stage
    assert str(stage.file) == "wanted.txt"


@pytest.mark.usefixtures("elsewhere")
def test_settings_put_over_a_file_mean_the_same_folder(tmp_path: Path) -> None:
    path = written(tmp_path / "a", '{ file = "none.txt" }')
    env = Environment.from_file(path, set_options={"reads.file": "wanted.txt"})

    assert env.verify("?", "yes") == 1.0


def test_variables_are_filled_in_and_an_absolute_path_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLENV_TEST_PLACE", str(tmp_path / "a"))
    path = written(tmp_path / "a", '{ file = "${RLENV_TEST_PLACE}/wanted.txt" }')

    assert Environment.from_file(path).verify("?", "yes") == 1.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ('{ file = "${RLENV_NOT_SET}/x" }', "file: the environment variable RLENV_NOT_SET is not"),
        ("{ file = 3 }", "file: expected the path of a file, got 3"),
        ("{ }", "file: required, and missing; expected the path of a file"),
    ],
)
def test_what_is_no_path_is_told(tmp_path: Path, options: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Environment.from_file(written(tmp_path / "a", options))
    assert said in str(caught.value)


@pytest.mark.usefixtures("elsewhere")
def test_a_plain_text_is_relative_to_the_working_directory(tmp_path: Path) -> None:
    assert File("x").path == tmp_path / "elsewhere" / "x"
    assert File("x", "../a").path == tmp_path / "a" / "x"


def test_a_file_keeps_its_place_when_it_is_copied_or_sent(tmp_path: Path) -> None:
    file = File("x", tmp_path)
    for same in (File(file), copy.deepcopy(file), pickle.loads(pickle.dumps(file))):
        assert (same, same.path) == ("x", tmp_path / "x")
