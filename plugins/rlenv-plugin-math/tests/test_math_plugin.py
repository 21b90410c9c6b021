"""The plugin as rlenv meets it: its hooks, its examples, rewrites and attacks, and the weight of
its import.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import rlenv_plugin_math as plugin
from rlenv.compose.stages import PHASES, Attempt
from rlenv.model.values import Task
from rlenv_plugin_math.boxed import Boxed
from rlenv_plugin_math.equal import Equal

STAGES: dict[str, Any] = {"equal": Equal(), "boxed": Boxed()}
SUITES = [(name, suite) for name, suites in plugin.rlenv_examples().items() for suite in suites]
RIGHT = [(n, task, r) for n, suite in SUITES for task, r in suite.right]
WRONG = [(n, task, r) for n, suite in SUITES for task, r in suite.wrong]
REWRITES = plugin.rlenv_rewrites()["equal"]
ATTACKS = [(name, attack) for name, attacks in plugin.rlenv_attacks().items() for attack in attacks]


def score(name: str, task: Task, response: str) -> float:
    return float(STAGES[name].check(Attempt(task, response)).score)


def test_the_hooks_name_stages_that_exist() -> None:
    assert plugin.RLENV_API == 1
    targets = plugin.rlenv_stages()
    assert set(targets) == {"equal", "boxed"}
    for name, target in targets.items():
        module, _, attribute = target.partition(":")
        assert type(STAGES[name]).__module__ == module
        assert type(STAGES[name]).__name__ == attribute
        assert STAGES[name].phase in PHASES
        assert STAGES[name].where == "inline"


def test_every_option_is_documented() -> None:
    fields = [f for f in Equal.__attrs_attrs__ if f.init]
    assert {"extract", "unparsed", "tolerance", "require_unit"} <= {f.name for f in fields}
    assert all(f.metadata.get("doc") and f.type for f in fields)


def test_there_is_enough_material() -> None:
    assert len([r for r in RIGHT if r[0] == "equal"]) >= 60
    assert len([r for r in WRONG if r[0] == "equal"]) >= 60
    assert sum(r.keeps for r in REWRITES) >= 12
    assert sum(not r.keeps for r in REWRITES) >= 6
    assert sum(name == "equal" for name, _ in ATTACKS) >= 20
    for names in ([r.name for r in REWRITES], [a.name for n, a in ATTACKS if n == "equal"]):
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(("name", "task", "response"), RIGHT)
def test_right_examples_pass(name: str, task: Task, response: str) -> None:
    assert score(name, task, response) == 1.0


@pytest.mark.parametrize(("name", "task", "response"), WRONG)
def test_wrong_examples_do_not(name: str, task: Task, response: str) -> None:
    assert score(name, task, response) == 0.0


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda r: r.name)
def test_a_rewrite_keeps_or_loses_the_score_as_it_says(rewrite: Any) -> None:
    used = 0
    for _, task, response in [r for r in RIGHT if r[0] == "equal"]:
        changed = rewrite.apply(task, response)
        if changed is None:
            continue
        used += 1
        assert score("equal", task, changed) == (1.0 if rewrite.keeps else 0.0), changed
    assert used, "no example lets this rewrite apply"


@pytest.mark.parametrize("rewrite", [r for r in REWRITES if r.keeps], ids=lambda r: r.name)
def test_a_keeping_rewrite_helps_no_wrong_answer(rewrite: Any) -> None:
    for _, task, response in [w for w in WRONG if w[0] == "equal"]:
        changed = rewrite.apply(task, response)
        assert changed is None or score("equal", task, changed) == 0.0, changed


@pytest.mark.parametrize(("name", "attack"), ATTACKS, ids=lambda a: getattr(a, "name", a))
def test_no_attack_is_paid(name: str, attack: Any) -> None:
    tasks = {task.id: task for n, task, _ in RIGHT if n == name}
    paid = [task.answer for task in tasks.values() if score(name, task, attack.build(task)) > 0]
    assert not paid


def fresh(code: str) -> Any:
    """What a fresh interpreter prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_importing_the_plugin_imports_none_of_its_stages() -> None:
    code = "import sys, json, rlenv_plugin_math; print(json.dumps(sorted(sys.modules)))"
    modules = set(fresh(code))
    assert not {"sympy", "mpmath", "rlenv_plugin_math.equal", "rlenv_plugin_math.parser"} & modules


def test_a_plain_number_is_verified_without_parser_units_or_sympy() -> None:
    code = (
        "import sys, json\nfrom rlenv import Attempt, Task\nfrom"
        " rlenv_plugin_math.equal import Equal\nstage, task = Equal(), Task('q',"
        " answer='18')\nstage.validate(task)\nright = [r'\\boxed{18}', 'The answer is 18.', '####"
        " 18', '18', 'A: 18', '<answer>18.0</answer>', r'\\boxed{$18$}']\nassert"
        " all(stage.check(Attempt(task, r)).score == 1 for r in right)\nassert"
        " stage.check(Attempt(task, r'\\boxed{19}')).score =="
        " 0\nprint(json.dumps(sorted(sys.modules)))"
    )
    modules = set(fresh(code))
    assert not {m for m in modules if m.partition(".")[0] in ("sympy", "mpmath", "hypothesis")}
    ours = {m for m in modules if m.startswith("rlenv_plugin_math")}
    assert (
        not {"rlenv_plugin_math.units", "rlenv_plugin_math.parser", "rlenv_plugin_math.compare"}
        & ours
    )
