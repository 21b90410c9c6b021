"""Every option of every installed stage and table is decided: what a stranger's env.toml may set
(``code=False``).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from attrs import has
from rlenv import ConfigError, Environment
from rlenv.config.files import File
from rlenv.config.fit import Option, build, options_of
from rlenv.config.marks import split_mark
from rlenv.config.problems import Problems
from rlenv.config.schema import EnvEntry, ResponseEntry, StageEntry, TaskEntry
from rlenv.config.taskfile import TasksEntry
from rlenv.plugins.registry import by_name, load_entry, registry, resolve
from rlenv_testing.reach import Target, reached, shapes

ROOT = Path(__file__).parents[1]
PORTS = ("constraint", "task-source")  # whose parts take options from an env.toml
OWN = (EnvEntry, ResponseEntry, StageEntry, TaskEntry, TasksEntry)


def _records(kind: object) -> Iterator[type]:
    """The classes of tables inside a type."""
    kind, _ = split_mark(kind)
    if isinstance(kind, type) and has(kind):
        yield kind
    for arm in get_args(kind) if get_origin(kind) is not Callable else ():
        yield from _records(arm)


def _named() -> Iterator[tuple[str, Any]]:
    known = registry()
    for plugin in [info.name for info in known.infos()]:
        for short in known.stages(plugin):
            yield f"{plugin}/{short}", known.stage_type(f"{plugin}/{short}")
        for port in PORTS:
            parts = known.supplied(plugin, "rlenv_parts").get(port) or {}
            for short, target in parts.items():
                yield f"{port} {short}", resolve(target) if isinstance(target, str) else target
    for name, entry in by_name("rlenv.tables").items():
        yield f"[{name}]", load_entry(entry, name)
    for cls in OWN:
        yield cls.__name__, cls


@functools.cache
def takers() -> dict[str, Any]:
    """What takes options, by name; the tables inside of it too."""
    found: dict[str, Any] = {}
    waiting = list(_named())
    while waiting:
        name, kind = waiting.pop()
        if kind in found.values():
            continue
        found[name] = kind
        for option in options_of(kind)[0]:
            waiting += [(f"{name}.{option.name}", each) for each in _records(option.declared)]
    return found


def undecided(option: Option) -> bool:
    """Whether its type can hold a text, or anything, and neither a mark nor ``File`` says what it
    is.
    """
    kinds = _leaves(option.declared)
    texts = next(shapes(option.declared, "text"), None) is not None
    is_file = kinds == {File}
    return option.safe is None and texts and not is_file


def _leaves(kind: object) -> set[object]:
    kind, _ = split_mark(kind)
    arms = [arm for arm in get_args(kind) if arm not in (type(None), ...)]
    origin = get_origin(kind)
    if not arms or origin is Callable:
        return {kind}
    return set().union(*map(_leaves, arms))


@pytest.mark.parametrize("name", takers())
def test_every_option_is_decided(name: str) -> None:
    options = [each for each in options_of(takers()[name])[0] if each.name != "slots"]
    assert [each.name for each in options if undecided(each)] == []


@pytest.mark.parametrize("name", takers())
def test_what_is_not_marked_as_safe_is_rejected(name: str) -> None:
    kind = takers()[name]
    for option in options_of(kind)[0]:
        if option.name == "slots" or option.safe is True:
            continue
        for value in shapes(option.declared, "/rlenv/nowhere"):
            problems = Problems(code=False)
            build(kind, {option.name: value}, "x", problems)
            told = [text for path, text in problems.found if path.startswith(f"x.{option.name}")]
            assert any("code=False rejects" in text for text in told), (option.name, told)


def test_this_law_finds_an_option_without_a_mark() -> None:
    def taker(place: str = "", many: list[Mapping[str, object]] = [], *, count: int = 0) -> None:  # noqa: B006
        """Take options."""

    assert [each.name for each in options_of(taker)[0] if undecided(each)] == ["place", "many"]


@pytest.mark.parametrize("prefix", ["[", "constraint "])
def test_what_is_marked_as_safe_reaches_nothing_outside(prefix: str) -> None:
    kinds = [kind for name, kind in takers().items() if name.startswith(prefix)]
    found = reached([Target(kind) for kind in kinds])
    assert [str(each) for each in found] == []


SAFE = (
    "examples/everyday/env.toml",
    "examples/bugfix/env.toml",
    "examples/code_pipeline/env.toml",
    "examples/code_review/env.toml",
    "examples/leaky_verifier/env.toml",
    "examples/leaky_verifier/fixed.toml",
    "examples/shaped_reward/env.toml",
    "examples/grpo/environments/tiny_environments/code.toml",
    "examples/grpo/environments/tiny_environments/constraint.toml",
    "examples/grpo/environments/tiny_environments/judge.toml",
    "examples/grpo/environments/tiny_environments/math.toml",
)
REJECTED = {
    "examples/agentic_rag/env.toml": "harness.tools[0]: it names code",
    "examples/dungeon/env.toml": "harness.user: it names code",
    "examples/gsm8k/env.toml": 'tasks.path: code=False rejects "${RLENV_DATA}',
    "examples/humaneval/env.toml": 'tasks.path: code=False rejects "${RLENV_DATA}',
    "examples/kernels/env.toml": "info.kernel.golden is a program",
    "examples/office/env.toml": "harness.tools[0]: it names code",
    "examples/research_notes/env.toml": 'stage[0].use: "./notes.py:answered": it names code',
    "examples/solver_critic/env.toml": 'stage[0].use: "./bill.py:total": it names code',
    "examples/support_desk/env.toml": "harness.tools[0]: it names code",
    "examples/grpo/environments/tiny_environments/evolving.toml": (
        "stage[0].options.store: code=False"
    ),
    "examples/grpo/environments/tiny_environments/leaky.toml": "it names code",
}


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLENV_JUDGE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RLENV_JUDGE_MODEL", "model")
    monkeypatch.setenv("OPENAI_API_KEY", "key")


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("path", SAFE)
def test_an_example_without_code_loads(path: str) -> None:
    Environment.from_file(ROOT / path, code=False).close()


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("path", REJECTED)
def test_an_example_that_reaches_outside_is_rejected(path: str) -> None:
    with pytest.raises(ConfigError) as error:
        Environment.from_file(ROOT / path, code=False)
    assert REJECTED[path] in str(error.value)


def test_each_example_is_one_of_the_two() -> None:
    files = ROOT.glob("examples/**/*.toml")
    found = {str(path.relative_to(ROOT)) for path in files if path.name != "pyproject.toml"}
    assert found == {*SAFE, *REJECTED}


def _strange(tmp_path: Path, stage: Mapping[str, object], **rest: object) -> str:
    """What loading the stage of a stranger says."""
    table = {"name": "strange", "stage": [stage], **rest}
    with pytest.raises(ConfigError) as error:
        Environment.from_dict(table, base_dir=tmp_path, code=False)
    return str(error.value)


def test_programs_of_a_stranger_get_no_weaker_isolation(tmp_path: Path) -> None:
    for isolation in ("process", "docker", "remote"):
        options = {"isolation": isolation, "min_isolation": "process"}
        told = _strange(tmp_path, {"use": "code/run", "options": options})
        for key in options:
            assert f"stage[0].options.{key}: code=False rejects" in told
    told = _strange(tmp_path, {"use": "code/run", "options": {"sandbox": {"runtime": "x"}}})
    assert "stage[0].options.sandbox: code=False rejects" in told


def test_a_judge_of_a_stranger_gets_no_host_key_or_file(tmp_path: Path) -> None:
    (tmp_path.parent / "secret.json").write_text(json.dumps(["a secret"]))
    judge = {"base_url": "https://example.org/v1", "key_env": "AWS_SECRET_ACCESS_KEY"}
    judge["cache"] = str(tmp_path.parent / "made.sqlite")
    options = {"judge": judge, "rubric": str(tmp_path.parent / "secret.json")}
    told = _strange(tmp_path, {"use": "judge/rubric", "options": options})
    for key in ("judge.base_url", "judge.key_env", "judge.cache", "rubric"):
        assert f"stage[0].options.{key}: code=False rejects" in told
    assert not (tmp_path.parent / "made.sqlite").exists()


def test_stages_inside_of_stages_are_a_strangers_too(tmp_path: Path) -> None:
    inner = {"use": "judge/rubric", "options": {"judge": {"base_url": "https://example.org/v1"}}}
    told = _strange(tmp_path, {"use": "agent/turns", "options": {"stages": [inner]}})
    assert "judge.base_url: code=False rejects" in told
    options = {"members": [{}, {"base_url": "https://example.org/v1"}], "options": {}}
    told = _strange(tmp_path, {"use": "judge/panel", "options": options})
    assert "stage[0].options.members[1].base_url: code=False rejects" in told
