"""The [tasks] table: columns, patterns, templates and values; every bad row named, twenty at
once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rlenv import ConfigError, Environment, InputError, Task, hookimpl
from rlenv.config.taskfile import load_tasks
from rlenv.model.tasks import Tasks
from rlenv.plugins.registry import registry

GSM = [
    {"question": "2+2?", "answer": "Add.\n#### 4", "level": 1, "id": 7},
    {"question": "3+3?", "answer": "Add.\n#### 6", "level": 2, "id": 8},
]


@pytest.fixture
def tasks(tmp_path: Path) -> Any:
    """Load tasks from these rows with this table."""

    def load(rows: list[Any], **spec: Any) -> list[Task]:
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        (tmp_path / "t.jsonl").write_text(text)
        return load_tasks({"path": "t.jsonl", **spec}, tmp_path)

    return load


def refusal(load: Any, *args: Any, **spec: Any) -> list[str]:
    with pytest.raises((InputError, ConfigError)) as caught:
        load(*args, **spec)
    lines = str(caught.value).splitlines()
    return [line.partition("t.jsonl: ")[2] or line for line in lines]


def test_columns_patterns_templates_and_values(tasks: Any) -> None:
    found = tasks(
        GSM,
        id="id",
        prompt={"template": "{question}\nPut it in \\boxed{}, as {{x}}."},
        answer={"column": "answer", "pattern": "#### (.+)$"},
        split={"value": "test"},
        info={"level": "level", "tests": {"kind": {"value": "asserts"}, "deep": {"n": "level"}}},
    )

    assert found[0] == Task(
        prompt="2+2?\nPut it in \\boxed{}, as {x}.",
        answer="4",
        info={"level": 1, "tests": {"kind": "asserts", "deep": {"n": 1}}},
        id="7",
        split="test",
    )


def test_by_default_prompt_is_the_column_and_the_id_a_hash(tasks: Any) -> None:
    (found,) = Tasks(tasks([{"prompt": "p", "answer": "unread"}]))

    assert (found.prompt, found.answer, found.split) == ("p", None, "train")
    assert len(found.id or "") == 16


def test_nested_columns_are_reached_with_dots(tasks: Any) -> None:
    rows = [{"prompt": "p", "a": {"b": {"c": 3}}, "x.y": 4}]
    (found,) = tasks(rows, answer="a.b.c", info={"plain": "x.y"})

    assert (found.answer, found.info) == (3, {"plain": 4})


def test_names_in_info_are_free(tasks: Any) -> None:
    (found,) = tasks([{"prompt": "p", "v": 1}], info={"value": "v", "column": {"value": True}})

    assert found.info == {"value": 1, "column": True}


def test_a_system_prompt_gives_messages(tasks: Any) -> None:
    (found,) = tasks([{"prompt": "p"}], system_prompt={"value": "Be brief."})

    assert found.prompt == "p"
    assert found.info["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "p"},
    ]
    assert found.messages == found.info["messages"] == found.public()["messages"]


def test_a_prompt_may_be_messages(tasks: Any) -> None:
    messages = [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "second"},
    ]
    (found,) = tasks([{"prompt": messages}])

    assert found.prompt == "second"
    assert found.info == {"messages": messages}
    assert found.messages == messages


@pytest.mark.parametrize(
    ("row", "spec", "words"),
    [
        ({"prompt": " "}, {}, "row 1: the prompt is blank"),
        ({"prompt": None}, {}, "row 1: the prompt is None"),
        ({"prompt": 3}, {}, "row 1: the prompt is 3"),
        ({"prompt": []}, {}, "row 1: the prompt is None"),
        ({"prompt": [{"role": "user"}]}, {}, "expected messages with role and content"),
        ({"prompt": [{"role": "user", "content": [1]}]}, {}, "row 1: the prompt is [1]"),
        ({"question": "p", "a": 1}, {}, "row 1: no column 'prompt'; the columns are: a, question"),
        ({"Prompt": "p"}, {}, 'did you mean "Prompt"? (columns: Prompt)'),
        ({}, {}, "row 1: no column 'prompt'; the row is empty"),
        (
            {"prompt": "p", "answer": "3"},
            {"answer": {"column": "answer", "pattern": "#(.)"}},
            "row 1: answer does not match '#(.)': '3'",
        ),
        (
            {"prompt": "p", "answer": 3},
            {"answer": {"column": "answer", "pattern": "(.)"}},
            "does not match",
        ),
        (
            {"prompt": "p", "answer": "b"},
            {"answer": {"column": "answer", "pattern": "(a)?b"}},
            "does not match",
        ),
        ({"prompt": "p", "id": " "}, {"id": "id"}, "row 1: the id is ' '"),
        ({"prompt": "p", "id": None}, {"id": "id"}, "row 1: the id is None"),
        ({"prompt": "p", "id": 1.5}, {"id": "id"}, "row 1: the id is 1.5"),
        ({"prompt": "p", "id": True}, {"id": "id"}, "row 1: the id is True"),
        ({"prompt": "p", "s": 1}, {"split": "s"}, "row 1: the split is 1"),
        ({"prompt": "p", "s": ""}, {"system_prompt": "s"}, "row 1: the system prompt is ''"),
        (
            {"prompt": "p", "m": 1},
            {"system_prompt": {"value": "s"}, "info": {"messages": "m"}},
            "is taken",
        ),
        ({"prompt": "p", "m": 1}, {"info": {"messages": "m"}}, "is taken"),
        (
            {"q": None},
            {"prompt": {"template": "{q}"}},
            "row 1: q is None, and the template needs a text",
        ),
        (
            {"q": "a"},
            {"prompt": {"template": "{qq}"}},
            (
                "no column 'qq'; did you mean \"q\"? (columns: q); for braces as they stand write"
                " {{qq}}"
            ),
        ),
        ("{", {}, "line 1, column"),
    ],
)
def test_a_bad_row_is_told(tasks: Any, row: Any, spec: Mapping[str, Any], words: str) -> None:
    (line,) = refusal(tasks, [row], **spec)

    assert words in line


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"promt": "p"}, 'tasks.promt: unknown key; did you mean "prompt"?'),
        (
            {"prompt": 3},
            (
                "tasks.prompt: expected a column, { column, pattern }, { template } or { value },"
                " got 3"
            ),
        ),
        ({"prompt": None}, "tasks.prompt: expected a column"),
        ({"answer": {}}, "tasks.answer: expected a column"),
        ({"answer": {"column": "a", "patern": "b"}}, "tasks.answer: expected a column"),
        ({"answer": {"column": "a", "pattern": "("}}, "tasks.answer.pattern: '(' is no pattern"),
        ({"answer": {"column": "a", "pattern": "a"}}, "it has no group"),
        ({"answer": {"column": "a", "pattern": 3}}, "tasks.answer.pattern: 3 is no pattern"),
        ({"info": {"a": {"b": 3}}}, "tasks.info.a.b: expected a column"),
        ({"info": "a"}, 'tasks.info: expected a table, got "a"'),
        ({"use": "a/b"}, "tasks: give either path"),
        ({"path": "${RLENV_NOT_SET}/x"}, "the environment variable RLENV_NOT_SET is not set"),
        ({"path": "none.jsonl"}, "there is no such file"),
        ({"path": "none.txt"}, "the name ends in none of"),
        ({"path": ""}, "tasks: give either path"),
        ({"path": "."}, "the name ends in none of"),
    ],
)
def test_a_wrong_table_is_told(tasks: Any, spec: Mapping[str, Any], words: str) -> None:
    (line,) = refusal(tasks, [{"prompt": "p"}], **spec)

    assert words in line


def test_every_mistake_of_the_table_at_once(tasks: Any) -> None:
    found = refusal(tasks, [], answer=3, id=4, info={"a": 5})

    assert [line.split(": ")[0] for line in found] == ["tasks.id", "tasks.answer", "tasks.info.a"]


def test_a_variable_in_the_path_expands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.jsonl").write_text('{"prompt": "p"}')
    monkeypatch.setenv("RLENV_TEST_DATA", str(tmp_path))

    spec = {"path": "${RLENV_TEST_DATA}/t.jsonl"}

    assert load_tasks(spec, Path("/elsewhere"))[0].prompt == "p"


def test_two_rows_of_one_id_are_both_named(tasks: Any) -> None:
    rows = [{"prompt": "a", "id": "x"}, {"prompt": "b", "id": "y"}, {"prompt": "c", "id": "x"}]

    assert refusal(tasks, rows, id="id") == ["rows 1 and 3 have the same id 'x'"]


def test_two_equal_rows_are_both_named(tasks: Any) -> None:
    assert refusal(tasks, [{"prompt": "a"}] * 2) == [
        "rows 1 and 2 have the same prompt, answer and info"
    ]


def test_of_many_bad_rows_twenty_are_told(tasks: Any) -> None:
    found = refusal(tasks, [{"prompt": " "}] * 50)

    assert len(found) == 21
    assert found[-1] == "and 30 more"


def test_a_missing_column_is_told_once(tasks: Any) -> None:
    assert refusal(tasks, [{"question": "a"}] * 50) == [
        "row 1 and 49 more: no column 'prompt'; the columns are: question"
    ]


def test_all_missing_columns_are_told_at_once(tasks: Any) -> None:
    found = refusal(tasks, [{"q": "a"}] * 2, id="nr", prompt="question", info={"n": "nr"})

    assert [line.partition(";")[0] for line in found] == [
        "row 1 and 1 more: no column 'nr'",
        "row 1 and 1 more: no column 'question'",
    ]


def test_a_wrong_path_hides_no_wrong_column(tasks: Any) -> None:
    bad = {"column": "a", "pattern": "("}
    found = refusal(tasks, [], path="${RLENV_NOT_SET}/x", answer=bad, info={"a": 5})

    assert [line.split(": ")[0] for line in found] == [
        "tasks.path", "tasks.answer.pattern", "tasks.info.a",
    ]  # fmt: skip


def test_no_rows_are_no_tasks(tasks: Any) -> None:
    assert refusal(tasks, []) == ["there are no rows"]


def test_tasks_may_come_from_a_plugin(tmp_path: Path) -> None:
    def source(n: int, **_: Any) -> Any:
        yield from (Task(f"p{i}") for i in range(n))
        yield {"prompt": "row"}

    @hookimpl
    def rlenv_parts() -> dict[str, Any]:
        return {"task-source": {"count": source, "broken": lambda: 1 / 0}}

    registry().register(SimpleNamespace(rlenv_parts=rlenv_parts), "fake-source")
    try:
        spec = {"use": "fake-source/count", "options": {"n": 2}}
        assert [task.prompt for task in load_tasks(spec, tmp_path)] == ["p0", "p1", "row"]
        for use, words in (("count", "missing 1 required"), ("broken", "ZeroDivisionError")):
            with pytest.raises(InputError, match=words):
                load_tasks({"use": f"fake-source/{use}"}, tmp_path)
    finally:
        registry().unregister("fake-source")


def test_an_environment_reads_its_tasks_beside_itself(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('q,a\n"2+2, what is it?",4\n')
    path = tmp_path / "env.toml"
    path.write_text(
        'name = "x"\n[tasks]\npath = "t.csv"\nprompt = "q"\nanswer = "a"\n'
        '[[stage]]\nuse = "core/equal"\n[[task]]\nprompt = "inline"\nanswer = 3\nid = 5\n'
    )

    env = Environment.from_file(path)

    assert env.verify("2+2, what is it?", "4") == 1.0
    assert env.verify("inline", "3") == 1.0
    assert env.tasks[1].id == "5"


def test_bad_rows_and_bad_stages_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"prompt": " "}\n{"prompt": ""}\n')
    path = tmp_path / "env.toml"
    path.write_text('name = "x"\n[tasks]\npath = "t.jsonl"\n[[stage]]\nuse = "core/eqal"\n')

    with pytest.raises(ConfigError) as caught:
        Environment.from_file(path)

    assert len(caught.value.problems) == 3
    assert sum("t.jsonl: row" in line for line in caught.value.problems) == 2
