"""The plugin as rlenv meets it: its hooks, examples, rewrites and attacks, and the weight of its
import.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import rlenv_plugin_constraints as plugin
from rlenv.compose.stages import PHASES, Attempt
from rlenv.model.values import Task
from rlenv.plugins.registry import resolve
from rlenv_plugin_constraints.kinds import KINDS
from rlenv_plugin_constraints.stages.all import All

SUITES: list[tuple[str, Any]] = [
    (name, suite)
    for name, suites in sorted(plugin.rlenv_examples().items())
    for suite in ([suites] if hasattr(suites, "right") else suites)
]
MINE = [suite for name, suite in SUITES if name == "all"]


def test_the_hooks_name_stages_that_exist_and_constrain() -> None:
    assert plugin.RLENV_API == 1
    targets = plugin.rlenv_stages()
    assert set(targets) == {"all", "ifeval", "ast", "schema"}
    for target in targets.values():
        stage: Any = resolve(target)
        assert stage.phase in PHASES
        assert stage.__doc__


def test_every_kind_is_a_part_that_other_plugins_may_use() -> None:
    parts = plugin.rlenv_parts()["constraint"]
    assert set(parts) == set(KINDS)


def test_every_stage_has_examples_rewrites_and_attacks() -> None:
    for hook in (plugin.rlenv_examples, plugin.rlenv_rewrites, plugin.rlenv_attacks):
        found = hook()
        assert {"all", "ifeval"} <= set(found) <= {"all", "ifeval", "ast", "schema"}
        assert all(found.values())
    assert len(plugin.rlenv_examples()) == len(plugin.rlenv_attacks()) == 4


@pytest.mark.parametrize("at", range(len(SUITES)))
def test_examples_are_worth_what_they_say(at: int) -> None:
    name, suite = SUITES[at]
    make: Any = resolve(plugin.rlenv_stages()[name])
    stage = make(**suite.options)
    passed = [
        response
        for task, response in suite.wrong
        if stage.check(Attempt(task, response)).score >= 1
    ]
    failed = [
        response for task, response in suite.right if stage.check(Attempt(task, response)).score < 1
    ]
    assert (passed, failed) == ([], [])


@pytest.mark.parametrize("rewrite", plugin.rlenv_rewrites()["ifeval"], ids=lambda r: r.name)
@pytest.mark.parametrize(
    ("table", "response"),
    [
        ({"kind": "json", "type": "object"}, '{"name": "José\'s"}\n'),
        ({"kind": "json_schema", "schema": {"const": ["José's"]}}, '["José\'s"]'),
        ({"kind": "python"}, "x = 'é'\n"),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
def test_a_document_is_kept_by_what_says_that_it_keeps(
    rewrite: Any, table: dict[str, Any], response: str
) -> None:
    task = Task("Write it.", info={"constraints": [table]})
    stage = All(source="info.constraints")
    changed = rewrite.apply(task, response)

    assert stage.check(Attempt(task, response)).score == 1.0
    assert changed is None or stage.check(Attempt(task, changed)).score == 1.0


@pytest.mark.parametrize("rewrite", plugin.rlenv_rewrites()["all"], ids=lambda r: r.name)
def test_a_rewrite_keeps_or_breaks_as_it_says(rewrite: Any) -> None:
    used = 0
    for suite in MINE:
        stage = All(**suite.options)
        for task, response in suite.right:
            changed = rewrite.apply(task, response)
            if changed is not None:
                used += 1
                assert (stage.check(Attempt(task, changed)).score == 1.0) is rewrite.keeps, changed
    assert used, "no example lets this rewrite apply"


@pytest.mark.parametrize("attack", plugin.rlenv_attacks()["all"], ids=lambda a: a.name)
def test_no_attack_is_paid(attack: Any) -> None:
    stage = All(source="info.constraints", score="all")
    tasks = {task.id: task for task, _ in MINE[0].right}
    paid = [
        task.id
        for task in tasks.values()
        if stage.check(Attempt(task, attack.build(task))).score > 0
    ]
    assert not paid


def test_importing_the_plugin_imports_none_of_its_stages() -> None:
    code = "import sys, json, rlenv_plugin_constraints; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout))
    assert not {"regex", "yaml", "jsonschema", "sqlglot"} & modules
    assert not {m for m in modules if m.startswith("rlenv_plugin_constraints.")}


def test_simple_kinds_import_no_library() -> None:
    code = (
        "import sys, json\n"
        "from rlenv.compose.stages import Attempt\n"
        "from rlenv.model.values import Task\n"
        "from rlenv_plugin_constraints.stages.all import All\n"
        "stage = All(constraints=[{'kind': 'max_words', 'n': 9}, {'kind': 'contains', 'words':"
        " ['dog']}])\n"
        "assert stage.check(Attempt(Task('q'), 'My dog sleeps')).score == 1\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"regex", "yaml", "jsonschema", "sqlglot"} & set(json.loads(done.stdout))
