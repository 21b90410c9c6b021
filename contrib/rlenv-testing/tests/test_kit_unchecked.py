"""What the kit cannot check is no broken law of the author's; what is defined in a script can be
checked.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from pathlib import Path
from typing import Any

import kit_sound as sound
import pytest
from rlenv import Attempt, Outcome
from rlenv_testing import broken_laws, failing_laws
from rlenv_testing.run import BrokenLaws

SCRIPT = """
from attrs import frozen
from rlenv import Attempt, Examples, Outcome, Task
from rlenv_testing import broken_laws

FRANCE, ITALY = Task("Capital of France?", "Paris"), Task("Capital of Italy?", "Rome")
ASKED = []


def right(attempt):
    ASKED.append(attempt)
    return attempt.response.strip() == attempt.task.answer


@frozen
class City:
    phase = "diff"
    uses = ("answer",)

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(float(right(attempt)))


@frozen
class Quick(City):
    where = "inline"


@frozen
class Fickle(City):
    where = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(1.0 if right(attempt) else 0.0, data={"asked": len(ASKED)})


def score(response, answer):
    return response.strip() == answer


EXAMPLES = Examples([(FRANCE, "Paris"), (ITALY, "Rome")], [(FRANCE, "London")])
LAWS = ["travels", "total", "time-zone", "order", "together", "unscored"]
for stage in (City(), Quick(), Fickle(), score):
    found = broken_laws(stage, EXAMPLES, laws=LAWS)
    print(getattr(stage, "__name__", type(stage).__name__), sorted(found), dict(found.unchecked))
"""


@pytest.mark.slow  # six laws of four stages, each in processes of their own
def test_a_class_of_a_script_is_held_to_the_laws(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ran.stdout.splitlines() == [
        "City [] {}",
        "Quick [] {}",
        "Fickle ['order', 'together', 'travels'] {}",
        "score [] {}",
    ], ran.stdout + ran.stderr


@pytest.fixture
def conjured(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stage of a module that only this process knows."""
    module = types.ModuleType("conjured")
    monkeypatch.setitem(sys.modules, "conjured", module)
    kept = type("Kept", (sound.SoundWorker,), {"__module__": "conjured"})
    module.Kept = kept  # type: ignore[attr-defined]
    return kept()


def test_a_stage_that_no_other_process_can_import_breaks_no_law(conjured: Any) -> None:
    found = broken_laws(conjured, sound.EXAMPLES, laws=["time-zone", "total", "unscored"])

    assert dict(found) == {}
    assert set(found.unchecked) == {"time-zone", "total", "unscored"}
    assert all("No module named 'conjured'" in why for why in found.unchecked.values())


def test_a_stage_that_cannot_be_sent_is_not_checked() -> None:
    class Holds:
        phase = "diff"
        where = "caller"
        uses = ("answer",)

        def __init__(self) -> None:
            self.lock = threading.Lock()

        async def check(self, attempt: Attempt) -> Outcome:
            return sound.verdict(sound.same(attempt))

    found = broken_laws(Holds(), sound.EXAMPLES, laws=["time-zone", "right-passes"])

    assert dict(found) == {}
    assert "cannot be sent to a fresh process" in found.unchecked["time-zone"]
    assert list(found.unchecked) == ["time-zone"]
    with pytest.raises(RuntimeError, match="could not check the law 'time-zone'"):
        failing_laws(Holds(), sound.EXAMPLES, laws=["time-zone"])


def test_what_could_not_be_checked_does_not_look_like_a_pass() -> None:
    clean = BrokenLaws({})
    blind = BrokenLaws({}, {"order": "why"})
    broken = BrokenLaws({"a": "b"})

    assert clean == {}
    assert not clean
    assert blind
    assert blind != {}
    assert blind != clean
    assert blind == BrokenLaws({}, {"order": "why"})
    assert broken == {"a": "b"}
    assert broken


def test_a_function_whose_file_does_not_import_is_not_checked(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "import no_such_module_xyz\n\ndef f(response): return 1.0\n"
    )

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        found = broken_laws("./broken.py:f", sound.EXAMPLES, laws=["contract", "total", "range"])

    assert dict(found) == {}
    assert list(found.unchecked) == ["total"]  # told once
    assert "No module named 'no_such_module_xyz'" in found.unchecked["total"]


def test_the_command_does_not_succeed_where_a_file_does_not_import(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(
        "import no_such_module_xyz\n\ndef f(response): return 1.0\n"
    )
    argv = [
        sys.executable,
        "-m",
        "rlenv",
        "check",
        "./broken.py:f",
        "--law",
        "contract",
        "--law",
        "total",
    ]
    ran = subprocess.run(
        argv, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )

    assert ran.returncode == 3, ran.stdout + ran.stderr
    assert "No module named 'no_such_module_xyz'" in ran.stdout
