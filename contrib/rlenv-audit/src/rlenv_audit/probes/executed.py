"""Whether a verifier runs what it should read: a response that calls out is heard in the verifier's own process."""

from __future__ import annotations

from rlenv.values import Task

from rlenv_audit.bench import Bench
from rlenv_audit.golds import CARRIERS
from rlenv_audit.model import Result

from .base import Probe, counted, finding

__all__ = ["PROBES"]

# Says that a name is looked up, which the target's process notes, and looks nothing up.
HOST = "response-was-run.invalid"
CALL = f"__import__('sys').audit('socket.getaddrinfo', '{HOST}')"
FORMS = (
    CALL, f"[{CALL}]", f"[[{CALL}]]", f"({CALL}, 1)", f"{{'answer': {CALL}}}", f"print({CALL})", f"1 + (0 if {CALL} else 1)",
    f"```python\n{CALL}\n```",
)  # fmt: skip


def _executed(bench: Bench, probe: Probe) -> Result:
    """Past the memory of the audit: what is heard here is no call of the verifier's own."""
    bench.golds.find()
    pairs = [(task, text) for task in bench.tasks[:4] for text in _texts(bench, task)]
    asked = zip(pairs, bench.target.score(pairs), strict=True)
    heard = sorted(((*pair, r.reward) for pair, r in asked if HOST in r.called), key=_size)
    title = "the response is run as Python, where the verifier runs"
    wanted = "a response that is read, and not run"
    found = [finding(probe, task, text, paid, title, wanted) for task, text, paid in heard]
    tasks = {task.id for task, _ in pairs}
    return counted(probe, found, len({one.task for one in found}), len(tasks), most=1)


def _size(one: tuple[Task, str, float | None]) -> int:
    return len(one[1])


def _texts(bench: Bench, task: Task) -> list[str]:
    carrier = bench.golds.carrier
    dressed = [CARRIERS[carrier].format(FORMS[0])] if carrier not in (None, "bare") else []
    several = [] if carrier in (None, "bare") else [CARRIERS[carrier].format(FORMS[1])]
    return [*FORMS, *dressed, *several, f"{task.prompt[:200]}\n{CALL}"]


PROBES = (
    Probe("exploits.executed", "a response is read, and never run where the verifier runs", "critical", "read with json or ast.literal_eval, and run programs in a process of their own: eval gives a policy the trainer", "exploit", special=_executed),
)  # fmt: skip
