"""The same response gets the same reward: again, in another order, in threads, in another
process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from attrs import evolve, field, frozen
from rlenv.model.errors import ConfigError

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Reply, Result, Severity
from rlenv_auditor.replaying import moved
from rlenv_auditor.statistics import rate
from rlenv_auditor.target.process import Pair, Target

from .base import Probe, counted, finding, result

__all__ = ["PROBES"]

SEED = {"PYTHONHASHSEED": "4711"}
ABROAD = {"TZ": "Asia/Kathmandu", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "1"}


@frozen
class _Again:
    """How the same responses are asked once more.

    Args:
        where: words for a title: "asked again".
        fresh: whether in a new process, and so are ``environ`` and ``elsewhere``, which say how it
            differs.
        backwards: from the last to the first, as a new process, which knows nothing of what was
            asked before, is asked too.
        how: "alone" or "threads".
    """

    where: str
    fresh: bool = False
    backwards: bool = False
    how: str = "alone"
    environ: Mapping[str, str] = field(factory=dict)
    elsewhere: bool = False

    def ask(self, bench: Bench, pairs: Sequence[Pair]) -> list[Reply]:
        """The replies in the order of the pairs."""
        turn = -1 if self.backwards else 1
        if not self.fresh:
            return bench.target.score(pairs[::turn], self.how)[::turn]
        own = bench.target
        changed = {"environ": self.environ, "elsewhere": self.elsewhere}
        with moved(own.spec, changed) as spec, Target(spec, own.patience, own.loading) as twin:
            twin.until = own.until
            return twin.score(pairs[::turn])[::turn]

    def under(self, pairs: Sequence[Pair], place: int) -> dict[str, Any]:
        """What makes the pair at this place differ, for a replay."""
        if self.fresh:
            changed = {"environ": dict(self.environ), "elsewhere": self.elsewhere}
            return {key: value for key, value in changed.items() if value}
        others = [[str(task.id), text] for task, text in pairs]
        if self.how == "threads":
            return {"before": others[:place] + others[place + 1 :], "how": "threads"}
        return {"before": others[:place:-1] if self.backwards else [others[place]]}


def _sample(bench: Bench) -> list[Pair]:
    """Right, wrong and odd responses, two dozen of them."""
    tasks = bench.tasks[:8]
    golds = {task.id: gold for task, gold in bench.golds.known()}
    pairs: list[Pair] = []
    for task in tasks:
        pairs += [
            (task, text)
            for text in (golds.get(task.id), "42", task.prompt[:400])
            if text is not None
        ]
    return pairs


def _compared(bench: Bench, probe: Probe, again: _Again) -> Result:
    pairs = _sample(bench)
    if bench.left() <= 0:
        raise OutOfBudget
    first = bench.target.score(pairs)
    try:
        second = again.ask(bench, pairs)
    except ConfigError as error:
        title = f"it cannot be loaded {again.where}: {error}"[:200]
        bad = finding(
            probe,
            None,
            "",
            reward=None,
            title=title,
            expected="the same target, wherever it is loaded",
        )
        return result(probe, "found", rate=rate(1, 1), findings=(bad,))
    found = []
    moved = 0.0
    for place, ((task, text), one, two) in enumerate(zip(pairs, first, second, strict=True)):
        differs = not _same(one, two)
        if differs and not bench.target.steady and _measured(bench, one, two):
            moved = max(moved, abs((one.reward or 0) - (two.reward or 0)))
            differs = False
        if differs:
            title = f"{_shown(one)} at first, {_shown(two)} {again.where}"
            more = {"first": one.reward, "under": again.under(pairs, place)}
            found.append(
                finding(probe, task, text, reward=two.reward, title=title, expected=SAME, **more)
            )
    made = counted(probe, found, [task.id for task, _ in pairs])
    return evolve(made, figures={"moves by": moved}) if moved else made


def _measured(bench: Bench, one: Reply, two: Reply) -> bool:
    """Whether both are a pass, or both are none: a stage that measures moves a little from call to
    call.
    """
    return one.reward is not None and two.reward is not None and bench.pays(one) == bench.pays(two)


def _same(one: Reply, two: Reply) -> bool:
    if one.transient or two.transient:  # a machine under load says nothing of the verifier
        return True
    if one.reward is None or two.reward is None:
        return one.reward is two.reward and one.fault == two.fault
    return one.reward == two.reward or (one.reward != one.reward and two.reward != two.reward)


def _shown(reply: Reply) -> str:
    return f"{reply.reward:g}" if reply.reward is not None else reply.fault


def _state(bench: Bench, probe: Probe) -> Result:
    """B after A says the same as B alone: whatever A was."""
    golds = bench.golds.known()
    task = bench.tasks[0]
    probes: list[Pair] = [*golds[:3], *[(t, "42") for t in bench.tasks[:3]]]
    before: list[tuple[str, Pair]] = [
        ("a right answer", golds[0] if golds else (task, "42")),
        ("an empty response", (task, "")),
        ("a response of 20,000 characters", (task, "x" * 20000)),
        ("lone surrogates", (task, "\ud800\udfff")),
        ("an empty list in JSON", (task, "[]")),
    ]
    tried = len({one.id for one, _ in probes})
    alone = _fresh_one(bench, probes)
    mixed = [(name, one) for name, first in before for pair in probes for one in (first, pair)]
    after = _fresh_one(bench, [one for _, one in mixed])  # each right after what may change it
    for place in range(1, len(mixed), 2):
        name, pair = mixed[place]
        one = alone[place // 2 % len(probes)]
        two = after[place]
        if not _same(one, two):
            earlier = [first for _, first in mixed[:place]]
            last = _fresh_one(bench, [earlier[-1], pair])[1]
            if not _same(one, last):
                earlier = earlier[-1:]
                two = last
            title = f"{_shown(one)} alone, {_shown(two)} after {name}"
            under = {"before": [[str(t.id), text] for t, text in earlier]}
            bad = finding(probe, *pair, two.reward, title, SAME, first=one.reward, under=under)
            return result(probe, "found", rate=rate(1, tried), findings=(bad,))
    return result(probe, "clean", rate=rate(0, tried))


def _fresh_one(bench: Bench, pairs: Sequence[Pair]) -> list[Reply]:
    if bench.left() <= 0:
        raise OutOfBudget
    with bench.target.twin() as twin:
        return twin.score(pairs)


SAME = "the same reward both times"
HINT = (
    "draw chance by a key of task and response, keep no state between calls, and do not depend on"
    " the order of sets"
)
OTHERWISE: Mapping[str, tuple[str, Severity, str, _Again]] = {
    "repeated": ("asked again, it says the same", "high", HINT, _Again("asked again")),
    "reversed": (
        "in another order, it says the same",
        "high",
        HINT,
        _Again("in another order", backwards=True),
    ),
    "threads": (
        "in threads, it says the same",
        "high",
        "no signals, no globals: a trainer calls rewards from threads",
        _Again("in threads", how="threads"),
    ),
    "process": (
        "in a fresh process, it says the same",
        "high",
        HINT,
        _Again("in a fresh process", fresh=True, backwards=True),
    ),
    "hashes": (
        "under another hash seed, it says the same",
        "high",
        "sort what comes out of a set",
        _Again("under another hash seed", fresh=True, environ=SEED),
    ),
    "locale": (
        "in another time zone and locale, it says the same",
        "medium",
        "parse numbers and dates without the locale",
        _Again("in another time zone and locale", fresh=True, environ=ABROAD),
    ),
    "folder": (
        "in another working directory, it says the same",
        "medium",
        "find files beside the code, not in the working directory",
        _Again("in another working directory", fresh=True, elsewhere=True),
    ),
}
PROBES = (
    *(
        Probe(
            f"determinism.{name}",
            said,
            severity,
            hint,
            "nondet",
            special=partial(_compared, again=again),
        )
        for name, (said, severity, hint, again) in OTHERWISE.items()
    ),
    Probe(
        "determinism.state",
        "one call leaves nothing to the next",
        "high",
        "keep no state between calls",
        "nondet",
        special=_state,
    ),
)
