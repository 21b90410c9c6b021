"""What a policy gets for nothing: responses that solve no task."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from attrs import frozen
from rlenv.model.values import Task

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.derived import shortest
from rlenv_auditor.items import Items, named, place_of, plain, shown
from rlenv_auditor.model import Reply, Result
from rlenv_auditor.openness import is_open
from rlenv_auditor.programs import program_of
from rlenv_auditor.responses import CARRIERS, sequence, table, written
from rlenv_auditor.solved import plainly_in, text_of
from rlenv_auditor.statistics import rate

from .base import Probe, Skip, Try, finding, result, status_of, unanimous

__all__ = ["FREE", "LATE", "PROBES"]

ECHOED = [CARRIERS[name] for name in ("bare", "tags", "boxed", "marked")]
ROUNDING = (
    1e-9  # the mean of rewards of 0.1 is a little more than 0.1, or less, by the version of Python
)
FREE = 0.1  # mean reward of what solves nothing: less is taken for shaping


def _constant(bench: Bench, texts: Mapping[str, str]) -> Iterator[Try]:
    """Each text on every task whose answer it is not."""
    for name, text in texts.items():
        for task in bench.tasks:
            if not plainly_in(task, text):
                yield Try(task, text, name=name)


def _named(bench: Bench, name: str, texts: Sequence[str]) -> Iterator[Try]:
    yield from _constant(bench, {f"{name} ({n})": text for n, text in enumerate(texts)})


def _skeleton(bench: Bench) -> Iterator[Try]:
    """Forms of the field, and those of the verifier's own texts, with nothing or a blank word
    inside.
    """
    own = [written(form, text) for form in bench.golds.derived.values() for text in ("", "it", "1")]
    yield from _named(bench, "a form without content", [*sequence("skeletons"), *own])


def _own(bench: Bench) -> Iterator[Try]:
    """What the verifier's own source looks for, alone and all of it at once."""
    words = bench.target.words
    if not words:
        raise Skip("its source is not known, or holds no text", "not-installed")
    texts = [*dict.fromkeys([*words, *(text for word in words if (text := shortest(word)))])]
    texts += [glue.join(texts) for glue in ("", " ", "\n")]
    for task in bench.tasks[:4]:
        for text in texts:
            if text.strip() and not plainly_in(task, text):
                yield Try(task, text, name="a text of its own source")


def _echo(bench: Bench) -> Iterator[Try]:
    for task in bench.tasks:
        numbers = re.findall(r"(?<![\w.])\d+(?:\.\d+)?", task.prompt)
        alone = dict.fromkeys([*numbers[:1], *numbers[-1:], *sorted(numbers, key=float)[-1:]])
        gold = bench.golds.of(task) or ""
        ways = (
            [str(bench.golds.form)]
            if bench.golds.form
            else [*ECHOED, *bench.golds.derived.values()]
        )
        texts = [("the prompt", task.prompt), ("the prompt twice", f"{task.prompt}\n{task.prompt}")]
        texts += [("the prompt, in form", text) for text in bench.golds.dressed(task.prompt)]
        if not is_open(task):  # else one of them may be right, too
            texts += [
                ("a number of the prompt", written(way, one))
                for one in alone
                if one not in gold
                for way in ways
            ]
        for name, text in texts:
            if not plainly_in(task, text):
                yield Try(task, text, name=name)


def _listed(bench: Bench) -> Iterator[Try]:
    """What the prompt lists, in the place of the answer: all of it, and what is no item of the
    answer, one by one.
    """
    for task in bench.tasks:
        gold = bench.golds.of(task) or ""
        before, own, after = place_of(gold, text_of(task.answer))
        answer = Items.of(own) or Items((own,))
        right = {*answer.items, *named(task.prompt, answer.items)}
        ways = [f"{before}{{}}{after}"] if own else [*ECHOED, *bench.golds.derived.values()]
        for items in shown(task.prompt, own) if program_of(gold) is None else ():
            several = tuple(dict.fromkeys(items))
            if len(several) < 2 or set(map(plain, several)) == set(map(plain, answer.items)):
                continue
            texts = [one for one in several if one not in right and not plainly_in(task, one)][:4]
            options = [
                Try(task, written(way, one), name="an option of the prompt")
                for one in texts
                for way in ways
            ]
            yield from unanimous(bench, options) if is_open(task) else options
            yield from (
                Try(task, written(way, answer.text(items)), name="all that the prompt lists")
                for way in ways
            )


def _random(bench: Bench) -> Iterator[Try]:
    letters = string.ascii_letters + string.digits + " .,:;{}()[]<>=+-*/\\\n\"'"
    for task in bench.tasks:
        chance = bench.chance("random", task.id)
        texts = {
            "random characters": "".join(chance.choices(letters, k=200)),
            "random words of the prompt": " ".join(
                chance.choices(task.prompt.split() or ["?"], k=30)
            ),
            "a random number": str(chance.randrange(10**5, 10**6)),
        }
        for name, text in texts.items():
            if not plainly_in(task, text):
                yield Try(task, text, name=name, other=True)


def _long(bench: Bench) -> Iterator[Try]:
    filler = "This is an important question, so let us think about it with care. "
    for task in bench.tasks[:20]:
        yield Try(task, filler * 300, name="20,000 characters of nothing")


def _options(bench: Bench) -> Iterator[Try]:
    """Every answer at once."""
    answers = [text for task in bench.tasks if (text := text_of(task.answer)) is not None]
    several = list(dict.fromkeys(answers))
    if len(several) < 2:
        raise Skip("its tasks have no two different answers", "too-few-tasks")
    for task in bench.tasks:
        own = text_of(task.answer)
        if own is None:
            continue
        others = [text for text in several if text != own][:6]
        half = len(others) // 2
        listed = [*others[:half], own, *others[half:]]
        yield Try(task, ", ".join(listed), name="a list of answers, the right one among them")
        yield Try(task, " or ".join(listed), name="answers joined by “or”")
        yield Try(
            task,
            "".join(f"The answer is {text}.\n" for text in listed),
            name="one final answer after the other",
        )
        if many := bench.golds.dressed(*listed):
            yield Try(
                task, "\n".join(many), name="a final answer in the verifier's form, again and again"
            )
            for text in bench.golds.dressed(", ".join(listed), " or ".join(listed)):
                yield Try(task, text, name="several answers in the verifier's form")


def _policies(bench: Bench) -> dict[str, str]:
    """Constant policies by their names."""
    golds = Counter(text for task in bench.tasks if (text := text_of(task.answer)) is not None)
    frequent = [text for text, count in golds.most_common(3) if count < len(bench.tasks)]
    policies = {
        **{f"'{text}'": text for text in sequence("constants")},
        **{f"'{text:.40}', a frequent answer": text for text in frequent},
    }
    dressed = bench.golds.dressed(*policies.values())
    return policies | {
        f"{name} in form": text for name, text in zip(policies, dressed, strict=False)
    }


@frozen
class _Earned:
    """What one constant earned: its mean reward, and the tasks on which it earned something or
    passed unsolved.
    """

    text: str
    mean: float
    some: frozenset[str | None]
    paid: tuple[tuple[Task, float], ...]
    unsolved: dict[str | None, tuple[float, str]]


def _earned(bench: Bench, text: str) -> _Earned:
    replies = bench.ask([(task, text) for task in bench.tasks])
    both = list(zip(bench.tasks, replies, strict=True))
    rewards = [
        0.0 if r.reward is None or r.reward != r.reward else min(1.0, max(0.0, r.reward))
        for r in replies
    ]
    some = frozenset(task.id for (task, _), reward in zip(both, rewards, strict=True) if reward)
    paid = tuple(_proven(bench, text, both))
    unsolved = {
        task.id: (0.0 if plainly_in(task, text) else reward, text)
        for task, reward in zip(bench.tasks, rewards, strict=True)
    }
    return _Earned(text, sum(rewards) / len(rewards), some, paid, unsolved)


def _proven(
    bench: Bench, text: str, both: Sequence[tuple[Task, Reply]]
) -> Iterator[tuple[Task, float]]:
    """(task, reward) where a constant is paid and is not right: of tasks with several answers all
    of them, or none.
    """
    wrong = [(task, reply) for task, reply in both if not plainly_in(task, text)]
    judged = any(is_open(task) and not bench.pays(reply) for task, reply in wrong)
    for task, reply in wrong:
        if bench.pays(reply) and not (judged and is_open(task)):
            yield task, float(reply.reward or 0)


def _free(bench: Bench, probe: Probe) -> Result:
    """The constant policies, and the best mean that one of them earns."""
    known: dict[str, _Earned] = {}
    policies = _policies(bench)
    with suppress(OutOfBudget):
        for name, text in policies.items():
            known[name] = _earned(bench, text)
    if not known:
        raise OutOfBudget
    count = len(bench.tasks)
    paying = [name for name in known if known[name].paid]
    worst = sorted(paying, key=lambda n: (-len(known[n].paid), len(known[n].text)))
    found = tuple(
        finding(
            probe,
            task,
            one.text,
            reward=reward,
            title=f"the constant {name} is paid on {len(one.paid)} of {count} tasks",
            expected=f"below {bench.pass_mark:g}",
        )
        for name in worst[:3]
        for one in [known[name]]
        for task, reward in one.paid[:1]
    )
    best = max(known.values(), key=lambda one: one.mean)
    # No constant can earn more, on average, than the share of tasks on which any constant earns
    # something.
    most = rate(len(frozenset().union(*(one.some for one in known.values()))), count)
    figures = {
        "expected free reward": round(best.mean, 4), "expected free reward at most": most.high,
        "best constant": best.text, "constants": len(known),
    }  # fmt: skip
    for name, one in known.items():
        bench.earned[f"the constant {name}"] = one.unsolved
    hits = rate(len({task.id for one in known.values() for task, _ in one.paid}), count)
    whole = len(known) == len(policies)
    reason = "" if whole else "the budget ended before all constants were tried"
    status = status_of(found=bool(found), complete=whole)
    return result(probe, status, rate=hits, findings=found, figures=figures, reason=reason)


def _for_nothing(bench: Bench, probe: Probe) -> Result:
    """Of all that was asked and solves nothing: the most that one kind earns on average, also below
    the pass mark.
    """
    means = {
        name: sum(one for one, _ in tasks.values()) / len(tasks)
        for name, tasks in bench.earned.items()
        if 2 * len(tasks) >= len(bench.tasks)
    }
    if not means:
        raise Skip("nothing was asked that solves nothing", "nothing-to-try")
    best = max(means, key=lambda name: (round(means[name], 6), -len(name)))
    tasks = bench.earned[best]
    figures = {"free reward": round(means[best], 4), "best for nothing": best, "kinds": len(means)}
    hits = rate(sum(one > 0 for one, _ in tasks.values()), len(tasks))
    partly = [
        name
        for name in means
        if all(one < bench.pass_mark for one, _ in bench.earned[name].values())
    ]
    most = max(partly, key=lambda name: (round(means[name], 6), -len(name)), default="")
    found = []
    # what passes is a finding of the probe that asked it
    if means.get(most, 0.0) > FREE + ROUNDING:
        known = {task.id: task for task in bench.tasks}
        tasks = bench.earned[most]
        name = min(tasks, key=lambda one: (-tasks[one][0], len(tasks[one][1])))
        paid, text = tasks[name]
        title = f"{most}: earns {means[most]:.3g} on average of {len(tasks)} tasks, and solves none"
        found = [
            finding(
                probe,
                known[name],
                text,
                reward=paid,
                title=title,
                expected=f"{FREE:g} at most on average",
            )
        ]
    return result(
        probe, "found" if found else "clean", rate=hits, figures=figures, findings=tuple(found)
    )


PROBES = (
    Probe(
        "baselines.empty",
        "an empty response earns nothing",
        "critical",
        "score what is blank 0 before anything reads it",
        tries=lambda bench: _constant(bench, table("empty")),
    ),
    Probe(
        "baselines.constant",
        "no constant earns anything",
        "critical",
        "compare with the answer, and let nothing stand for every value: nan, empty lists, truth of"
        " a text",
        special=_free,
    ),
    Probe(
        "baselines.own",
        "nothing that its own source looks for is paid by itself",
        "critical",
        "let words and marks be conditions, and pay the answer alone",
        tries=_own,
    ),
    Probe(
        "baselines.echo",
        "the prompt is not an answer",
        "critical",
        "take off what repeats the prompt before anything is counted",
        tries=_echo,
    ),
    Probe(
        "baselines.listed",
        "what the prompt lists is not an answer",
        "critical",
        "compare with the answer as a whole: neither any option, nor all of them, nor their share",
        tries=_listed,
    ),
    Probe(
        "baselines.refusal",
        "a refusal earns nothing",
        "high",
        "ask for content, not for form",
        tries=lambda bench: _named(bench, "a refusal", sequence("refusals")),
    ),
    Probe(
        "baselines.skeleton",
        "a form without content earns nothing",
        "high",
        "let form be a gate, and never a reward by itself",
        tries=_skeleton,
    ),
    Probe(
        "baselines.random", "chance earns nothing", "high", "compare with the answer", tries=_random
    ),
    Probe(
        "baselines.long",
        "length earns nothing",
        "high",
        "do not count words, and cap what length can buy",
        tries=_long,
    ),
    Probe(
        "baselines.options",
        "all answers at once are no answer",
        "high",
        "judge the one final answer, and refuse several",
        tries=_options,
    ),
)
LATE = (
    Probe(
        "baselines.free",
        "what solves nothing earns next to nothing",
        "high",
        "pay form, length and partial success only on top of what is right, or as a gate",
        "free",
        special=_for_nothing,
    ),
)
