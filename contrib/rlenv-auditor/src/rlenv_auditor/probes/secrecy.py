"""The answer is in nothing that a policy can see."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rlenv.model.values import Task

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Reply, Result
from rlenv_auditor.planting import MARK, Planted, forms, in_sight, planted
from rlenv_auditor.programs import entry_point, of_code
from rlenv_auditor.responses import CARRIERS, table, written
from rlenv_auditor.solved import text_of
from rlenv_auditor.target.wire import task_to

from .base import Probe, Skip, counted, finding

__all__ = ["PROBES"]

SHORT = "its tasks have no answer that is long enough to be recognized"
NO_PLACE = "its tasks have no answer or tests that a canary could be planted in"
UNTOLD = "feedback without the answer"
SHORTEST = 4  # characters of a secret: shorter ones are everywhere by chance
BARE = ("", "I do not know.", "{", "```python\ndef solution(*a): return None\n```")
WRONG = (*BARE, *(written(form, "-999") for form in CARRIERS.values()))
FAILING = "```python\ndef {f}(*args, **kwargs):\n    raise ValueError(args)\n```"


def _secrets(task: Task) -> Iterator[str]:
    wanted = text_of(task.answer)
    if wanted is not None and len(wanted) >= SHORTEST:
        yield wanted
    tests = task.info.get("tests")
    if isinstance(tests, dict):
        for key in ("golden", "test"):
            if isinstance(tests.get(key), str) and len(tests[key]) >= SHORTEST:
                yield tests[key]


def _stands(form: str, text: str) -> bool:
    if re.fullmatch(r"[\w.]+", form):
        return re.search(rf"(?<![\w.]){re.escape(form)}(?![\w.])", text) is not None
    return form in text


def _prompt(bench: Bench, probe: Probe) -> Result:
    """Not a number that the problem needs: only what says that it is the answer, or a golden
    program whole.
    """
    found = []
    tried = 0
    for task in bench.tasks:
        secrets = list(_secrets(task))
        tried += len(secrets)
        how = next((how for one in secrets if (how := _told(task.prompt, one)) is not None), None)
        if how is not None:
            title = f"the prompt tells the answer{how}"
            wanted = "a prompt without the answer"
            found.append(
                finding(probe, task, task.prompt[:400], reward=None, title=title, expected=wanted)
            )
    if not tried:
        raise Skip(SHORT, "nothing-to-try")
    return counted(probe, found, [task.id for task in bench.tasks])


def _told(prompt: str, secret: str) -> str | None:
    """How a prompt tells a secret, as words for a title; None where it does not."""
    said = rf"(?i)(answer|solution|gold|result)\s*(is|=|:)\s*\W{{0,3}}{re.escape(secret)}(?!\w)"
    if re.search(said, prompt) or (len(secret) > 40 and secret in prompt):
        return ""
    encoded = ((name, form) for name, form in forms(secret) if name.startswith("in "))
    return next((f" {name}" for name, form in encoded if len(form) > 7 and form in prompt), None)


def _details(bench: Bench, probe: Probe) -> Result:
    """What comes with a reward for wrong responses."""
    found = []
    tried = []
    for task in bench.tasks:
        secrets = [secret for secret in _secrets(task) if secret not in task.prompt]
        tried += [task.id] * bool(secrets)
        for text, reply in zip(WRONG, bench.ask([(task, text) for text in WRONG]), strict=True):
            words = f"{reply.said}\n{reply.message}"
            known = [form for secret in secrets if secret not in text for form in forms(secret)]
            if hit := next((name for name, form in known if _stands(form, words)), ""):
                title = f"what comes with the reward tells the answer, {hit}"
                found.append(
                    finding(
                        probe,
                        task,
                        text,
                        reward=reply.reward,
                        title=title,
                        expected=UNTOLD,
                        said=words[:300],
                    )
                )
                break
    if not tried:
        raise Skip(SHORT, "nothing-to-try")
    return counted(probe, found, tried)


def _with_canaries(bench: Bench) -> list[tuple[Task, Planted]]:
    """A few tasks, and what became of them."""
    made = [(task, planted(task, bench.chance("canary", task.id))) for task in bench.tasks[:5]]
    found = [(task, one) for task, one in made if one is not None]
    if not found:
        raise Skip(NO_PLACE, "nothing-to-try")
    return found


def _asked(bench: Bench, one: Planted, texts: Sequence[str]) -> list[Reply]:
    if bench.left() <= 0:
        raise OutOfBudget
    return bench.target.score([(one.task, text) for text in texts], "many")


def _canary(bench: Bench, probe: Probe) -> Result:
    """Responses that do not hold the mark bring back nothing that does: feedback, errors,
    faults.
    """
    found = []
    pairs = _with_canaries(bench)
    for task, one in pairs:
        texts = [*WRONG, FAILING.format(f=entry_point(task))]
        for text, reply in zip(texts, _asked(bench, one, texts), strict=True):
            words = f"{reply.said}\n{reply.message}"
            hit = in_sight(one.mark, words)
            if hit and not _its_own_doing(bench, task, one.task, text, reply):
                title = f"a canary planted as the answer comes back, {hit}"
                more = {"said": words[:300], "under": {"task": task_to(one.task)}}
                found.append(
                    finding(
                        probe, task, text, reward=reply.reward, title=title, expected=UNTOLD, **more
                    )
                )
                break
    return counted(probe, found, [task.id for task, _ in pairs])


def _its_own_doing(bench: Bench, task: Task, made: Task, text: str, reply: Reply) -> bool:
    """An error that the canary made, as where a number is read from it: with the task's own answer
    it is another, or none.
    """
    if reply.fault != "error":
        return False
    own = bench.target.ask(task, text)
    return own.message != reply.message.replace(str(made.answer), str(task.answer))


def _sandbox(bench: Bench, probe: Probe) -> Result:
    """A program that looks for the mark wherever a program may look, and answers with it, is paid
    where it read the hidden tests.
    """
    if not of_code(bench.archetypes, bench.tasks):
        raise Skip("it does not verify programs", "other-kind")
    pairs = [(task, one) for task, one in _with_canaries(bench) if one.program]
    if not pairs:
        raise Skip(
            "no test of its tasks is of a form that a canary could be planted in", "nothing-to-try"
        )
    found = []
    for task, one in pairs:
        text = table("seeking")["program"].replace("{mark}", MARK).replace("{f}", entry_point(task))
        bare = text.removeprefix("```python\n").removesuffix("\n```")
        for response, reply in zip((text, bare), _asked(bench, one, (text, bare)), strict=True):
            words = f"{reply.said}\n{reply.message}"
            if bench.pays(reply) or in_sight(one.mark, words):
                how = "is paid" if bench.pays(reply) else "brings it back"
                title = f"a program that looks around finds what the hidden tests expect, and {how}"
                found.append(
                    finding(
                        probe,
                        task,
                        response,
                        reward=reply.reward,
                        title=title,
                        expected="hidden tests out of its reach",
                        under={"task": task_to(one.task)},
                    )
                )
                break
    return counted(probe, found, [task.id for task, _ in pairs])


PROBES = (
    Probe(
        "secrecy.prompt",
        "the prompt does not tell the answer",
        "high",
        "keep answers in a column of their own",
        "leak",
        special=_prompt,
    ),
    Probe(
        "secrecy.detail",
        "feedback and errors do not tell the answer",
        "high",
        "say that it is wrong, and not what would be right",
        "leak",
        special=_details,
    ),
    Probe(
        "secrecy.canary",
        "a canary planted as the answer comes back in nothing",
        "high",
        "say that it is wrong, and not what would be right",
        "leak",
        special=_canary,
    ),
    Probe(
        "secrecy.sandbox",
        "a program cannot read the tests that it is judged by",
        "critical",
        "keep expected values and tests out of the process, files, arguments and environment of the"
        " program",
        "leak",
        special=_sandbox,
    ),
)
