"""What all stages of judges share: where the judge is, who may not be it, and what becomes of a
verdict.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, TypeAlias

from attrs import asdict, evolve, field, fields, frozen
from rlenv import Attempt, ConfigError, Outcome, Task
from rlenv.authoring import File, Safe, Unsafe

from .applied import Applied
from .families import families
from .protocol.ask import ask
from .protocol.prefilter import contentless
from .protocol.verdict import Field, Verdict
from .transport.address import server_of
from .transport.client import Client
from .transport.endpoint import Endpoint
from .transport.errors import TooLong
from .transport.limits import Limits, Rate, Retries
from .transport.request import Transport

URL = "RLENV_JUDGE_URL"
MODEL = "RLENV_JUDGE_MODEL"
Check: TypeAlias = Callable[[Any, Attempt], Awaitable[Outcome]]
_SHOWN = 400  # characters of a judge's reason
_clients: dict[str, Transport] = {}
_lock = Lock()
os.register_at_fork(after_in_child=_lock._at_fork_reinit)  # type: ignore[attr-defined]


@frozen(kw_only=True)
class Judge:
    """A judge model and how it is reached; the table ``judge`` of every stage here.

    Args:
        base_url: of an OpenAI-compatible server, as ``https://api.example.org/v1``; RLENV_JUDGE_URL
            when "".
        model: its name there; RLENV_JUDGE_MODEL when "".
        key_env: the environment variable with the key; "" for a server that wants none.
        family: who made the model ("llama"), to keep a policy from being judged by its own kind;
            told from the model's name when "".
        revision: tells two models of one name apart; part of the fingerprint and of the cache's
            keys.
        price_in, price_out: money per million tokens, for ``budget.money``.
        params: sampling parameters; the temperature is 0 unless they say otherwise.
        failover: more endpoints, asked in this order where the first is dead: tables with
            ``base_url``, ``model``, ``key_env``, ``family``, ``revision``, ``price_in``,
            ``price_out``, ``params``.
        concurrency: requests in flight at once.
        rate: ``requests`` and ``tokens`` a minute at most.
        retries: ``times`` more tries after 429, 5xx and broken connections.
        timeout: seconds for one try.
        budget: ``calls``, ``tokens`` and ``money`` in all; what goes beyond is unscored.
        cache: a file for replies, so that the same question costs once and has one answer.
        transport: a part of the port ``transport`` ("plugin/name") instead of HTTP.
    """

    base_url: Unsafe[str] = ""
    model: Unsafe[str] = ""
    key_env: str = field(default="OPENAI_API_KEY", metadata={"safe": ("",)})
    family: Safe[str] = ""
    revision: Safe[str] = ""
    price_in: float = 0.0
    price_out: float = 0.0
    params: Unsafe[Mapping[str, Any]] = field(factory=dict)
    failover: Unsafe[tuple[Mapping[str, Any], ...]] = field(default=(), converter=tuple)
    concurrency: int = 64
    rate: Rate = field(factory=Rate)
    retries: Retries = field(factory=Retries)
    timeout: float = 60.0
    budget: Limits = field(factory=Limits)
    cache: File = field(factory=File)
    transport: Unsafe[str] = ""

    def resolved(self) -> Judge:
        """With what the environment supplies.

        Raises:
            ConfigError: no endpoint; names the variable to set.
        """
        if self.transport:
            return self
        url = self.base_url or os.environ.get(URL, "")
        model = self.model or os.environ.get(MODEL, "")
        for value, option, variable in ((url, "base_url", URL), (model, "model", MODEL)):
            if not value.strip():
                raise ConfigError(
                    f"judge.{option}: no judge is configured; name it here, or set the environment"
                    f" variable {variable}"
                )
        return evolve(self, base_url=url.strip(), model=model.strip())

    def endpoints(self) -> tuple[Endpoint, ...]:
        """All of them, the preferred one first.

        Raises:
            ConfigError: a table of ``failover`` is none.
        """
        names = [each.name for each in fields(Endpoint)]
        first = {name: getattr(self, name) for name in names}
        found = []
        for place, table in enumerate([first, *self.failover]):
            if unknown := sorted(set(table) - set(names)):
                raise ConfigError(
                    f"judge.failover[{place - 1}].{unknown[0]}: unknown; there are"
                    f" {', '.join(names)}"
                )
            given = {"key_env": self.key_env, "model": self.model, **table}
            if not given.get("base_url"):
                raise ConfigError(f"judge.failover[{place - 1}].base_url: required, and missing")
            found.append(Endpoint(**{**given, "key_env": given["key_env"] or None}))
        return tuple(found)

    def client(self) -> Transport:
        """What carries the requests.

        Equal judges of one process share connections, budget and cache.

        Raises:
            ConfigError: as ``resolved`` and ``endpoints``; a key's variable that is not set.
            PluginError: there is no such transport.
        """
        told = {**asdict(self), "cache": self._cache()}
        key = json.dumps(told, sort_keys=True, default=str)
        with _lock:
            if key not in _clients:
                _clients[key] = self._made()
            return _clients[key]

    def _cache(self) -> Path | None:
        return File(self.cache).path if self.cache else None

    def _made(self) -> Transport:
        if self.transport:
            from rlenv.authoring import part

            make: Any = part("transport", self.transport)
            made: Transport = make()
            return made
        return Client(
            self.endpoints(),
            concurrency=self.concurrency,
            rate=self.rate,
            retries=self.retries,
            timeout=self.timeout,
            budget=self.budget,
            cache=self._cache(),
        )


def judge_of(value: Judge | Mapping[str, Any], path: str = "judge") -> Judge:
    """A judge, or what a table describes, for stages that are built by hand.

    Raises:
        ConfigError: with every mistake of the table.
    """
    from rlenv.authoring import Problems, build

    if isinstance(value, Judge):
        return value
    problems = Problems()
    made = build(Judge, value, path, problems)
    problems.check()
    return made


@frozen(kw_only=True, slots=False)
class Judging:
    """Options of every stage here.

    Args:
        judge: where the judge is; see the table ``judge``.
        policy_family: who made the model that is trained ("qwen", or its name); a judge of that
            family is rejected, and one whose family is neither given nor known from its name.  A
            name that tells no known maker makes no judge another's: then the judge's own family has
            to be given.
        policy_url: where that model is served; a judge there is rejected.
        allow_self: let a policy's own family or endpoint judge it all the same.
        attempts: how often a reply without a valid verdict is asked for again, all tries counted.
        max_chars: a longer response is worth 0 and costs no call.
        calibration: a file that ``rlenv judge calibrate`` wrote: its map and slopes are applied to
            scores.
    """

    phase: ClassVar[str] = "judge"
    where: ClassVar[str] = "caller"
    default_timeout: ClassVar[float] = 300.0
    survey_if_alone: ClassVar[bool] = True
    draws: ClassVar[bool] = True

    judge: Judge = field(factory=Judge)
    policy_family: Safe[str] = ""
    policy_url: Safe[str] = ""
    allow_self: bool = False
    attempts: int = 3
    max_chars: int = 100_000
    calibration: File = field(factory=File)
    _applied: Applied | None = field(init=False, default=None, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.attempts < 1 or self.max_chars < 1:
            raise ConfigError("attempts and max_chars are integers from 1")
        self._resolve()  # so that the fingerprint names the model that is really asked
        for judge in self.judges():
            self._check_self(judge)
            judge.client()
        if self.calibration:
            object.__setattr__(self, "_applied", Applied.read(File(self.calibration).path))

    def _resolve(self) -> None:
        object.__setattr__(self, "judge", judge_of(self.judge).resolved())

    def judges(self) -> Sequence[Judge]:
        """All that this stage asks."""
        return (self.judge,)

    def _check_self(self, judge: Judge) -> None:
        if self.allow_self or judge.transport:
            return
        policy = families(self.policy_family)
        for endpoint in judge.endpoints():
            own = families(endpoint.family, endpoint.model)
            if policy and not (own and (endpoint.family or families("", self.policy_family))):
                raise ConfigError(
                    f"judge.family: {endpoint.model!r} may be of the family {self.policy_family!r}"
                    " too, since "
                    f'{"policy_family" if own else "its name"} tells none; say family = "...", or'
                    " allow_self = true"
                )
            if policy & own:
                raise ConfigError(
                    f"judge.family: {endpoint.model} is of the policy's own family"
                    f" {self.policy_family!r}, and models favor their own kind; choose another"
                    " judge, or say allow_self = true"
                )
            if self.policy_url and server_of(endpoint.base_url) == server_of(self.policy_url):
                raise ConfigError(
                    f"judge.base_url: {endpoint.base_url} serves the policy itself; choose another"
                    " judge, or say allow_self = true"
                )

    @property
    def deterministic(self) -> bool:
        """Whether a second run finds the same replies: only in a cache."""
        return all(bool(judge.cache or judge.transport) for judge in self.judges())

    def survey(self, tasks: Sequence[Task]) -> list[str]:  # noqa: ARG002 - the same for all tasks
        """What a reader of rewards should know."""
        return [
            (
                "only a judge decides here, and no program checks anything: add a stage that does,"
                " or audit the judge"
            )
        ]

    async def verdict(
        self,
        key: bytes,
        instructions: str,
        material: Mapping[str, str],
        fields: Sequence[Field],
        *,
        want_logprobs: bool = False,
    ) -> Verdict:
        """Ask once, for one verdict.

        Raises:
            VerifierFault: there is none, so the response is unscored.
        """
        return await ask(
            self.judge.client(),
            instructions=instructions,
            material=material,
            fields=fields,
            key=key,
            want_logprobs=want_logprobs,
            attempts=self.attempts,
        )

    def applied(self, score: float, response: str) -> tuple[float, dict[str, Any]]:
        """(the score after calibration, what was done to it)."""
        if self._applied is None:
            return min(1.0, max(0.0, score)), {}
        return self._applied.to(score, response)


def readable(check: Check) -> Check:
    """A check whose response may be longer than the judge can read: that is the response's doing, a
    0.
    """

    @wraps(check)
    async def wrapped(self: Any, attempt: Attempt) -> Outcome:
        if len(attempt.visible) > self.max_chars:
            return Outcome.failed(f"undecided: longer than max_chars = {self.max_chars}")
        try:
            return attempt.with_hidden(await check(self, attempt))
        except TooLong:
            return Outcome.failed("undecided: the response is longer than the judge can read")

    return wrapped


def named(what: str, hidden: int) -> str:
    """How material is called of which that many characters were hidden: the judge is told so, and
    not what.
    """
    return f"{what} (without {hidden:,} characters of hidden reasoning)" if hidden else what


def label_key(attempt: Attempt, *labels: object) -> bytes:
    """32 bytes for one call about one response: what no policy can predict, and always the same
    (law 5).
    """
    return hmac.new(attempt.key(), json.dumps(labels, default=str).encode(), "sha256").digest()


def blank(response: str) -> Outcome | None:
    """0 for what nobody needs to read, without a call."""
    if contentless(response):
        return Outcome.failed("there is nothing to judge: no letter, digit or sign")
    return None


def facts(verdict: Verdict) -> dict[str, Any]:
    """What of a verdict is next to its score.

    The reason is the operator's, it may quote the reference.
    """
    return {
        "model": verdict.model,
        "cached": verdict.cached,
        "attempts": verdict.attempts,
        "estimator": verdict.estimator,
        "tokens": verdict.usage.total,
    }


def reason(verdict: Verdict) -> str:
    """The judge's words, in printable letters."""
    return "".join(c if c.isprintable() else " " for c in verdict.reason[:_SHOWN])
