"""Every installed stage: another setting has another fingerprint, and an equal one has the same in
every process.
"""

import json
import os
import subprocess
import sys
from typing import Any, Literal, get_args, get_origin

import pytest
from rlenv import Environment
from rlenv.config.fit import options_of
from rlenv.model.errors import RlenvError
from rlenv.plugins.registry import registry

USES = [
    f"{info.name}/{short}"
    for info in registry().infos()
    for short in sorted(registry().stages(info.name))
]
CODE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_fingerprints import USES, built
print(json.dumps({use: built(use)[1] for use in USES}))
"""


def built(use: str) -> tuple[dict[str, Any], str | None]:
    """Options with which the stage can be built, those of its plugin's examples or none, and its
    fingerprint.
    """
    plugin, _, short = use.partition("/")
    sets = registry().supplied(plugin, "rlenv_examples").get(short, ())
    for one in sets if isinstance(sets, (list, tuple)) else [sets]:
        if made := name(use, dict(one.options)):
            return dict(one.options), made
    return {}, name(use, {})


def name(use: str, options: dict[str, Any]) -> str | None:
    """The fingerprint; None where these options make no environment."""
    try:
        with Environment.from_dict(
            {"name": "e", "stage": [{"use": use, "options": options}]}
        ) as env:
            return env.fingerprint
    except RlenvError:
        return None


def others(kind: Any, value: Any) -> list[Any]:
    """Other values of an option than this one."""
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if one != value]
    if kind is bool or isinstance(value, bool):
        return [not value]
    if isinstance(value, (int, float)):
        return [value + 1, value / 2, value + 0.25, value - 1]
    return []


def settings(use: str) -> dict[str, str | None]:
    """The fingerprints of a stage with its options as they are, and with each of them changed."""
    base, made = built(use)
    if made is None:
        return {}
    found: dict[str, str | None] = {"": made}
    for option in options_of(registry().stage_type(use))[0]:
        value = base.get(option.name, option.given)
        for other in others(option.kind, value):
            if made := name(use, {**base, option.name: other}):
                found[option.name] = made
                break
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, str | None]]:
    return {use: settings(use) for use in USES}


@pytest.mark.parametrize("use", USES)
def test_each_option_of_a_stage_counts(use: str, found: dict[str, dict[str, str | None]]) -> None:
    prints = found[use]
    assert len({*prints.values()}) == len(prints)


def test_most_stages_could_be_built_and_changed(found: dict[str, dict[str, str | None]]) -> None:
    assert sum(len(prints) > 1 for prints in found.values()) > len(USES) / 3


def test_another_process_finds_the_same(found: dict[str, dict[str, str | None]]) -> None:
    env = {**os.environ, "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", CODE, os.path.dirname(__file__)],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {use: prints.get("") for use, prints in found.items()}


@pytest.mark.parametrize("use", USES)
def test_verifying_changes_no_fingerprint(
    use: str, found: dict[str, dict[str, str | None]]
) -> None:
    plugin, _, short = use.partition("/")
    if getattr(registry().stage_type(use), "where", "worker") != "inline":
        return  # its object is used in a worker, which nobody asks for a fingerprint
    sets = registry().supplied(plugin, "rlenv_examples").get(short, ())
    for one in sets if isinstance(sets, (list, tuple)) else [sets]:
        options = dict(one.options)
        before = name(use, options)
        if before is None:
            continue
        slots = [{"use": use, "options": options}]
        with Environment.from_dict({"name": "e", "stage": slots}) as env:
            for task, response in [*one.right, *one.wrong]:
                env.evaluate(task, response)
        assert name(use, options) == before
