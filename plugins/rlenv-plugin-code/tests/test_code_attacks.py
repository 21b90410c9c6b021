"""The corpus of attacks earns nothing and trips no canary, on any backend; honest programs are paid
in full.

In the jail each file of the corpus is a test of its own, so that several processes share the work;
elsewhere one test runs a sample. ``RLENV_ATTACKS="frames: a torn"`` runs only what is named so;
``RLENV_ATTACKS_EVERYWHERE=1`` runs the whole corpus, a test for each file, on every backend.
"""

from __future__ import annotations

import contextlib
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import sandbox_serving
from code_canaries import Canaries
from code_corpus import Attack, attacks, crowd, evaluated, families, honest
from rlenv import Environment, Task, Verdict
from rlenv.model.errors import ConfigError, RlenvError

Pairs = list[tuple[str, Task, str]]
Found = dict[str, Verdict]
Options = Mapping[str, Any]

SLOWEST = 10.0  # seconds that one verdict may take where every process has a processor
LIMITS: Mapping[str, Options] = {  # of families whose attacks all use up what they are given
    "bombs: ": {"timeout": 0.5, "memory_mb": 192},
    "c: ": {"budget": 1.5},  # compilers that find no end
    "waiting: ": {"timeout": 0.4},
}
REPEATS = 8  # luck of one in four then pays once in 65,536
BACKENDS = ("jail", "docker", "docker+gvisor", "remote")
ONE = Task(
    "Write f(): 1.",
    info={
        "tests": {"kind": "function", "entry_point": "f", "cases": [{"args": [], "expected": 1}]}
    },
)
ONLY = os.environ.get("RLENV_ATTACKS", "")
EVERYWHERE = os.environ.get("RLENV_ATTACKS_EVERYWHERE") == "1"
# One in so many of the corpus; what runs behind a server is the jail again.
SHARE = {"jail": 1, "remote": 10}
LONG = ("c: ", "javascript: ", "search: ", "waiting: ")
ENDLESS = [pytest.mark.slow]  # most of these run to a deadline; "bombs: " and others like them stay
CONTAINER = [pytest.mark.slow]  # a container, or a server, for each program takes longer


def environment(backend: str, sandbox: Options, **options: Any) -> Environment:
    """Compile, run, limits and diff, as they are meant to be put together."""
    tier = "container" if backend == "docker" else "jail"
    box = {"isolation": backend, "min_isolation": tier, "sandbox": sandbox}
    stages = [
        {"use": "code/compile", "options": {**box, "budget": options.get("budget", 8.0)}},
        {"use": "code/run", "weight": 0, "options": {**box, **options}},
        {"use": "code/diff", "options": {**box, "score": "all"}},
        {"use": "code/limits", "options": box},
    ]
    return Environment.from_dict({"name": f"attacks-{backend}", "stage": stages})


Box = tuple[str, Options]


def at(backend: str, *more: str) -> Any:
    """Parameters of a test on this backend."""
    marks = ENDLESS if {*more} & {*LONG} else []
    if backend != "jail":
        marks = CONTAINER
    return pytest.param(backend, *more, marks=marks)


def parts(folder: str) -> list[Any]:
    """(backend, files of the corpus that one test runs); "" is a sample of all."""
    each = [""] if ONLY else families(folder)
    whole = ("jail", *(BACKENDS if EVERYWHERE else ()))
    return [at(b, part) for b in BACKENDS for part in (each if b in whole else [""])]


everywhere = pytest.mark.parametrize("box", [at(b) for b in BACKENDS], indirect=True)


@cache
def lacking(backend: str, options: tuple[tuple[str, str], ...]) -> str:
    """Why a backend is not there; "" where it works. One that is there and broken is an error."""
    try:
        with environment(backend, dict(options)) as env:
            verdict = env.evaluate(ONE, "```python\ndef f(): return 1\n```")
    except RlenvError as err:
        return str(err).splitlines()[0]
    expected = {"jail": os.geteuid() == 0, "docker": "DOCKER_HOST" in os.environ}
    if not verdict.scored and not expected.get(backend):
        return str(verdict.fault)
    assert verdict.value == 1.0, told(verdict)
    return ""


@pytest.fixture
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    """A backend that works here; one that this machine has not got is skipped, one that is broken
    is not.
    """
    backend: str = request.param
    with contextlib.ExitStack() as stack:
        options = stack.enter_context(_served()) if backend == "remote" else {}
        if why := lacking(backend, tuple(options.items())):
            pytest.skip(f"no {backend} here: {why}")
        yield backend, options


@contextlib.contextmanager
def _served() -> Iterator[Mapping[str, str]]:
    """A server of this machine's jail."""
    pytest.importorskip("rlenv_plugin_sandbox")
    token = "attacks"
    with sandbox_serving.serving("jail", token=token) as url:
        yield {"url": url, "token": token}


def verdicts(env: Environment, pairs: Pairs, wanted: float) -> Found:
    """All of them, by name; what took long beside others is timed again by itself.

    An attack is left out that starves on a machine busy with other things: it earned nothing.
    """
    batch = evaluated(env, [(task, response) for _, task, response in pairs])
    found: Found = {}
    for (name, task, response), verdict in zip(pairs, batch, strict=True):
        again = seconds(verdict) > SLOWEST * crowd() or passing(verdict)
        found[name] = env.evaluate(task, response) if again else verdict
    return found


def passing(verdict: Verdict) -> bool:
    """Whether it is unscored for a reason that may be gone at the next try."""
    return verdict.fault is not None and verdict.fault.transient


def seconds(verdict: Verdict) -> float:
    return sum(result.seconds for result in verdict.results)


def told(verdict: Verdict) -> str:
    rows = []
    for result in verdict.results:
        said: object = result.fault
        if outcome := result.outcome:
            said = said or f"{outcome.score:g} {outcome.detail} {dict(outcome.private)!r:.400}"
        rows.append(f"{result.stage}: {said}")
    return "\n    ".join(rows)


def wrong(found: Found, wanted: float) -> Iterator[str]:
    for name, verdict in found.items():
        if verdict.value != wanted:
            yield f"{name} is worth {verdict.value}\n    {told(verdict)}"
        elif seconds(verdict) > SLOWEST * crowd():
            yield f"{name} took {seconds(verdict):.1f} s\n    {told(verdict)}"


def judged(env: Environment, pairs: Pairs, wanted: float) -> list[str]:
    """What is wrong with the verdicts on these."""
    return list(wrong(verdicts(env, pairs, wanted), wanted))


def sampled(name: str, backend: str, share: int = 5) -> bool:
    """All of the corpus in the jail; elsewhere, where a run costs ten times as much, one in
    ``share`` of it.
    """
    everything = backend == "jail" or bool(ONLY) or EVERYWHERE
    return everything or zlib.crc32(name.encode()) % share == 0


def chosen(
    cases: Iterable[Attack], backend: str, env: str, wave: int = 1, family: str = ""
) -> Pairs:
    share = SHARE.get(backend, 5) if env == "plain" and wave == 1 else 5
    return [
        (case.name, case.task, case.response)
        for case in cases
        if case.env == env
        and case.wave == wave
        and case.name.startswith(family)
        and ONLY in case.name
        and backend in (case.only or BACKENDS)
        and sampled(case.name, backend, share)
    ]


@pytest.fixture
def canaries() -> Iterator[Canaries]:
    made = Canaries()
    yield made
    made.close()


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("box", "family"), parts("attacks"), indirect=["box"])
def test_no_attack_is_paid(box: Box, family: str, canaries: Canaries) -> None:
    backend, _ = box
    cases = attacks(canaries.marks)
    waves = [chosen(cases, backend, "plain", wave, family) for wave in (1, 2)]
    paid: list[str] = []
    limits = {"timeout": 1.0, "budget": 6.0, **LIMITS.get(family, {})}
    with environment(*box, **limits) as env:
        for wave in waves:
            paid += judged(env, wave, 0.0)
    tripped = canaries.tripped()

    assert any(waves) or ONLY
    assert not paid, f"{len(paid)} of {sum(map(len, waves))} attacks:\n" + "\n".join(paid[:30])
    assert not tripped


@everywhere
def test_no_program_is_paid_by_luck(box: Box, canaries: Canaries) -> None:
    cases = chosen(attacks(canaries.marks), box[0], "repeat")
    with environment(*box, timeout=2.0, budget=20.0, repeat=REPEATS) as env:
        paid = judged(env, cases, 0.0)

    assert not paid, "\n".join(paid)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("box", "family"), parts("honest"), indirect=["box"])
def test_honest_programs_are_paid_in_full(box: Box, family: str) -> None:
    share = SHARE.get(box[0], 5)
    rows = [row for row in honest() if row[0].startswith(family)]
    pairs = [row for row in rows if ONLY in row[0] and sampled(row[0], box[0], share)]
    assert pairs or ONLY
    with environment(*box, timeout=8.0, budget=24.0) as env:
        refused = judged(env, pairs, 1.0)

    assert not refused, f"{len(refused)} of {len(pairs)} programs:\n" + "\n".join(refused[:30])


def test_a_library_is_there_for_programs_where_it_is_preloaded() -> None:
    pairs = honest("numpy")
    if not pairs:
        pytest.skip("numpy is not installed")
    with environment("jail", {}, preload=["numpy"], timeout=8.0, budget=24.0) as env:
        assert judged(env, pairs, 1.0) == []


def suites(box: Box, timeout: float, budget: float) -> Environment:
    """Responses that are test suites."""
    backend, sandbox = box
    tier = "container" if backend == "docker" else "jail"
    where = {"isolation": backend, "min_isolation": tier, "sandbox": sandbox}
    options = {**where, "timeout": timeout, "budget": budget}
    stage = {"use": "code/tests", "options": options}
    return Environment.from_dict({"name": f"suites-{backend}", "stage": [stage]})


@everywhere
def test_test_suites_are_worth_what_they_find(box: Box, canaries: Canaries) -> None:
    bad = chosen(attacks(canaries.marks), box[0], "suite")
    good = [row for row in honest("suite") if ONLY in row[0] and sampled(row[0], box[0])]
    with suites(box, 0.3, 6.0) as env:
        odd = judged(env, bad, 0.0)
    with suites(box, 1.0, 25.0) as env:
        odd += judged(env, good, 1.0)
    tripped = canaries.tripped()

    assert not odd, "\n".join(odd)
    assert not tripped


def test_a_backend_without_isolation_runs_nothing() -> None:
    with pytest.raises(ConfigError, match="process"):
        environment("process", {})


def test_every_case_of_the_corpus_is_of_one_family_that_is_run(canaries: Canaries) -> None:
    plain = [case.name for case in attacks(canaries.marks) if case.env == "plain"]
    for folder, names in (("attacks", plain), ("honest", [name for name, _, _ in honest()])):
        begins = families(folder)
        assert [name for name in names if sum(map(name.startswith, begins)) != 1] == []


def test_the_corpus_is_large_and_every_case_has_its_own_name(canaries: Canaries) -> None:
    cases = attacks(canaries.marks)
    programs = honest()

    assert len(cases) >= 500
    assert len(programs) >= 120
    assert len({case.name for case in cases}) == len(cases)
    assert len({name for name, _, _ in programs}) == len(programs)
    assert len({case.name.partition(":")[0] for case in cases}) >= 20
