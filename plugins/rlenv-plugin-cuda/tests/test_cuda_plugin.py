"""The plugin as rlenv meets it: its hooks, what importing it costs, and its examples, rewrites and
attacks.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from typing import Any

import pytest
import rlenv_plugin_cuda as plugin
from rlenv import Environment, Slot
from rlenv.compose.stages import PHASES, Attempt
from rlenv.plugins.registry import registry
from rlenv_plugin_cuda.allowing import refused
from rlenv_plugin_cuda.artifacts import Program
from rlenv_plugin_cuda.examples import MATMUL, SAXPY, SUM, VADD
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.programs import program_of
from rlenv_plugin_cuda.reading import kernel_of

STAGES = sorted(plugin.rlenv_stages())
HEAVY = {"numpy", "numba", "triton", "torch", "asyncio", "llvmlite", "cuda", "rlenv_plugin_sandbox"}
RIGHT = [pair for examples in plugin.rlenv_examples()["diff"] for pair in examples.right]


def test_the_hooks_name_stages_that_exist() -> None:
    assert plugin.RLENV_API == 1
    assert STAGES == ["compile", "diff", "limits", "run", "speed"]
    for short in STAGES:
        cls: Any = registry().stage_type(f"cuda/{short}")
        assert cls.phase in PHASES
        assert cls.uses == ("info.kernel",)
        assert cls().default_timeout > 4 * getattr(cls(), "budget", 10.0)


def modules_after(code: str) -> set[str]:
    code = f"import sys, json; {code}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_the_plugin_imports_no_stage_and_no_numbers() -> None:
    modules = modules_after("import rlenv_plugin_cuda")

    assert not HEAVY & modules
    assert not [name for name in modules if name.startswith("rlenv_plugin_cuda.")]


def test_importing_every_stage_imports_no_numbers_either() -> None:
    stages = ", ".join(f"rlenv_plugin_cuda.stages.{short}" for short in STAGES)

    assert not {"numpy", "numba", "triton", "torch", "llvmlite"} & modules_after(f"import {stages}")


@pytest.mark.parametrize("task", [VADD, SAXPY, SUM, MATMUL], ids=lambda task: str(task.id))
def test_the_tasks_of_the_examples_are_sound(task: Any) -> None:
    lint(kernel_of(task), task.id)


def test_what_is_right_stays_right_when_it_is_rewritten_and_what_is_changed_does_not() -> None:
    with Environment(
        "rewrites",
        [
            Slot(name, registry().stage_type(f"cuda/{name}")(), weight=float(name == "diff"))
            for name in ("run", "diff")
        ],
    ) as env:
        rows = [
            (rewrite.name, task, changed, float(rewrite.keeps))
            for rewrite in plugin.rlenv_rewrites()["diff"]
            for task, response in RIGHT[:1] + RIGHT[3:4]
            if (changed := rewrite.apply(task, response)) is not None
        ]
        verdicts = env.evaluate_many([(task, text) for _, task, text, _ in rows], workers=1)
        values = [
            env.evaluate(row[1], row[2]).value if verdict.fault else verdict.value
            for row, verdict in zip(rows, verdicts, strict=True)
        ]

    assert [row[0] for row, value in zip(rows, values, strict=True) if value != row[3]] == []
    assert len({row[0] for row in rows}) >= 20


def test_every_rewrite_applies_somewhere() -> None:
    for rewrites in plugin.rlenv_rewrites().values():
        idle = [r.name for r in rewrites if all(r.apply(*pair) is None for pair in RIGHT)]

        assert idle == []


def test_attacks_by_the_plan_are_refused_before_anything_runs() -> None:
    attacks = plugin.rlenv_attacks()
    for attack in attacks["compile"]:
        program = program_of(Attempt(VADD, attack.build(VADD)), "numba")
        if isinstance(program, Program):
            assert refused(program) is not None, attack.name
    assert sum(len(known) for known in attacks.values()) >= 100


def test_attacks_by_kernels_are_kernels_that_keep_the_rules() -> None:
    kernels = [
        a for a in plugin.rlenv_attacks()["diff"] if a not in plugin.rlenv_attacks()["compile"]
    ]
    kept = []
    for attack in kernels:
        program = program_of(Attempt(MATMUL, attack.build(MATMUL)), "numba")
        if isinstance(program, Program) and refused(program) is None:
            ast.parse(program.source)
            kept.append(attack.name)

    assert {"nothing", "zeros", "ones", "one element too far"} <= set(kept)
