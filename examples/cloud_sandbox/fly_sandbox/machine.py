"""A sandbox in a machine that is made when the first session opens, and removed when the sandbox is
closed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import secrets
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any
from urllib.parse import urlencode

from attrs import frozen
from rlenv import ConfigError, RlenvError, VerifierFault
from rlenv.sandbox import Diagnosis, Profile, Session, Tier
from rlenv_plugin_sandbox.remote import Remote

from .api import GONE, Api, Unavailable

PAUSE_S = 0.3  # the service takes one request a second of each kind, and a few more at times
LOOK_S = 5  # seconds of one request that waits for a machine to start
REMOVE_S = 20.0


@frozen
class _Machine:
    id: str
    remote: Remote


class FlyMachine:
    """Programs in the jail of a Fly Machine.  Its tier is "jail": the programs of one trainer share
    a machine.

    A machine takes seconds to start.  The wait counts as time of no program, and ends with a fault.

    Args:
        app: the app that machines belong to.
        image: an image that runs ``python -m rlenv_plugin_sandbox.remote``; see the Containerfile.
        cpus, memory_mb: of the machine.
        start_s: seconds until a machine must have started, the download of its image included.
        url: of the service; ``http://_api.internal:4280`` within Fly's private network.
        port: that the image listens on.
        extra: more of the machine's configuration, as ``{"auto_destroy": True}``.

    Raises:
        ConfigError: a limit makes no sense.
    """

    tier: Tier = "jail"

    def __init__(
        self,
        app: str,
        image: str,
        *,
        cpus: int = 2,
        memory_mb: int = 4096,
        start_s: float = 180.0,
        url: str = "https://api.machines.dev",
        port: int = 8765,
        extra: dict[str, Any] | None = None,
    ) -> None:
        if min(cpus, memory_mb, start_s, port) <= 0:
            raise ConfigError("fly/machine: cpus, memory_mb, start_s and port are above 0")
        guest = {"cpu_kind": "shared", "cpus": cpus, "memory_mb": memory_mb}
        self._config = {
            "image": image,
            "guest": guest,
            "auto_destroy": True,
            "restart": {"policy": "no"},
            **(extra or {}),
        }
        self._api = Api(app, url)
        self._start_s = start_s
        self._port = port
        self._forked()
        os.register_at_fork(after_in_child=self._forked)  # the machine is the parent's
        atexit.register(self._remove)

    def _forked(self) -> None:
        self._lock = Lock()
        self._machine: _Machine | None = None

    async def open(self, profile: Profile, /) -> Session:
        """See `rlenv.sandbox.Sandbox.open`."""
        machine = await asyncio.to_thread(self._started)
        try:
            return await machine.remote.open(profile)
        except VerifierFault:
            await asyncio.to_thread(self._look, machine)
            raise

    async def aclose(self) -> None:
        """Remove the machine."""
        machine = self._machine
        if machine is not None:
            await machine.remote.aclose()
        await asyncio.to_thread(self._remove)

    def diagnose(self) -> Sequence[Diagnosis]:
        """Whether the service answers; makes no machine."""
        try:
            self._api.ask("GET", "", time.monotonic() + REMOVE_S)
        except RlenvError as error:
            return [Diagnosis("service", str(error), ok=False)]
        return [Diagnosis("service", "tier jail, in machines that are made when they are needed")]

    def _started(self) -> _Machine:
        """The machine; waits while it starts, whoever asked for it first."""
        with self._lock:
            if self._machine is None:
                self._machine = self._made(time.monotonic() + self._start_s)
            return self._machine

    def _made(self, until: float) -> _Machine:
        token = secrets.token_urlsafe(32)
        config = {**self._config, "env": {"RLENV_SANDBOX_TOKEN": token}}
        made = self._api.create(f"rlenv-{secrets.token_hex(8)}", config, until)
        try:
            address = made["private_ip"]
            self._await(made["id"], until)
            self._await_port(address, until)
        except BaseException:
            self._delete(made["id"])
            raise
        host = f"[{address}]" if ":" in address else address
        # WireGuard encrypts the private network.
        remote = Remote(f"http://{host}:{self._port}", token, plain_http=True)
        return _Machine(made["id"], remote)

    def _await(self, machine: str, until: float) -> None:
        """Wait until a machine has started.

        Raises:
            VerifierFault: it has failed, or did not start in time.
        """
        query = urlencode({"state": "started", "timeout": LOOK_S})
        while True:
            try:
                with suppress(VerifierFault):  # 408: not yet
                    self._api.call("GET", f"/{machine}/wait?{query}", until)
                    return
                about = self._api.ask("GET", f"/{machine}", max(until, time.monotonic() + LOOK_S))
            except ConfigError as error:  # 404: it failed, and is removed already
                raise Unavailable(f"the machine is gone: {error}") from None
            if about.get("state") in GONE or time.monotonic() >= until:
                raise Unavailable(f"the machine is {about.get('state')!r:.50}: {_last(about)}")
            time.sleep(PAUSE_S)

    def _await_port(self, address: str, until: float) -> None:
        """A machine counts as started before its server listens."""
        while time.monotonic() < until:
            with suppress(OSError):
                socket.create_connection((address, self._port), 5).close()
                return
            time.sleep(PAUSE_S)
        raise Unavailable("the machine has started, and its sandbox server does not listen")

    def _look(self, machine: _Machine) -> None:
        """Forget a machine that is gone, so that the next session gets another one."""
        with suppress(VerifierFault, ConfigError):
            about = self._api.ask("GET", f"/{machine.id}", time.monotonic() + REMOVE_S)
            if about.get("state") == "started":
                return
        with self._lock:
            if self._machine is machine:
                self._machine = None
        self._delete(machine.id)

    def _remove(self) -> None:
        with self._lock:
            machine = self._machine
            self._machine = None
        if machine is not None:
            self._delete(machine.id)

    def _delete(self, machine: str) -> None:
        with suppress(VerifierFault, ConfigError):  # it is gone, or its owner has to remove it
            self._api.ask("DELETE", f"/{machine}?force=true", time.monotonic() + REMOVE_S)


def _last(about: dict[str, Any]) -> str:
    """What the service says happened last."""
    events = about.get("events")
    event = events[0] if isinstance(events, list) and events else None
    known = event if isinstance(event, dict) else {}
    return ", ".join(str(known.get(key)) for key in ("type", "status", "source"))[:200]
