"""The actors of a cluster: started, replaced when they die, ended."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import define
from rlenv import ConfigError, RlenvError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ray import ObjectRef
    from ray.actor import ActorHandle

REACH = 10.0  # seconds to connect to a cluster
REMEDY = "install it with `pip install './contrib/rlenv-ray[ray]'` in a clone of rlenv"


@define(eq=False)
class ActorMember:
    """An actor, and whether it has answered."""

    handle: ActorHandle
    started: bool = False


class ActorSet:
    """So many actors; one that is dismissed is replaced.  May be used from several threads.

    Args:
        address: of the cluster, as ``ray.init`` takes it; not used where this process is connected
            already.
        actors: how many; None for as many as the CPUs of the cluster allow.
        cpus: that each actor reserves, and its worker processes.

    Raises:
        ConfigError: Ray is not installed, or cannot be reached.
    """

    def __init__(self, address: str | None, actors: int | None, cpus: int) -> None:
        try:
            import ray
        except ImportError as error:
            raise ConfigError(f"Ray is not installed ({error}): {REMEDY}") from None
        from .actor import EnvironmentActor

        self._lock = threading.RLock()  # `release` may run when Python collects a generator
        self._connected = not ray.is_initialized()
        if self._connected:
            _connect(address)
        total = int(ray.cluster_resources().get("CPU", 1))
        self._size = actors or max(1, total // cpus)
        kind = ray.remote(num_cpus=cpus, max_restarts=0, scheduling_strategy="SPREAD")(
            EnvironmentActor
        )
        self._start: Callable[[], ActorMember] = lambda: ActorMember(kind.remote(cpus))
        self._members: list[ActorMember] = []
        self._closed = False

    def members(self) -> list[ActorMember]:
        """All that are not dismissed; they may still be starting.

        Raises:
            RlenvError: they were closed.
        """
        with self._lock:
            if self._closed:
                raise RlenvError("RayWorkers was closed before the last verdict: close it later")
            while len(self._members) < self._size:
                self._members.append(self._start())
            return list(self._members)

    def release(self, member: ActorMember, key: str, user: str, calls: Iterable[ObjectRef]) -> None:
        """Cancel calls that nobody waits for, and let the actor close an environment; closed actors
        have ended.

        Args:
            member: the actor.
            key: names the environment.
            user: what opened it.
            calls: of this actor.
        """
        import ray

        with self._lock:
            if self._closed or member not in self._members:
                return
        with suppress(Exception):  # it may be dead, or the connection
            for call in calls:
                ray.cancel(call)
            member.handle.leave.remote(key, user)

    def dismiss(self, member: ActorMember) -> None:
        """End an actor that died, or that does not answer.

        Ray ends by itself what nobody holds.  One that is killed while it starts may keep its CPUs
        for a minute.
        """
        import ray

        with self._lock:
            if member in self._members:
                self._members.remove(member)
        if member.started:
            with suppress(Exception):  # it may be dead, or its node
                ray.kill(member.handle)

    def close(self) -> None:
        """End all actors, and the connection where this object made it."""
        import ray

        with self._lock:
            self._closed = True
        for member in list(self._members):
            self.dismiss(member)
        if self._connected:
            self._connected = False
            ray.shutdown()


def _connect(address: str | None) -> None:
    import ray

    try:
        _check_reachable(address or "")
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = address or "this machine"
        first = (str(error).splitlines() or [""])[0]
        raise ConfigError(f"no Ray cluster at {where} ({type(error).__name__}: {first})") from None


def _check_reachable(address: str) -> None:
    """Ray would try for minutes.

    Raises:
        OSError: nobody listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), REACH).close()
