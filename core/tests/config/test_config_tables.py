"""A plugin claims a top-level table of an env.toml: core converts it and reports its mistakes with
the others.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import ConfigError, Environment

MODULE = """
from attrs import field, frozen, validators
from rlenv import ConfigError

@frozen
class Tool:
    name: str

@frozen
class Harness:
    kind: str
    turn_limit: int = field(default=8, validator=validators.ge(1))
    tools: tuple[Tool, ...] = ()

class Plain: ...

@frozen
class Bounded:
    most: int

    def check_tables(self, tables):
        if tables["lab"].turn_limit > self.most:
            raise ConfigError(f"turn_limit of [lab] is above most, {self.most}")
"""
CLAIMS = {
    "lab": "claimed_tables:Harness",
    "plain": "claimed_tables:Plain",
    "bounded": "claimed_tables:Bounded",
    "lost": "claimed_tables:Lost",
    "pass_mark": "claimed_tables:Harness",
}
ENV = {"name": "x", "stage": [{"use": "core/equal"}]}


def installed(folder: Path, name: str, claims: dict[str, str]) -> None:
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{name} = {target}" for name, target in claims.items()]
    (info / "entry_points.txt").write_text("\n".join(["[rlenv.tables]", *lines]))


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "site"
    folder.mkdir()
    installed(folder, "episodes", CLAIMS)
    (folder / "claimed_tables.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("claimed_tables", None)


def problems(**tables: Any) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        Environment.from_dict({**ENV, **tables})
    return caught.value.problems


def test_a_claimed_table_becomes_an_object_of_its_class() -> None:
    env = Environment.from_dict({**ENV, "lab": {"kind": "chat", "tools": [{"name": "calc"}]}})
    lab: Any = env.tables["lab"]

    assert type(lab).__name__ == "Harness"
    assert (lab.kind, lab.turn_limit, lab.tools[0].name) == ("chat", 8, "calc")
    assert Environment.from_dict(ENV).tables == {}


def test_a_file_claims_as_a_mapping_does(tmp_path: Path) -> None:
    path = tmp_path / "env.toml"
    path.write_text('name = "x"\n[[stage]]\nuse = "core/equal"\n[lab]\nkind = "chat"\n')
    env = Environment.from_file(path)

    assert env.tables == Environment.from_dict({**ENV, "lab": {"kind": "chat"}}).tables


def test_mistakes_are_reported_with_the_others() -> None:
    found = problems(pass_mark=2, lab={"kid": "chat", "turn_limit": 0, "tools": [{"name": 3}, {}]})

    assert set(found) == {
        "pass_mark: 2 is rejected: a number in (0, 1] is expected",
        'lab.kid: unknown key; did you mean "kind"?',
        "lab.kind: required, and missing; expected a string",
        "lab.turn_limit: 0 is rejected: 'turn_limit' must be >= 1: 0",
        "lab.tools[0].name: expected a string, got 3",
        "lab.tools[1].name: required, and missing; expected a string",
    }
    assert problems(lab=3) == ("lab: expected a table, got 3",)


def test_a_table_may_check_the_values_of_another() -> None:
    tables = {"lab": {"kind": "x", "turn_limit": 9}, "bounded": {"most": 8}}

    assert problems(**tables) == ("turn_limit of [lab] is above most, 8",)
    with pytest.raises(ConfigError, match="above most, 8"):
        Environment.from_dict({**ENV, **tables})


def test_a_table_is_part_of_the_fingerprint() -> None:
    kinds = ({"kind": "a"}, {"kind": "b"}, {"kind": "a", "turn_limit": 8})
    first, second, same = (
        Environment.from_dict({**ENV, "lab": kind}).fingerprint for kind in kinds
    )

    assert first == same
    assert len({first, second, Environment.from_dict(ENV).fingerprint}) == 3


@pytest.mark.parametrize("table", ["harnes", "Harness", "labs"])
def test_a_table_that_nobody_claims_is_an_error_with_the_nearest_name(table: str) -> None:
    (line,) = problems(**{table: {}})
    nearest = "lab" if table == "labs" else "harness"

    assert line == f'{table}: unknown key; did you mean "{nearest}"?'


@pytest.mark.parametrize("value", [{}, [{"name": "a"}]])
def test_a_table_that_no_installed_plugin_claims_says_how_to_find_its_plugin(value: object) -> None:
    (line,) = problems(shelf=value)

    assert line.startswith("shelf: no installed plugin claims [shelf]: install the one that does")
    assert "`grep -l '^shelf = ' */*/pyproject.toml`" in line


def test_the_command_in_the_message_finds_the_plugin_in_a_clone() -> None:
    """It is typed in the root of the repository, of which ``parents[3]`` is a clone."""
    (line,) = problems(shelf={})
    command = line.partition("`")[2].partition("`")[0].replace("shelf", "harness")
    root = Path(__file__).parents[3]
    ran = subprocess.run(
        ["sh", "-c", command], cwd=root, capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == ["plugins/rlenv-plugin-agent/pyproject.toml"]


def test_a_table_with_a_name_like_another_is_taken_for_a_typing_mistake() -> None:
    assert problems(stag={}) == ('stag: unknown key; did you mean "stage"?',)


def test_a_claim_that_does_not_load_matters_to_who_has_the_table() -> None:
    (line,) = problems(lost={})

    assert "lost: the class of [lost] (episodes 1.0): claimed_tables:Lost does not load" in line
    assert "AttributeError" in line
    assert problems(plain={"x": 1}) == ("plain.x: unknown key; it takes none",)
    assert Environment.from_dict(ENV).tables == {}


def test_a_table_that_two_distributions_claim_is_nobodys(site: Path) -> None:
    installed(site, "rivals", {"lab": "claimed_tables:Harness"})
    (line,) = problems(lab={"kind": "chat"})

    assert "episodes 1.0 and rivals 1.0" in line


def test_nobody_claims_a_word_of_core() -> None:
    assert Environment.from_dict({**ENV, "pass_mark": 0.5}).pass_mark == 0.5
