"""``--policy``: an endpoint, or a function of a file or a module; a failure of it is one
exception.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from hashlib import sha256
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeAlias

from attrs import field, frozen
from rlenv.config.references import FileFunction, refer
from rlenv.model.errors import RlenvError
from rlenv.model.record import dumps

from rlenv_cli.console import one_line
from rlenv_cli.mistakes import Mistake
from rlenv_cli.needed import plugin

Messages: TypeAlias = Sequence[Mapping[str, object]]
Sampling: TypeAlias = Mapping[str, object]
Policy: TypeAlias = Callable[[Messages, Messages], Any]


class PolicyFailed(Exception):
    """The policy gave no action: the rollout is no evidence for any reward, and may be tried
    again.
    """


@frozen
class Chosen:
    """What ``--policy`` names.

    Args:
        sha256: of what the rollouts are made by: two runs with equal hashes may be parts of one
            file.
        make: (seed, sampling of the environment) → the policy for one rollout.
    """

    sha256: str
    make: Callable[[int, Sampling], Policy]


@frozen
class Endpoint:
    """Options that are for an endpoint alone.

    Args:
        model: as the server names it.
        sampling: fields of the request, which win over the environment's.
        key_env: the environment variable that holds the key.
        token_ids: ask for the ids that the model was given and sampled.
    """

    model: str = ""
    sampling: Sampling = field(factory=dict)
    key_env: str = ""
    token_ids: bool = False

    def policy(
        self, url: str, patience: float, concurrent: int
    ) -> Callable[[int, Sampling], Policy]:
        """What ``Chosen.make`` is; all policies share the connections of one."""
        if not self.model:
            raise Mistake(
                "--model NAME is needed for the endpoint of a --policy URL: the model as the server"
                " names it"
            )
        clients = plugin("agent", "clients")
        network = {"key_env": self.key_env, "timeout": patience, "concurrency": concurrent}
        server = clients.endpoint(url, self.model, **network).server

        def make(seed: int, sampling: Sampling) -> Policy:
            asked = {"seed": seed, **sampling, **self.sampling}
            chat = clients.ChatPolicy(server, self.model, asked, token_ids=self.token_ids)
            return guarded(chat, None)

        return make


def chosen(name: str, endpoint: Endpoint, *, seed: int, patience: float, concurrent: int) -> Chosen:
    """The policy of this name.

    Args:
        name: an address of an endpoint that speaks chat completions, ``module:function`` or
            ``./file.py:function``.
        endpoint: what is said of it where it is one.
        seed: of the whole run.
        patience: seconds that one call of a function, or one request, may take.
        concurrent: rollouts that run at once.

    Raises:
        Mistake: it cannot be called, or the plugin for endpoints is missing.
        RlenvError: it is not there.
    """
    if name.startswith(("http://", "https://")):
        made = endpoint.policy(name, patience, concurrent)
        return Chosen(_digest("", endpoint.model, endpoint.sampling, seed), made)  # at any address
    if endpoint != Endpoint():
        raise Mistake(
            "--model, --sampling, --token-ids and --key-env are for the endpoint of a --policy URL:"
            " leave them out"
        )
    place, _, function = name.rpartition(":")
    base = Path(place).parent if place.endswith(".py") else Path()
    found = refer(f"./{Path(place).name}:{function}" if place.endswith(".py") else name, base)
    code = found.sha256 if isinstance(found, FileFunction) else ""
    try:
        policy = found.load() if isinstance(found, FileFunction) else found
    except (Exception, SystemExit) as error:
        raise Mistake(f"--policy {one_line(name)}: {told(error)}") from error
    if not callable(policy):
        raise Mistake(
            f"--policy {one_line(name)}: it is a {type(policy).__name__}; name a function of"
            " (messages, tools)"
        )
    return Chosen(
        _digest(name, code, seed),
        lambda _, __: guarded(getattr(policy, "begin", lambda: policy)(), patience),
    )


def _digest(*parts: object) -> str:
    return sha256(dumps(parts).encode()).hexdigest()


def guarded(policy: Policy, patience: float | None) -> Policy:
    """The policy as an async one that answers in time or fails.

    A function that is not async runs in a thread of its own, so that the other rollouts go on.

    Args:
        policy: of (messages, tools).
        patience: seconds for one call; None where it has limits of its own.
    """

    async def call(messages: Messages, tools: Messages) -> object:
        limit = asyncio.timeout(patience)
        try:
            async with limit:
                made = (
                    policy(messages, tools)
                    if _is_async(policy)
                    else await _in_thread(policy, messages, tools)
                )
                return await made if isawaitable(made) else made
        except Exception as error:
            if isinstance(error, plugin("agent", "clients").ContextExceeded):
                raise  # it ends the episode
            if limit.expired():
                raise PolicyFailed(f"no action within {patience:g} s (--policy-timeout)") from None
            raise PolicyFailed(told(error)) from error

    return call


def told(error: BaseException) -> str:
    """An exception in one line, with the place that raised it unless rlenv did."""
    frames = None if isinstance(error, RlenvError) else extract_tb(error.__traceback__)
    at = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return one_line(f"{type(error).__name__}: {error}{at}", 300)


def _is_async(policy: Policy) -> bool:
    return iscoroutinefunction(policy) or iscoroutinefunction(getattr(policy, "__call__", None))  # noqa: B004 - is it async?


def _in_thread(policy: Policy, messages: Messages, tools: Messages) -> Awaitable[object]:
    """What a call returns; one that hangs for good keeps neither the loop nor the process."""
    done = Future[object]()
    done.set_running_or_notify_cancel()  # so that it can be set when nobody waits any more

    def work() -> None:
        try:
            done.set_result(policy(messages, tools))
        except BaseException as error:  # noqa: BLE001 - it goes to whoever waits; SystemExit would pass through them
            done.set_exception(
                error if isinstance(error, Exception) else RuntimeError(type(error).__name__)
            )

    threading.Thread(target=work, name="rlenv-policy", daemon=True).start()
    return asyncio.wrap_future(done)
