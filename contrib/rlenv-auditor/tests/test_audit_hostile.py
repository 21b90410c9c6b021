"""Whatever a target does, an audit ends with findings or with the reason why it cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from rlenv.model.errors import ConfigError
from rlenv_auditor import audit
from rlenv_auditor.cli import command
from rlenv_auditor.target.process import Spec, Target

TWO = [{"id": f"t{a}", "prompt": f"{a} + {a}?", "answer": str(2 * a)} for a in (31, 47)]
HONEST = """
import fcntl, os, signal, socket, sys, time

def right(response, answer):
    return float(response.split("####")[-1].strip() == answer and "####" in response)

class Odd:
    def __float__(self):
        return 1 / 0

    def __repr__(self):
        raise ValueError("none")

class Unspeakable(Exception):
    def __str__(self):
        raise ValueError("none")

def writable(fd):
    try:
        return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_WRONLY
    except OSError:
        return False

def refuse(what):
    raise what

def call():
    with socket.socket() as one:
        one.settimeout(0.01)
        try:
            one.connect(("192.0.2.1", 9))
        except OSError:
            pass
"""
OBEDIENT = """
def score(task, response, answer):
    if response.startswith("do "):
        return eval(response[3:], globals(), {"task": task})
    return right(response, answer)
"""
# What a verifier does, and what is said of it: a part of the message, or the reward.
DEEDS = {
    "None": "it returned None",
    "os.system('echo 1.0') * 1.0": "0.0",
    "float('nan')": "nan",
    "7": "7.0",
    "True": "1.0",
    "'good'": "it returned str",
    "[1.0]": "it returned list",
    "1j": "it returned complex",
    "Odd()": "it returned Odd: (its text raises ValueError)",
    "10 ** 400": "it returned int",
    "refuse(Unspeakable())": "its text raises ValueError",
    "refuse(KeyboardInterrupt())": "KeyboardInterrupt",
    "refuse(MemoryError('full'))": "MemoryError: full",
    "sys.exit(3)": "SystemExit: 3",
    "os._exit(0)": "the process of the target ended",
    "os.abort()": "the process of the target ended",
    "os.closerange(3, 1024)": "the process of the target ended",
    "[os.write(fd, b'{}\\n') for fd in range(3, 1024) if writable(fd)]": (
        "the process of the target ended"
    ),
    "[os.write(fd, b'{\"done\": true}\\n') for fd in range(3, 1024) if writable(fd)]": (
        "the process of the target ended"
    ),
    "time.sleep(60)": "no reward after",
    "[0 for _ in iter(int, 1)]": "no reward after",
    "(signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals()), time.sleep(60))": (
        "no reward after"
    ),
    (
        "[signal.signal(s, signal.SIG_IGN) for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)]"
        " and 0.0"
    ): "0.0",
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN) and 0.0 or 0.0": "0.0",
    (
        'print(\'{"index": 0, "reward": "1.0"}\', flush=True)'
        " or print('oops', file=sys.stderr) or 0.0"
    ): "0.0",
    "os.fork() * 0.0": "0.0",
    "os.environ.clear() or os.chdir('/') or 0.0": "0.0",
    "sys.stdout.close() or sys.stdin.close() or 0.0": "0.0",
    "sys.setrecursionlimit(80) or 0.0": "0.0",
}


@pytest.mark.filterwarnings("ignore")
def test_whatever_a_target_does_costs_the_reward_of_that_response_only(
    written: Callable[..., Path],
) -> None:
    written(HONEST + OBEDIENT, TWO)
    said = {}

    with Target(Spec("written:score", "", "tasks.jsonl"), patience=0.5) as target:
        task = target.tasks[0]
        for deed, words in DEEDS.items():
            target.patience = 0.5 if words == "no reward after" else 60.0
            reply = target.ask(task, f"do {deed}")
            target.patience = 60.0
            honest = target.ask(task, "#### 62")
            said[deed] = reply.message or repr(reply.reward)
            assert honest.reward == 1.0, (deed, honest)

    wrong = {deed: words for deed, words in said.items() if DEEDS[deed] not in words}
    assert wrong == {}


def test_nobody_answers_for_what_an_earlier_response_did_to_the_process(
    written: Callable[..., Path],
) -> None:
    written(HONEST + OBEDIENT, TWO)

    with Target(Spec("written:score", "", "tasks.jsonl")) as target:
        task = target.tasks[0]
        deed = "do __import__('threading').Timer(0.2, os._exit, [0]).start() or 0.0"
        assert target.ask(task, deed).reward == 0.0
        assert target._process is not None
        target._process.wait(60)
        assert target.ask(task, "#### 62").reward == 1.0
        assert target.ask(task, "do os._exit(0)").fault == "crash"


@pytest.mark.parametrize(
    ("body", "probe", "title"),
    [
        ("return None", "gold.passes", "unscored: it returned None"),
        ("return float('nan')", "range.finite", "the reward nan"),
        ("return 7.0", "range.finite", "the reward 7"),
        ("return 'good'", "range.type", "it returned str: 'good'"),
        ("task.info.clear()", "range.purity", "the call changes the task that it is given"),
        (
            "task.info['it'] = object()",
            "range.purity",
            "the call changes the task that it is given",
        ),
        ("call()", "range.network", "a reward calls 192.0.2.1 over a network"),
        ("os._exit(0)", "gold.passes", "crash: the process of the target ended"),
    ],
)
def test_what_a_target_does_wrong_is_a_finding(
    written: Callable[..., Path], body: str, probe: str, title: str
) -> None:
    written(
        f"{HONEST}\ndef score(task, response, answer):\n    {body}\n    return right(response,"
        " answer)\n",
        TWO,
    )

    card = audit(
        "written:score", tasks_from="tasks.jsonl", only=["gold.passes", probe], tasks=1, budget=20.0
    )

    assert title in " | ".join(finding.title for finding in card.findings)
    json.dumps(card.figures)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
        ("import no_such_package", "No module named 'no_such_package'"),
        ("def (", "SyntaxError"),
        ("import sys; sys.exit(4)", "SystemExit: 4"),
        ("import os; os._exit(0)", "its process ended"),
        (
            "import sys; print('a last word', file=sys.stderr, flush=True); import os; os.abort()",
            "a last word",
        ),
        ("import time; time.sleep(60)", "no word for 1 s"),
        ("score = None", "parameters|not callable|callable"),
    ],
)
def test_what_cannot_be_loaded_ends_with_its_reason(
    written: Callable[..., Path], start: str, said: str
) -> None:
    written(f"{start}\n" if start == "score = None" else f"{start}\n{HONEST + OBEDIENT}", TWO)
    words = [
        "written:score",
        "--tasks-from",
        "tasks.jsonl",
        "--loading",
        "1" if "sleep" in start else "60",
    ]

    result = CliRunner().invoke(command, words)

    assert isinstance(result.exception, ConfigError), result.output
    with pytest.raises(ConfigError, match=said):
        raise result.exception


@pytest.mark.slow  # computes for its whole budget
def test_a_target_that_always_hangs_costs_its_budget_and_little_more(
    written: Callable[..., Path],
) -> None:
    written("def score(response, answer):\n    while True:\n        pass\n", TWO)

    card = audit("written:score", tasks_from="tasks.jsonl", patience=0.3, budget=4.0)

    assert not card.complete
    assert any(result.reason.startswith("the budget ended") for result in card.results)
    assert any("no reward after 0.3 s" in finding.title for finding in card.findings)
    assert card.results[0].calls < 100
