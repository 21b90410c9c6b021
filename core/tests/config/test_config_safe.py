"""``code=False``: what an env.toml of a stranger may set, and what is rejected with its path."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from attrs import field, frozen
from rlenv import ConfigError, Environment, Outcome, hookimpl
from rlenv.authoring import File, Problems, Safe, Unsafe, build, code_allowed
from rlenv.plugins.registry import registry


class Color(Enum):
    RED = "red"


@frozen
class Inner:
    """A table inside the options of a stage."""

    host: str = "localhost"
    times: int = 1
    label: Safe[str] = ""


@frozen(slots=False)
class Options:
    """A stage with an option of every sort."""

    number: int = 1
    share: float = 0.5
    flag: bool = False
    mode: Literal["a", "b"] = "a"
    color: Color = Color.RED
    numbers: Sequence[float] = ()
    maybe: int | str | None = None
    words: Sequence[str] = ("x",)
    anything: Any = None
    table: Mapping[str, object] = field(factory=dict)
    label: Safe[str] = ""
    labels: Safe[Mapping[str, list[str]]] = field(factory=dict)
    noted: str = field(default="", metadata={"safe": True})
    trust: Unsafe[bool] = False
    tier: str = field(default="strong", metadata={"safe": ("strong", "stronger")})
    place: File = field(factory=File)
    marked_place: Safe[File] = field(factory=File)
    inner: Inner = field(factory=Inner)
    inners: Sequence[Inner] = ()
    weak: Literal["process", "jail"] = "jail"
    converted: tuple[Inner, ...] = field(default=(), converter=tuple)
    sizes: tuple[float, ...] = field(default=(), converter=tuple)
    stages: Safe[Sequence[Mapping[str, object]]] = ()

    def __attrs_post_init__(self):
        if self.stages:
            Environment.from_dict({"name": "nested", "stage": [*self.stages]})

    def check(self, attempt):
        return Outcome(1.0)


class Plain:
    """A class without fields."""

    def __init__(self, label: Safe[str] = "", host: str = "", limit: int = 1, **more: object):
        self.label = label
        self.host = host
        self.limit = limit
        self.more = more

    def check(self, attempt):
        return Outcome(1.0)


def source(count: int = 1, label: Safe[str] = "", host: str = ""):
    for number in range(count):
        yield {"prompt": f"{label}{number}"}


@pytest.fixture(autouse=True)
def plugin():
    @hookimpl
    def rlenv_stages():
        return {"options": Options, "plain": Plain}

    @hookimpl
    def rlenv_parts():
        return {"task-source": {"source": source}}

    made = SimpleNamespace(rlenv_stages=rlenv_stages, rlenv_parts=rlenv_parts)
    registry().register(made, "strange")
    yield
    registry().unregister("strange")


@pytest.fixture
def load(tmp_path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "file.txt").write_text("text")
    (tmp_path / "outside.txt").write_text("text")

    def made(table, use="strange/options", **more):
        stage = {"use": use, "options": table}
        return Environment.from_dict(
            {"name": "x", "stage": [stage], **more}, base_dir=tmp_path / "inside", code=False
        )

    return made


@pytest.mark.parametrize(
    "table",
    [
        {"number": 2, "share": 0.1, "flag": True, "mode": "b", "color": "red", "numbers": [1, 2.5]},
        {"maybe": 3, "label": "http://host", "labels": {"a": ["b"]}, "noted": "OPENAI_API_KEY"},
        {"tier": "stronger", "place": "file.txt", "marked_place": "file.txt"},
        {"inner": {"times": 3, "label": "x"}, "inners": [{"times": 2}]},
        {"words": ["x"], "trust": False, "tier": "strong", "table": {}, "anything": None},
        {"stages": [{"use": "core/equal"}], "weak": "jail", "sizes": [1, 2.5]},
    ],
)
def test_what_reaches_nothing_may_be_set(load, table):
    load(table).close()


@pytest.mark.parametrize(
    ("table", "where"),
    [
        ({"maybe": "text"}, "maybe"),
        ({"words": ["x", "y"]}, "words"),
        ({"anything": 1}, "anything"),
        ({"table": {"a": True}}, "table"),
        ({"trust": True}, "trust"),
        ({"weak": "process"}, "weak"),
        ({"converted": [{"times": 1}]}, "converted"),
        ({"tier": "weak"}, "tier"),
        ({"inner": {"host": "example.org"}}, "inner.host"),
        ({"inners": [{"host": "a"}, {"host": "b"}]}, "inners[1].host"),
        ({"place": "../outside.txt"}, "place"),
        ({"marked_place": "../outside.txt"}, "marked_place"),
        ({"place": "/etc/passwd"}, "place"),
        ({"place": "${HOME}"}, "place"),
        ({"place": "link.txt"}, "place"),
        ({"place": "folder"}, "place"),
        (
            {"stages": [{"use": "strange/options", "options": {"inner": {"host": "h"}}}]},
            "stage[0].options.inner.host",
        ),
    ],
)
def test_what_may_reach_outside_is_rejected_with_its_path(load, tmp_path, table, where):
    (tmp_path / "inside" / "link.txt").symlink_to(tmp_path / "outside.txt")
    (tmp_path / "inside" / "folder").mkdir()
    (tmp_path / "inside" / "folder" / "deep").symlink_to(tmp_path)
    with pytest.raises(ConfigError, match="code=False rejects") as error:
        load(table)
    assert f"stage[0].options.{where}" in str(error.value)
    Environment.from_dict({"name": "x", "stage": [{"use": "core/equal"}]}).close()


def test_all_of_them_are_told_at_once(load):
    with pytest.raises(ConfigError) as error:
        load({"words": ["y"], "place": "/etc", "inner": {"host": "h"}}, observers=["core"])
    lines = str(error.value).splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "observers",
        "stage[0].options.words",
        "stage[0].options.place",
        "stage[0].options.inner.host",
    ]


def test_the_message_says_how_the_author_marks_an_option(load):
    with pytest.raises(ConfigError, match=r"test_config_safe\.Options declares words: Safe\[") as e:
        load({"words": ["y"]})
    assert "set it yourself with set_options" in str(e.value)


def test_what_the_caller_sets_is_not_judged(tmp_path):
    given = {"options.words": ["y"], "options.inner": {"host": "h"}, "options.place": "/etc"}
    mapping = {"name": "x", "stage": [{"use": "strange/options"}]}
    Environment.from_dict(mapping, set_options=given, code=False, base_dir=tmp_path).close()


def test_a_class_without_fields_marks_its_parameters(load):
    load({"label": "text", "limit": 3}, use="strange/plain").close()
    for key in ("host", "other"):
        with pytest.raises(ConfigError, match=rf"options\.{key}: code=False rejects"):
            load({key: "text"}, use="strange/plain")


def test_children_of_composites_are_judged(tmp_path):
    child = {"use": "strange/options", "options": {"words": ["y"]}}
    mapping = {"name": "x", "stage": [{"use": "core/any", "stage": [child]}]}
    with pytest.raises(ConfigError, match=r"stage\[0\]\.stage\[0\]\.options\.words: code=False"):
        Environment.from_dict(mapping, code=False, base_dir=tmp_path)


def test_options_of_a_source_of_tasks_are_judged(load):
    load({}, tasks={"use": "strange/source", "options": {"count": 2, "label": "x"}}).close()
    with pytest.raises(ConfigError, match=r"tasks\.options\.host: code=False rejects"):
        load({}, tasks={"use": "strange/source", "options": {"host": "x"}})


@pytest.mark.parametrize("path", ["/etc/tasks.jsonl", "../tasks.jsonl", "${HOME}/tasks.jsonl"])
def test_tasks_are_inside_of_the_folder(load, tmp_path, path):
    (tmp_path / "inside" / "tasks.jsonl").write_text('{"prompt": "a"}')
    load({}, tasks={"path": "tasks.jsonl"}).close()
    with pytest.raises(ConfigError, match=r"tasks\.path: code=False rejects") as error:
        load({}, tasks={"path": path})
    assert "without code=False" in str(error.value)


def test_tables_that_a_stage_reads_by_itself_are_a_strangers_too(load):
    seen = []

    class Reader(Plain):
        def __init__(self):
            problems = Problems()
            build(Inner, {"host": "h"}, "inner", problems)
            seen.append((code_allowed(), problems.lines()))

    registry().unregister("strange")
    stages = hookimpl(lambda: {"options": Reader})
    registry().register(SimpleNamespace(rlenv_stages=stages), "strange")
    load({}).close()
    assert seen[0][0] is False
    assert seen[0][1][0].startswith("inner.host: code=False rejects")
    assert code_allowed()


def test_a_folder_is_inside_wherever_the_process_works(load, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    load({"place": "file.txt"}).close()
    assert Path("outside.txt").exists()


@pytest.mark.parametrize("name", ["pipe", "folder"])
def test_a_pipe_is_rejected_since_reading_it_may_never_end(load, tmp_path, name):
    (tmp_path / "inside" / "folder").mkdir()
    os.mkfifo(tmp_path / "inside" / "pipe")
    os.mkfifo(tmp_path / "inside" / "folder" / "deep")
    with pytest.raises(ConfigError, match=r"place: code=False rejects .* not a regular file"):
        load({"place": name})


def test_a_path_that_no_file_can_have_is_a_mistake(load):
    with pytest.raises(ConfigError, match=r"place: code=False rejects .* no file can have"):
        load({"place": "a\0b"})
    with pytest.raises(ConfigError, match=r"tasks\.path: code=False rejects"):
        load({}, tasks={"path": "a\0b.jsonl"})


def test_a_folder_that_is_too_large_to_look_through_is_rejected(load, tmp_path, monkeypatch):
    monkeypatch.setattr("rlenv.config.safety._MOST", 3)
    folder = tmp_path / "inside" / "folder"
    folder.mkdir()
    for number in range(3):
        (folder / str(number)).write_text("")
    load({"place": "folder"}).close()
    (folder / "3").symlink_to("0")
    with pytest.raises(ConfigError, match=r"place: code=False rejects .* more than 3 entries"):
        load({"place": "folder"})


def test_the_caller_sets_where_the_tasks_are_as_the_message_says(load, tmp_path, monkeypatch):
    (tmp_path / "data.jsonl").write_text('{"prompt": "a"}')
    monkeypatch.setenv("DATA_OF_TESTS", str(tmp_path))
    mapping = {
        "name": "x",
        "stage": [{"use": "strange/options", "name": "tasks"}],
        "tasks": {"path": "${DATA_OF_TESTS}/data.jsonl"},
    }
    with pytest.raises(ConfigError, match=r"set the path yourself, set_options=") as error:
        Environment.from_dict(mapping, code=False, base_dir=tmp_path)
    told = str(error.value).partition("set_options=")[2]
    setting, _ = json.JSONDecoder().raw_decode(told)
    given = {**setting, "tasks.number": 3}
    with Environment.from_dict(mapping, code=False, base_dir=tmp_path, set_options=given) as env:
        assert [task.prompt for task in env.tasks] == ["a"]
        assert env.slots[0].stage.number == 3


@pytest.mark.parametrize("code", [True, False])
def test_a_path_of_tasks_that_the_caller_sets_is_told_as_a_setting(load, tmp_path, code):
    mapping = {"name": "x", "stage": [{"use": "strange/options"}], "tasks": {"path": "a.jsonl"}}
    given = {"tasks.path": 3}
    with pytest.raises(ConfigError, match=r'setting "tasks\.path": expected the path of a file'):
        Environment.from_dict(mapping, code=code, set_options=given)
