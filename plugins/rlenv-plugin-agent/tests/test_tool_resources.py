"""What ``[resources]`` and ``[harness] sandbox`` give an episode, through the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, Task, sandbox
from rlenv_plugin_agent import Episode, call
from rlenv_plugin_agent.tools.catalog.corpus import Corpus

ENV = """
name = "desk"
[harness]
kind = "tool-use"
tools = ["shell", "file_read", "run_tests", "web_search", "ask_user", "sqlite"]
sandbox = "sandbox/jail"
[resources]
corpus = "docs"
answers = ["blue"]
[state]
schema = "shop.sql"
[state.access.policy]
tables = ["orders"]
[[stage]]
use = "core/equal"
"""

TEST = """import unittest

class T(unittest.TestCase):
    def test(self):
        with open("a.txt") as file:
            self.assertEqual(file.read(), "two")
"""
SCHEMA = """
CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT);
INSERT INTO orders VALUES (1, 'bolt');
CREATE TABLE secrets (word TEXT);
"""
FILES = {"a.txt": "one", "test_a.py": TEST}


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    sandbox.close_all()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.md").write_text("Rain falls.")
    (tmp_path / "shop.sql").write_text(SCHEMA)
    (tmp_path / "env.toml").write_text(ENV)
    return tmp_path


def test_an_episode_has_what_its_environment_names(folder: Path) -> None:
    with Environment.from_file(folder / "env.toml") as env, Episode(env) as episode:

        def play(name: str, **given: object) -> str:
            return str(episode.step(call(name, **given)).observation[0]["content"])

        episode.reset(Task("p", answer="x", info={"files": FILES}))
        assert play("file_read", file="a.txt") == "one"
        assert json.loads(play("run_tests"))["status"] != 0
        play("shell", command="printf two > a.txt")
        assert json.loads(play("run_tests"))["status"] == 0
        assert json.loads(play("web_search", query="rain"))[0]["url"] == "a.md"
        assert play("ask_user", question="Which?") == "blue"
        assert play("file_read", file="a.txt") == "two"

        episode.reset(Task("p", answer="x", info={"files": FILES}))
        assert play("file_read", file="a.txt") == "one"
        assert play("ask_user", question="Which?") == "blue"


def test_sql_has_the_rights_of_the_role(folder: Path) -> None:
    with Environment.from_file(folder / "env.toml") as env, Episode(env) as episode:

        def play(statement: str) -> str:
            made = call("sqlite", statement=statement)
            return str(episode.step(made).observation[0]["content"])

        episode.reset(Task("p", answer="x"))
        assert json.loads(play("SELECT * FROM orders")) == {"rows": [{"id": 1, "item": "bolt"}]}
        for statement in (
            "SELECT * FROM secrets",
            "DELETE FROM orders",
            "ATTACH '/tmp/x' AS y",
            "PRAGMA writable_schema = 1",
            "SELECT 1; DELETE FROM orders",
            "SELECT load_extension('x')",
        ):
            assert play(statement).startswith('{"error"'), statement
        assert play("SELECT zeroblob(1000000000)").startswith('{"error"')
        assert json.loads(play("SELECT count(*) AS n FROM orders")) == {"rows": [{"n": 1}]}


def test_a_statement_without_end_is_an_error(folder: Path) -> None:
    rows = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
    with Environment.from_file(folder / "env.toml") as env, Episode(env) as episode:
        episode.reset(Task("p", answer="x"))
        step = episode.step(call("sqlite", statement=f"{rows} SELECT count(*) FROM c"))

    assert str(step.observation[0]["content"]).startswith('{"error"')


def test_what_resources_hold_is_in_the_fingerprint(folder: Path) -> None:
    before = Environment.from_file(folder / "env.toml").fingerprint
    assert Environment.from_file(folder / "env.toml").fingerprint == before
    (folder / "docs/a.md").write_text("other")
    assert Environment.from_file(folder / "env.toml").fingerprint != before


def test_a_resource_that_is_not_there_is_an_error(folder: Path) -> None:
    text = (folder / "env.toml").read_text()
    (folder / "env.toml").write_text(text.replace('"docs"', '"nowhere"'))
    with pytest.raises(ConfigError, match="nowhere"):
        Environment.from_file(folder / "env.toml")


def test_the_content_of_the_corpus_is_part_of_the_fingerprint(folder: Path) -> None:
    def fingerprint() -> str:
        return Environment.from_file(folder / "env.toml").fingerprint

    first = fingerprint()
    assert fingerprint() == first
    (folder / "docs/a.md").write_text("Rain rises.")
    second = fingerprint()
    (folder / "docs/a.md").rename(folder / "docs/b.md")

    assert len({first, second, fingerprint()}) == 3


def test_the_content_of_a_corpus_of_rows_is_part_of_the_fingerprint(folder: Path) -> None:
    (folder / "env.toml").write_text(ENV.replace('"docs"', '"rows.jsonl"'))
    found = []
    for text in ("Rain falls.", "Rain rises."):
        (folder / "rows.jsonl").write_text(json.dumps({"url": "a", "text": text}) + "\n")
        found.append(Environment.from_file(folder / "env.toml").fingerprint)

    assert found[0] != found[1]


def test_a_corpus_has_no_links_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.md").write_text("a")
    (folder / "b.md").symlink_to(folder / "a.md")
    assert {*Corpus.load(folder).documents} == {"a.md", "b.md"}
    (folder / "c.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ConfigError, match=r"c\.md is a link that leads out"):
        Corpus.load(folder)
