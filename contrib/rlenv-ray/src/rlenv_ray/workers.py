"""``RayWorkers``: where ``evaluate_many`` evaluates on a cluster."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Self

from rlenv import Attempt, ConfigError, Environment, Verdict

from .actors import ActorSet
from .shipment import Shipment, Source, check_source
from .stream import Numbered, Stream


class RayWorkers:
    """Actors of a Ray cluster that evaluate: ``env.evaluate_many(rows, on=RayWorkers())``.

    They start at the first call and stay until ``close``.  Each loads the environment, whose code,
    versions and secret must be those of the caller, and runs its stages in worker processes of its
    own, next to it.  Rows are read as actors become free.  What a lost actor or node had is
    evaluated by others.

    Args:
        address: of the cluster, as ``ray.init`` takes it (``"auto"``, ``"HOST:PORT"``,
            ``"ray://HOST:PORT"``); None for RAY_ADDRESS, else a cluster on this machine, which is
            started where there is none.
        actors: how many; None for as many as the CPUs of the cluster allow.
        cpus: that each actor reserves; it has so many worker processes.
        batch: rows that an actor gets at once; fewer than 32 spend more on messages.
        environment: what the actors load: an installed name, a path that is valid on every node, or
            the mapping of an env.toml.  None sends the environment itself: stages that can be
            imported by name, what ``__main__`` or a notebook defines by value.
        timeout: seconds within which an actor starts, and within which it answers for a batch; one
            that does not is replaced.

    Raises:
        ConfigError: for an argument that makes no sense.

    Example:
        with RayWorkers() as cluster:
            verdicts = list(env.evaluate_many(rows, on=cluster))
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        actors: int | None = None,
        cpus: int = 1,
        batch: int = 32,
        environment: Source = None,
        timeout: float = 3600.0,
    ) -> None:
        for name, value in {"actors": actors, "cpus": cpus, "batch": batch}.items():
            if value is not None and (type(value) is not int or value < 1):
                raise ConfigError(f"{name} is an integer ≥ 1, not {value!r}")
        if not 0 < timeout < float("inf"):
            raise ConfigError(f"timeout is a number of seconds > 0, not {timeout!r}")
        check_source(environment)
        self._asked = address, actors, cpus
        self._batch = batch
        self._timeout = timeout
        self._source = environment
        self._actors: ActorSet | None = None
        self._lock = threading.Lock()

    def evaluate(self, env: Environment, rows: Iterator[Attempt | Verdict]) -> Numbered:
        """(index, verdict) pairs, as ``Environment.evaluate_as_completed`` asks for them.

        Args:
            env: what evaluates.
            rows: attempts, and verdicts that are given back.

        Raises:
            ConfigError: the environment cannot be sent, Ray cannot be reached, or a node differs.
            RlenvError: no actor started in time.
        """
        shipment = Shipment.of(env, self._source)
        return Stream(self._ready(), shipment, rows, self._batch, self._timeout).run()

    def _ready(self) -> ActorSet:
        with self._lock:
            if self._actors is None:
                self._actors = ActorSet(*self._asked)
            return self._actors

    def close(self) -> None:
        """End the actors, and the connection to the cluster if this object made it.  May be called
        twice.
        """
        with self._lock:
            actors = self._actors
            self._actors = None
        if actors is not None:
            actors.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def on(where: str) -> RayWorkers:
    """What ``rlenv score --on`` calls: ``ray``, ``ray://HOST:PORT`` or ``ray:HOST:PORT``.

    Args:
        where: the text after ``--on``; an address that begins with ``//`` is one of Ray Client.
    """
    address = where.partition(":")[2]
    return RayWorkers((where if address.startswith("//") else address) or None)
