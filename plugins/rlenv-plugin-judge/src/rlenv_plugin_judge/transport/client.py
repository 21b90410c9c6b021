"""The judge's way to its models: cached, limited, budgeted, retried, and handed on where one is
dead.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from attrs import evolve
from rlenv import ConfigError, VerifierFault

from .address import base_of
from .budget import Budget, Cost, cost
from .cache import Cache, key_of
from .endpoint import Endpoint
from .errors import Failure, TooLong, unavailable
from .failover import Health
from .flight import SingleFlight
from .http import Http
from .keys import headers, read_key, strike_out
from .limiter import Limiter
from .limits import Limits, Rate, Retries
from .request import Reply, Request, Usage
from .retry import pause
from .slot import Slot
from .wording import Dialect, reply_of

_GUESS = 512  # tokens of an answer whose length nobody limited


class Client:
    """Safe for many tasks and several event loops at once; it opens nothing before the first call.

    Args:
        endpoints: the first that is well is asked.
        concurrency: requests in flight at once, for each event loop; all else holds for all of
            them.
        timeout: seconds for one try.
        cache: a file that several processes may share; it holds replies, never keys.

    Raises:
        ConfigError: no endpoint, a base URL that cannot be used, a key's variable that is not set.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        *,
        concurrency: int = 64,
        rate: Rate | None = None,
        retries: Retries | None = None,
        timeout: float = 60.0,
        budget: Limits | None = None,
        cache: str | os.PathLike[str] | None = None,
    ) -> None:
        if not endpoints:
            raise ConfigError("a judge needs at least one endpoint: base_url and model")
        if concurrency < 1 or not timeout > 0:
            raise ConfigError("concurrency is at least 1 and timeout (seconds) more than 0")
        self._health = Health(endpoints)
        self._bases = tuple(base_of(e) for e in endpoints)
        for endpoint in endpoints:
            read_key(endpoint)
        self._dialects = tuple(Dialect() for _ in endpoints)
        self._retries = retries or Retries()
        self._http = Http(timeout, concurrency)
        self._limiter = Limiter(rate or Rate())
        self._limited = (rate or Rate()) != Rate() or (budget or Limits()) != Limits()
        self._budget = Budget(budget or Limits())
        self._cache = None if cache is None else Cache(cache)
        self._flights = SingleFlight()
        self._last: Failure | None = None
        self._concurrency = concurrency
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    @property
    def endpoints(self) -> tuple[Endpoint, ...]:
        return self._health.endpoints

    @property
    def usage(self) -> Usage:
        """What was spent so far, cached replies not counted."""
        return self._budget.usage

    @property
    def spent(self) -> Cost:
        """Calls, tokens and money so far, failed calls included."""
        return self._budget.spent

    async def turn(self) -> None:
        """Wait a moment where all places are taken: what they hold is sent before another prompt is
        written.
        """
        if self._gate().locked():
            await asyncio.sleep(0)

    async def send(self, request: Request) -> Reply:
        """The reply, from the cache where one of the endpoints' models gave it before.

        Raises:
            VerifierFault: there is none, so the response is unscored.
            TooLong: the model's context cannot hold the request.
        """
        keys = [key_of(e, request) for e in self.endpoints]
        if self._cache is not None:
            for key in keys:
                if (known := self._cache.get(key)) is not None:
                    return known
        return await self._flights.run(keys[0], lambda: self._ask_in_turn(request, keys))

    def forget(self, request: Request) -> None:
        """Drop the cached replies to ``request``, so that it is asked anew."""
        if self._cache is not None:
            for endpoint in self.endpoints:
                self._cache.forget(key_of(endpoint, request))

    async def close(self) -> None:
        """Close all connections and write what the cache still holds."""
        await self._http.close()
        if self._cache is not None:
            await asyncio.to_thread(self._cache.close)

    async def _ask_in_turn(self, request: Request, keys: Sequence[str]) -> Reply:
        last: Failure | TooLong | None = None
        for i in self._health.candidates():
            seen = self._health.falls(i)
            try:
                reply = await self._ask(i, request, seen)
            except Failure as err:
                last = self._last = self._named(i, err)
                self._health.failed(i, err.rest or self._rest_of_busy(err), seen)
                if err.final:
                    break
            except TooLong as err:  # the next one's context may be longer
                last = err
            else:
                self._health.good(i)
                if self._cache is not None:
                    self._cache.put(keys[i], reply)
                return reply
        if isinstance(last, TooLong):
            raise last
        raise last.fault() if last else self._resting()

    def _named(self, i: int, err: Failure) -> Failure:
        endpoint = self.endpoints[i]
        where = f"judge {endpoint.model!r} at {endpoint.base_url}"
        return Failure(f"{where}: {err.message}", retry=err.retry)

    def _rest_of_busy(self, err: Failure) -> str:
        """Too many requests: another endpoint takes over, where there is one."""
        return "soon" if len(self.endpoints) > 1 and not err.final else ""

    def _resting(self) -> VerifierFault:
        """Nobody is asked; what was wrong is said again."""
        last = self._last
        again = f"not asked for {self._health.wait():.0f} s more, since it failed a moment ago"
        why = "another call tries it just now" if last is None else last.message
        return unavailable(f"{again} ({why})", transient=last is None or last.retry)

    async def _ask(self, i: int, request: Request, seen: int) -> Reply:
        """Ask one endpoint until it answers, or no more tries are left, or it was found dead."""
        tried = 0
        while True:
            try:
                return await self._spend(i, request)
            except Failure as err:
                in_vain = tried >= self._retries.times or self._health.falls(i) != seen
                if not err.retry or in_vain:
                    raise
                after = err.after
            await asyncio.sleep(pause(self._retries, tried, after))
            tried += 1

    async def _spend(self, i: int, request: Request) -> Reply:
        """One try within budget, rate and concurrency."""
        endpoint = self.endpoints[i]
        slot = Slot(self._gate())
        guess = _guess(endpoint, request) if self._limited else Usage()
        expected = cost(endpoint, guess) if self._limited else Cost()
        try:
            await slot.take()
            await self._budget.hold(expected)
            spent: Usage | None = Usage()
            calls = 0
            try:
                await self._limiter.enter(guess.total)
                # a call that is cut off is paid for
                spent = None
                calls = 1
                reply = _filled(await self._exchange(i, request, slot), endpoint, request)
                spent = reply.usage
                return reply
            except Failure as err:
                spent = None if err.spent else Usage()
                raise
            finally:
                used = _guess(endpoint, request) if spent is None else spent
                self._budget.settle(expected, cost(endpoint, used) if calls else Cost(), used)
                if calls:
                    self._limiter.settle(guess.total, used.total)
        finally:
            slot.free()

    async def _exchange(self, i: int, request: Request, slot: Slot) -> Reply:
        endpoint = self.endpoints[i]
        dialect = self._dialects[i]
        while True:
            body = dialect.body(endpoint, request)
            await slot.take()
            url = self._bases[i] + request.route
            answer = await self._http.post(url, body, headers(endpoint), slot.free)
            if endpoint.key_env:
                answer = evolve(answer, body=strike_out(answer.body, endpoint))
            learned = answer.status in {400, 422} and dialect.learn(answer, body)
            if not learned or dialect.body(endpoint, request) == body:
                return reply_of(answer, endpoint, request.route)

    def _gate(self) -> asyncio.Semaphore:
        loop = asyncio.get_running_loop()
        gate = self._gates.get(loop)
        if gate is None:
            gate = self._gates[loop] = asyncio.Semaphore(self._concurrency)
        return gate


def _guess(endpoint: Endpoint, request: Request) -> Usage:
    """Tokens that a request may take: a token has about three characters in most languages'
    favor.
    """
    params = {**endpoint.params, **request.params}
    answer = params.get("max_completion_tokens", params.get("max_tokens", _GUESS))
    texts = [m.get("content", "") for m in request.messages] or map(str, request.params.values())
    prompt = sum(len(text) // 3 + 8 for text in texts)
    return Usage(prompt, answer if isinstance(answer, int) else _GUESS, estimated=True)


def _filled(reply: Reply, endpoint: Endpoint, request: Request) -> Reply:
    """The reply with estimated usage, where the endpoint did not count."""
    if not reply.usage.estimated:
        return reply
    prompt = _guess(endpoint, request).prompt_tokens
    answer = len(reply.text) // 3 + 8
    return evolve(reply, usage=Usage(prompt, answer, estimated=True))
