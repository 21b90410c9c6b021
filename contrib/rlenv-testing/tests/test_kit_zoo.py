"""The laws catch what they are meant for, and let sound stages be."""

from __future__ import annotations

from typing import Any

import kit_sound as sound
import kit_zoo as zoo
import kit_zoo_world as world
import pytest
from attrs import evolve
from kit_zoo import Does, Works
from rlenv import Attack, Examples
from rlenv_testing import broken_laws, failing_laws

GATE = evolve(sound.EXAMPLES, gate_only=True)
MAKER = Examples(right=[(sound.TASKS[0], "Paris")], wrong=[], gate_only=True)
SESAME = [Attack("sesame", lambda _task: "open sesame")]

BROKEN: list[tuple[str, Any, dict[str, Any]]] = [
    ("range", Does(zoo.nan), {}),
    ("range", Does(zoo.boolean), {}),
    ("range", Does(zoo.numpy_like), {}),
    ("range", Does(zoo.above_one), {}),
    ("range", Does(zoo.nothing), {}),
    ("serializable", world.two(world.Ratio), {}),
    ("contract", zoo.PhaseLiar(), {}),
    ("contract", zoo.GateLiar(), {}),
    ("uses", zoo.UsesLiar(), {}),
    ("uses", zoo.InfoUser(), {}),
    ("artifacts", zoo.MakesLiar(), {}),
    ("artifacts", zoo.SecretMaker(), {}),
    ("artifacts", zoo.NeedsLiar(), {"before": [sound.SoundMaker()]}),
    ("travels", zoo.Unpicklable(), {}),
    ("total", Does(zoo.encodes), {}),
    ("total", Does(zoo.parses), {}),
    ("total", Does(zoo.refuses_nul), {}),
    ("total", Does(zoo.dies), {}),
    ("broken", Does(zoo.swallows), {}),
    ("right-passes", Does(zoo.never), {}),
    ("wrong-fails", Does(zoo.lenient), {}),
    ("swap", Does(zoo.any_capital), {}),
    ("empty", Does(zoo.empty), {}),
    ("constants", Does(zoo.constant), {}),
    ("echo", Does(zoo.echo), {}),
    ("refusals", Does(zoo.refusal), {}),
    ("refusals", Does(zoo.consoles), {}),
    ("echo", Does(zoo.half_echo), {}),
    ("forged", Does(zoo.gullible), {}),
    ("attacks", Does(zoo.exploited), {"attacks": SESAME}),
    ("hedging", Does(zoo.anywhere), {}),
    ("hedging", Does(zoo.lists), {}),
    ("padding", Does(zoo.wordy), {}),
    ("keeps", Does(zoo.finicky), {"rewrites": [sound.STATELY]}),
    ("changes", Does(zoo.last_word), {"rewrites": [sound.DENIED]}),
    ("secrecy", Does(zoo.leaks_detail), {}),
    ("secrecy", Does(zoo.leaks_data), {}),
    ("secrecy", Does(zoo.leaks_backwards), {}),
    ("secrecy", Does(zoo.leaks_error), {}),
    ("repeats", Does(world.noisy), {}),
    ("batch", world.Numbers(), {}),
    ("order", world.Counts(), {}),
    ("order", world.Remembers(), {}),
    ("together", world.Shares(), {}),
    ("hash-seed", Does(world.hash_ordered), {}),
    ("locale", Does(world.localized), {}),
    ("locale", Does(world.encoded), {}),
    ("time-zone", Does(world.zoned), {}),
    ("clock", Does(world.dated), {}),
    ("working-directory", Does(world.placed), {}),
    ("travels", world.Forgets(), {}),
    ("task-untouched", Does(world.mutates_task), {}),
    ("globals-untouched", Does(world.mutates_environ), {}),
    ("globals-untouched", Does(world.mutates_random), {}),
    ("globals-untouched", Does(world.mutates_path), {}),
    ("globals-untouched", Does(world.mutates_cwd), {}),
    ("globals-untouched", Does(world.mutates_builtins), {}),
    ("leaves-nothing", Does(world.leaves_file), {}),
    ("leaves-nothing", Does(world.leaves_thread), {}),
    ("leaves-nothing", Does(world.leaves_child), {}),
    ("limits", Works(world.backtracks), {"patience": 0.3}),
    ("limits", Does(world.quadratic), {"patience": 0.3}),
    ("limits", Does(world.endless), {"patience": 0.3}),
    ("limits", Works(world.sleeps_long), {"patience": 0.3}),
    ("unscored", world.Golf(), {}),
    ("unscored", world.PatientGolf(), {}),
    ("unscored", world.Dozes(), {}),
    ("unscored", Works(world.converts), {}),
    ("unscored", Does(world.quotes), {"attacks": [Attack("drop", lambda _task: "'); DROP")]}),
    ("inline", Does(world.sleeps), {}),
    ("inline", Does(world.calls), {}),
    ("inline", Does(world.dawdles), {}),
    ("loop", world.Blocks(), {}),
    ("loop", world.Hogs(), {}),
    ("group", world.FirstWins(), {}),
    ("monotone", world.two(world.Worst), {}),
    ("hull", world.two(world.Halves), {}),
    ("broken-child", world.two(world.Zeroes), {}),
]


LONG = (world.PatientGolf, world.Hogs)


def called(case: tuple[str, Any, dict[str, Any]]) -> str:
    law, stage, _ = case
    act = getattr(stage, "act", None)
    return f"{law}-{act.__name__ if act else type(stage).__name__}"


PATIENT = pytest.mark.slow  # computes for many seconds, as another of its law does for one


@pytest.mark.parametrize(
    ("law", "stage", "settings"),
    [
        pytest.param(*case, id=called(case), marks=[PATIENT] * isinstance(case[1], LONG))
        for case in BROKEN
    ],
)
def test_a_broken_stage_is_caught_by_its_law(
    law: str, stage: Any, settings: dict[str, Any]
) -> None:
    found = broken_laws(stage, sound.EXAMPLES, laws=[law], **settings)

    assert list(found) == [law]
    assert f"breaks the law '{law}'" in found[law]
    assert f"reproduce: broken_laws(stage, examples, laws=['{law}']" in found[law]


SLOW = pytest.mark.slow  # every law, with twenty examples of each, starts thirty processes
SOUND: list[tuple[Any, Examples, dict[str, Any]]] = [
    (sound.Sound(), sound.EXAMPLES, {"rewrites": [sound.STATELY, sound.DENIED], "attacks": SESAME}),
    (sound.SoundWorker(), sound.EXAMPLES, {}),
    (sound.SoundAsync(), sound.EXAMPLES, {}),
    (sound.SoundGroup(), sound.EXAMPLES, {}),
    (sound.SoundGate(), sound.SHORT, {}),
    (world.two(), sound.EXAMPLES, {}),
    (sound.SoundTaker(), sound.EXAMPLES, {"before": [sound.SoundMaker()]}),
]


@pytest.mark.parametrize(
    ("stage", "examples", "settings"),
    [
        pytest.param(*row, id=type(row[0]).__name__, marks=[SLOW] * (number >= 2))
        for number, row in enumerate(SOUND)
    ],
)
def test_a_sound_stage_keeps_every_law(
    stage: Any, examples: Examples, settings: dict[str, Any]
) -> None:
    assert failing_laws(stage, examples, max_examples=20, **settings) == []


@pytest.mark.parametrize(
    ("stage", "remedy"),
    [
        (world.Golf(), "declare budget = 1.0 on the stage"),
        (world.Dozes(), "limit what it waits for"),
        (Works(world.converts), "return 0 for what cannot be read"),
    ],
)
def test_the_law_of_unscored_responses_says_what_to_do(stage: Any, remedy: str) -> None:
    assert remedy in broken_laws(stage, sound.EXAMPLES, laws=["unscored"])["unscored"]


@SLOW
def test_a_budget_is_the_remedy_for_a_stage_that_runs_what_the_policy_writes() -> None:
    assert failing_laws(world.BudgetedGolf(), sound.EXAMPLES, max_examples=20) == []


def test_the_zoo_has_an_animal_for_every_law_but_those_tested_elsewhere() -> None:
    from rlenv_testing.law import LAWS
    from rlenv_testing.laws import load

    load()

    assert set(LAWS) - {law for law, _, _ in BROKEN} == {
        "gate",
        "reach",
    }  # test_kit_reach plants what reaches out
