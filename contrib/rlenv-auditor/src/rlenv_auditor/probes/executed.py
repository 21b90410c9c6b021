"""Whether a verifier runs what it should read: a response that calls out is heard in the verifier's
own process.
"""

from __future__ import annotations

from rlenv.model.values import Task

from rlenv_auditor.bench import Bench
from rlenv_auditor.model import Result

from .base import Probe, counted, finding

__all__ = ["PROBES"]

# Says that a name is looked up, which the target's process notes, and looks nothing up.
HOST = "response-was-run.invalid"
CALL = f"__import__('sys').audit('socket.getaddrinfo', '{HOST}')"
FORMS = (
    CALL,
    f"[{CALL}]",
    f"[[{CALL}]]",
    f"({CALL}, 1)",
    f"{{'answer': {CALL}}}",
    f"print({CALL})",
    f"1 + (0 if {CALL} else 1)",
    f"```python\n{CALL}\n```",
)


def _executed(bench: Bench, probe: Probe) -> Result:
    """Past the memory of the audit: what is heard here is no call of the verifier's own."""
    pairs = [(task, text) for task in bench.tasks[:4] for text in _texts(bench, task)]
    asked = zip(pairs, bench.target.score(pairs), strict=True)
    heard = [(*pair, r.reward) for pair, r in asked if HOST in r.called]
    title = "the response is run as Python, where the verifier runs"
    wanted = "a response that is read, and not run"
    found = [
        finding(probe, task, text, reward=paid, title=title, expected=wanted)
        for task, text, paid in heard
    ]
    return counted(probe, found, [task.id for task, _ in pairs], most=1)


def _texts(bench: Bench, task: Task) -> list[str]:
    return [*FORMS, *bench.golds.dressed(*FORMS[:2]), f"{task.prompt[:200]}\n{CALL}"]


PROBES = (
    Probe(
        "exploits.executed",
        "a response is read, and never run where the verifier runs",
        "critical",
        "read with json or ast.literal_eval, and run programs in a process of their own: eval gives"
        " a policy the trainer",
        "exploit",
        special=_executed,
    ),
)
