"""The plugin as rlenv meets it: its hooks, and its examples, rewrites and attacks, held to what
they say.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import rlenv_plugin_code as plugin
from code_corpus import evaluated
from rlenv import Environment, Examples, Slot, Task
from rlenv.compose.stages import PHASES
from rlenv.plugins.registry import registry

Row = tuple[str, Task, str, bool]
BEFORE = {"diff": ("run",)}  # what makes the artifacts they need
LITTLE = {"memory_mb": 128}  # attacks that fill all memory are soon done
STAGES = sorted(plugin.rlenv_stages())
# Every second attack on one task and each rewrite of every eighth response, or all of them.
ALL = pytest.param(True, marks=pytest.mark.slow, id="all")  # a minute of programs
WHOLE = pytest.mark.parametrize("whole", [pytest.param(False, id="some"), ALL])


def suites(short: str) -> list[Examples]:
    return list(plugin.rlenv_examples()[short])


def environment(short: str, options: Any, limits: Any) -> Environment:
    names = (*BEFORE.get(short, ()), short)
    built = {name: registry().stage_type(f"code/{name}") for name in names}
    slots = [
        Slot(name, cls(**limits, **(options if name == short else {})), weight=float(name == short))
        for name, cls in built.items()
    ]
    return Environment(f"code-{short}", slots)


def scores(
    short: str, options: Any, pairs: list[tuple[Task, str]], **limits: Any
) -> list[float | None]:
    with environment(short, options, limits) as env:
        return [verdict.value for verdict in evaluated(env, pairs)]


def rewritten(short: str, examples: Examples, *, keeps: bool) -> Iterator[Row]:
    """Name, task, new response and whether it passed before, for every rewrite that applies."""
    for rewrite in plugin.rlenv_rewrites().get(short, ()):
        if rewrite.keeps == keeps:
            for passed, pairs in ((True, examples.right), (False, examples.wrong if keeps else ())):
                for task, response in pairs:
                    changed = rewrite.apply(task, response)
                    if changed is not None:
                        yield rewrite.name, task, changed, passed


def test_the_hooks_name_stages_that_exist() -> None:
    assert plugin.RLENV_API == 1
    assert set(STAGES) == {"compile", "run", "diff", "limits", "speed", "style", "tests"}
    for short in STAGES:
        cls: Any = registry().stage_type(f"code/{short}")
        assert cls.phase in PHASES
        assert cls.__module__.startswith("rlenv_plugin_code.stages.")


@pytest.mark.parametrize("short", STAGES)
def test_every_stage_has_examples_that_are_what_they_say(short: str) -> None:
    for examples in suites(short):
        pairs = [*examples.right, *examples.wrong]
        found = scores(short, examples.options, pairs)
        right = len(examples.right)

        assert None not in found
        assert [r for (_, r), s in zip(examples.right, found, strict=False) if s != 1.0] == []
        assert [
            r for (_, r), s in zip(examples.wrong, found[right:], strict=True) if s == 1.0
        ] == []


def thinned(rows: list[Row]) -> list[Row]:
    """Of each rewrite every eighth row, the first one too."""
    named: dict[str, list[Row]] = {}
    for row in rows:
        named.setdefault(row[0], []).append(row)
    return [row for some in named.values() for row in some[::8]]


@WHOLE
@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("short", sorted(plugin.rlenv_rewrites()))
def test_a_rewrite_keeps_or_loses_the_score_as_it_says(
    short: str, keeps: bool, whole: bool
) -> None:
    for examples in suites(short):
        rows = list(rewritten(short, examples, keeps=keeps))
        rows = rows if whole else thinned(rows)
        found = scores(short, examples.options, [(task, response) for _, task, response, _ in rows])
        wanted = [passed and keeps for _, _, _, passed in rows]
        odd = [row[:3] for row, s, w in zip(rows, found, wanted, strict=True) if (s == 1.0) != w]

        assert odd == []


def test_every_rewrite_applies_somewhere() -> None:
    for short, rewrites in plugin.rlenv_rewrites().items():
        right = [pair for examples in suites(short) for pair in examples.right]
        idle = [r.name for r in rewrites if all(r.apply(*pair) is None for pair in right)]

        assert idle == []


@WHOLE
@pytest.mark.parametrize("short", sorted(plugin.rlenv_attacks()))
def test_no_attack_is_paid(short: str, whole: bool) -> None:
    for examples in suites(short):
        right: Sequence[tuple[Any, str]] = examples.right
        tasks = list({task.info["tests"]["kind"]: task for task, _ in right}.values())
        rows = [
            (attack.name, task, attack.build(task))
            for number, attack in enumerate(plugin.rlenv_attacks()[short])
            if whole or number % 2 == 0
            for task in (tasks if whole else [tasks[number % len(tasks)]])
        ]
        pairs = [(task, response) for _, task, response in rows]
        found = scores(short, examples.options, pairs, **LITTLE)
        passing = [
            (name, task.id)
            for (name, task, _), s in zip(rows, found, strict=True)
            if s is None or s >= 0.999
        ]

        assert passing == []


def test_there_is_enough_material() -> None:
    assert len(plugin.rlenv_attacks()["diff"]) >= 40
    assert sum(r.keeps for r in plugin.rlenv_rewrites()["diff"]) >= 15
    assert sum(not r.keeps for r in plugin.rlenv_rewrites()["diff"]) >= 10
    assert sum(len(e.right) + len(e.wrong) for short in STAGES for e in suites(short)) >= 70


def test_importing_the_plugin_imports_none_of_its_stages() -> None:
    code = "import sys, json, rlenv_plugin_code; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout))

    assert not {"asyncio", "rlenv_plugin_sandbox", "rlenv_plugin_code.spec", "docker"} & modules
    assert not [name for name in modules if name.startswith("rlenv_plugin_code.")]


def test_who_waits_for_a_place_waits_where_no_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_SLOTS", "3")
    for short in STAGES:
        cls: Any = registry().stage_type(f"code/{short}")
        assert 1 <= cls().at_once <= 3, short
        assert cls().default_timeout >= 2 * 30 * cls().budget, short
    assert registry().stage_type("code/compile")(sandbox={"places": 5}).at_once == 5
