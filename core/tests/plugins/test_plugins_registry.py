"""Loading: by name, lazily, with every failure told in one line that says what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rlenv import PluginError, hookimpl
from rlenv.plugins.registry import Registry, makers_of, resolve

Install = Callable[..., Path]

GOOD = """
import rlenv
RLENV_API = 1
@rlenv.hookimpl
def rlenv_stages():
    return {"now": Now, "later": "heavy_part:Later", "gone": "heavy_part:Gone", "lost": "no_such:X",
            "odd": "odd", "number": 3}
@rlenv.hookimpl
def rlenv_parts():
    return {"shelter": {"box": "heavy_part:Later"}, "tool": {"saw": 7}}
class Now:
    phase = "diff"
    def check(self, attempt): ...
"""
HEAVY = """
class Later:
    phase = "diff"
    def check(self, attempt): ...
"""


@pytest.fixture
def registry() -> Registry:
    return Registry()


def refusal(action: Callable[..., Any], *args: Any) -> str:
    with pytest.raises(PluginError) as caught:
        action(*args)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_stage_is_found_by_its_path(registry: Registry) -> None:
    from rlenv.compose.equal import Equal

    assert registry.stage_type("core/equal") is Equal


def test_only_what_is_named_is_imported(registry: Registry, install: Install) -> None:
    install("good", plugins={"good": "good_mod"}, good_mod=GOOD, heavy_part=HEAVY)
    install("idle", plugins={"idle": "idle_mod"}, idle_mod="1/0")

    assert registry.stage_type("good/now").__name__ == "Now"
    assert "heavy_part" not in sys.modules
    assert "idle_mod" not in sys.modules

    assert registry.stage_type("good/later").__name__ == "Later"
    assert "heavy_part" in sys.modules


def test_an_unknown_plugin_is_answered_with_what_is_installed(
    registry: Registry, install: Install
) -> None:
    install("good", plugins={"goodness": "good_mod"}, good_mod=GOOD)

    message = refusal(registry.stage_type, "zebra/equal")

    assert "no plugin 'zebra' is installed" in message
    assert "core, " in message
    assert "goodness" in message
    assert "pip install" not in message  # anybody could register the name that was mistyped


def test_a_misspelt_plugin_is_guessed(registry: Registry, install: Install) -> None:
    install("good", plugins={"goodness": "good_mod"}, good_mod=GOOD)

    assert 'did you mean "goodness"?' in refusal(registry.load, "godness")


def test_a_misspelt_stage_is_guessed(registry: Registry) -> None:
    assert 'did you mean "equal"?' in refusal(registry.stage_type, "core/eqal")


@pytest.mark.parametrize("use", ["equal", "", "/", "core/", "/equal"])
def test_a_stage_has_a_plugin_and_a_name(registry: Registry, use: str) -> None:
    message = refusal(registry.stage_type, use)

    assert "plugin/short" in message
    assert ("did you mean 'core/equal'" in message) == (use == "equal")


def test_a_stage_without_its_plugin_is_looked_up_in_all_of_them(
    install: Install, registry: Registry
) -> None:
    hook = (
        "from rlenv import hookimpl\nRLENV_API = 1\n@hookimpl\ndef rlenv_stages():\n    return"
        " {'equal': 'x:y'}\n"
    )
    install("other", plugins={"other": "other_one"}, other_one=hook)
    install("broken", plugins={"broken": "broken_one"}, broken_one="1/0")

    message = refusal(registry.stage_type, "equal")

    assert "'core/equal' or 'other/equal'?" in message.replace("'math/equal' or ", "")


@pytest.mark.parametrize(
    ("short", "words"),
    [
        ("gone", "AttributeError"),
        ("lost", "ModuleNotFoundError"),
        ("odd", 'written "module:name"'),
        ("number", "not a class"),
    ],
)
def test_a_broken_stage_names_plugin_and_target(
    registry: Registry, install: Install, short: str, words: str
) -> None:
    install("good", "1.2", {"good": "good_mod"}, good_mod=GOOD, heavy_part=HEAVY)

    message = refusal(registry.stage_type, f"good/{short}")

    assert words in message
    assert "(good 1.2)" in message
    assert "plugins.py" not in message  # the fault is the plugin's, not where rlenv met it
    assert "<frozen" not in message


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import no_such_module_here", "ModuleNotFoundError"),
        ("1/0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("def (", "SyntaxError"),
    ],
)
def test_a_plugin_that_fails_to_load_is_quarantined(
    registry: Registry, install: Install, source: str, words: str
) -> None:
    install("bad", "0.9", {"bad": "bad_mod"}, bad_mod=source)

    first = refusal(registry.load, "bad")
    second = refusal(registry.stage_type, "bad/x")

    assert first == second
    assert "plugin 'bad' (bad 0.9) failed to load" in first
    assert words in first
    assert "Traceback" in (registry.info("bad").error or "")
    assert registry.stage_type("core/equal")


def test_a_plugin_says_which_rlenv_it_is_for(registry: Registry, install: Install) -> None:
    install("mute", plugins={"mute": "mute_mod"}, mute_mod="")

    assert "add RLENV_API = 1 to mute_mod" in refusal(registry.load, "mute")


@pytest.mark.parametrize("number", ["'1'", "True", "0", "1.5", "-1"])
def test_the_api_number_is_a_number(registry: Registry, install: Install, number: str) -> None:
    install("odd", plugins={"odd": "odd_mod"}, odd_mod=f"RLENV_API = {number}")

    assert "write RLENV_API = 1" in refusal(registry.load, "odd")


def test_a_newer_api_is_refused_with_both_numbers(registry: Registry, install: Install) -> None:
    install("newer", plugins={"newer": "newer_mod"}, newer_mod="RLENV_API = 7")

    message = refusal(registry.load, "newer")

    assert "hook version 7" in message
    assert "hook version 1" in message


def test_a_doubled_name_is_refused_when_asked_for(registry: Registry, install: Install) -> None:
    install("one", "1.0", {"twin": "one_mod"}, one_mod=GOOD)
    install("two", "2.0", {"twin": "two_mod"}, two_mod=GOOD)

    message = refusal(registry.stage_type, "twin/now")

    assert "one 1.0" in message
    assert "two 2.0" in message
    assert registry.stage_type("core/equal")


@pytest.mark.parametrize(
    ("hook", "words"),
    [
        ("@rlenv.hookimpl\ndef rlenv_stage(): return {}", "rlenv_stages"),
        ("def rlenv_stages(): return {}", "@rlenv.hookimpl"),
        ("@rlenv.hookimpl\ndef rlenv_stages(config): return {}", "config"),
        ("@rlenv.hookimpl\ndef rlenv_stages(): return []", "not a mapping"),
        ("@rlenv.hookimpl\ndef rlenv_stages(): raise KeyError('boom')", "boom"),
    ],
)
def test_a_wrong_hook_is_refused(
    registry: Registry, install: Install, hook: str, words: str
) -> None:
    install(
        "wrong", plugins={"wrong": "wrong_mod"}, wrong_mod=f"import rlenv\nRLENV_API = 1\n{hook}\n"
    )

    message = refusal(registry.stages, "wrong")

    assert words in message
    assert "(wrong 1.0)" in message


def test_a_hook_of_a_later_rlenv_may_be_optional(registry: Registry, install: Install) -> None:
    source = (
        "import rlenv\nRLENV_API = 1\n"
        "@rlenv.hookimpl(optionalhook=True)\ndef rlenv_to_come(): ...\n"
        "def rlenv_helper(): ...\n"
        "@rlenv.hookimpl(specname='rlenv_stages')\ndef rlenv_mine(): return {}\n"
    )
    install("later", plugins={"later": "later_mod"}, later_mod=source)

    assert registry.load("later").RLENV_API == 1


def test_parts_are_found_by_port(registry: Registry, install: Install) -> None:
    install("good", plugins={"shelter": "good_mod"}, good_mod=GOOD, heavy_part=HEAVY)

    assert registry.parts("shelter", "box") is registry.parts("shelter", "shelter/box")
    assert registry.parts("tool", "shelter/saw") == 7
    assert "its parts for 'tool': saw" in refusal(registry.parts, "tool", "shelter/hammer")
    assert "no 'x' for the port 'probe'" in refusal(registry.parts, "probe", "shelter/x")


def test_observers_observe(registry: Registry) -> None:
    @hookimpl
    def rlenv_verdict(verdict: object) -> None: ...

    watcher = SimpleNamespace(rlenv_verdict=rlenv_verdict)
    registry.register(watcher, "watcher")

    assert registry.observer("watcher") is watcher
    assert "observes nothing" in refusal(registry.observer, "core")


def test_a_plugin_may_be_registered_by_hand(registry: Registry) -> None:
    class Mine:
        phase = "diff"

    class Plugin:
        @hookimpl
        def rlenv_stages(self) -> dict[str, type]:
            return {"stage": Mine}

    registry.register(Plugin(), "mine")

    assert registry.stage_type("mine/stage") is Mine
    assert "choose another name" in refusal(registry.register, Plugin(), "mine")
    assert "choose another name" in refusal(registry.register, Plugin(), "core")
    registry.unregister("mine")
    assert "no plugin 'mine' is installed" in refusal(registry.load, "mine")


def test_a_plugin_by_hand_for_a_newer_rlenv_is_refused(registry: Registry) -> None:
    assert "hook version 2" in refusal(registry.register, SimpleNamespace(RLENV_API=2), "new")


def test_everything_is_listed_with_its_state(registry: Registry, install: Install) -> None:
    install("good", plugins={"good": "good_mod"}, good_mod=GOOD)
    install("bad", plugins={"bad": "bad_mod"}, bad_mod="1/0")

    before = {info.name: info for info in registry.infos()}
    registry.load("good")
    refusal(registry.load, "bad")
    after = {info.name: info for info in registry.infos()}

    assert before["bad"].error is None
    assert "ZeroDivisionError" in (after["bad"].error or "")
    assert (after["good"].api, after["good"].error) == (1, None)


def test_a_broken_plugin_runs_once(registry: Registry, install: Install) -> None:
    runs: list[int] = []
    install("bad", plugins={"bad": "bad_mod"}, bad_mod="import sys\nsys._runs.append(1)\n1/0\n")
    sys._runs = runs  # type: ignore[attr-defined]
    try:
        for _ in range(3):
            refusal(registry.load, "bad")
    finally:
        del sys._runs  # type: ignore[attr-defined]

    assert runs == [1]


def test_who_makes_an_artifact() -> None:
    assert makers_of(int, "core/equal") == []
    assert makers_of(int, "") == []
    assert makers_of(int, "nobody/x") == []


@pytest.mark.parametrize("target", ["json", "json:", ":loads", ""])
def test_a_target_has_two_parts(target: str) -> None:
    with pytest.raises(ValueError, match="module:name"):
        resolve(target)
