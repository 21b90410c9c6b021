"""The adapters of the port that run programs in containers: ``docker`` and ``docker+gvisor``."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, ClassVar

from rlenv import ConfigError, VerifierFault
from rlenv.sandbox import Diagnosis, Profile, Tier

from rlenv_plugin_sandbox.pool import Pool
from rlenv_plugin_sandbox.session import Adapter

from .container import Container, Kind
from .engine import Engine
from .run import Run

__all__ = ["Docker", "DockerGvisor"]

_log = logging.getLogger("rlenv")
_WEAK = (
    "sandbox/docker gives tier container: programs share the kernel of this machine through"
    ' docker\'s own filter; for untrusted programs use "jail" or "docker+gvisor"'
)


class Docker(Adapter[Container]):
    """Programs in warm containers of a docker daemon.

    Tier "container", or "gvisor" with ``runtime="runsc"``.

    Args:
        image: an image with Python 3.8 or newer in it; None binds this machine's own system and
            interpreter read-only instead, which needs the daemon to run on this machine.
        python: the interpreter in ``image``.
        runtime: a runtime that the daemon knows; "runsc" (or a name that begins so) is gVisor.
        url: where the daemon listens; DOCKER_HOST, or its usual socket, when None.
        places: how many programs may run at one time in this process; RLENV_SANDBOX_SLOTS or 2 when
            None.

    Raises:
        ConfigError: the docker SDK is not installed.
    """

    tier: Tier = "container"
    remedy: ClassVar[str] = (
        'use sandbox "jail" or "docker+gvisor", or lower min_isolation for trusted programs'
    )

    def __init__(
        self,
        image: str | None = None,
        python: str = "python3",
        runtime: str | None = None,
        url: str | None = None,
        places: int | None = None,
    ) -> None:
        if find_spec("docker") is None:
            raise ConfigError("sandbox/docker needs the docker SDK: pip install docker")
        self._kind = Kind(image, python, runtime)
        self._engine = Engine(url)
        self.tier = "gvisor" if self._kind.gvisor else "container"
        name = "docker+gvisor" if self._kind.gvisor else "docker"
        super().__init__(Pool(name, self._made, places), Run)

    async def _sweep(self) -> None:
        await asyncio.to_thread(self._engine.sweep)
        if self.tier == "container":
            _log.warning(_WEAK)

    def _made(self, profile: Profile) -> Container:
        made = Container(self._engine, self._kind, profile)
        if self._kind.gvisor and not made.about["gvisor"]:
            made.close()
            raise ConfigError(f"the runtime {self._kind.runtime!r} of this daemon is not gVisor")
        return made

    def diagnose(self) -> Sequence[Diagnosis]:
        """What the daemon gives, and what it lacks."""
        try:
            about = self._engine.about()
        except (ConfigError, VerifierFault) as error:
            return [Diagnosis("daemon", str(error), ok=False)]
        said = f"tier {self.tier}, docker {about['ServerVersion']} at {self._engine.address}"
        return [Diagnosis("daemon", said), *_lacking(about, self._kind)]


class DockerGvisor(Docker):
    """`Docker` with the runtime of gVisor.  Tier "gvisor"."""

    tier: Tier = "gvisor"

    def __init__(self, runtime: str = "runsc", **options: Any) -> None:
        super().__init__(runtime=runtime, **options)


def _lacking(about: Any, kind: Kind) -> list[Diagnosis]:
    checks = (
        (
            kind.runtime is not None and kind.runtime not in about.get("Runtimes", {}),
            (
                f"the daemon knows no runtime {kind.runtime!r}: install it and name it under"
                ' "runtimes" in daemon.json'
            ),
        ),
        (
            not any("seccomp" in option for option in about.get("SecurityOptions") or ()),
            "the daemon filters no system calls; rlenv's own filter still applies",
        ),
        (
            not about.get("MemoryLimit", True) or not about.get("PidsLimit", True),
            (
                "the daemon cannot limit memory or processes: enable those control groups in its"
                " kernel"
            ),
        ),
    )
    found = [Diagnosis("daemon", said, ok=False) for lacks, said in checks if lacks]
    return found if kind.gvisor else [*found, Diagnosis("isolation", _WEAK, ok=False)]
