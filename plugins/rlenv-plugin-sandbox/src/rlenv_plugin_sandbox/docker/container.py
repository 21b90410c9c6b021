"""One warm container: its relay is ready, and its standard streams are a link."""

from __future__ import annotations

import json
import os
import select
import socket
from time import monotonic, time
from typing import Any

from attrs import evolve, frozen
from rlenv import ConfigError, VerifierFault
from rlenv.sandbox import Profile

from rlenv_plugin_sandbox.guest import tree, wire
from rlenv_plugin_sandbox.jail.setup import OVERHEAD_MB, interpreter, packages, plan
from rlenv_plugin_sandbox.jail.slot import check_preload, lost
from rlenv_plugin_sandbox.pool import Place
from rlenv_plugin_sandbox.stream import Link, Unwrapped

from .engine import Engine
from .group import group_of
from .image import BOX, GUEST, binds, layer

__all__ = ["Container", "Kind"]

_READY_S = 60.0
_PIDS_EXTRA = 5  # the relay, what carries the run, and the two processes that wait
_GVISOR_PIDS = 4096  # threads of its kernel, on the machine; where they run out, it dies
_GVISOR_MB = 256  # its kernel


@frozen
class Kind:
    """How containers are made: from which image (None: this machine's system), by which runtime."""

    image: str | None = None
    python: str = "python3"
    runtime: str | None = None

    @property
    def gvisor(self) -> bool:
        return self.runtime is not None and self.runtime.startswith("runsc")

    @property
    def user(self) -> str:
        """Who the relay is; programs are nobody.

        gVisor does not hide pid 1 from processes of the same user (/proc/1/fd, signals), so there
        it is the root of gVisor's own kernel, which is nobody on the machine.
        """
        return "0:0" if self.gvisor else "65534:65534"

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What the relay may: in gVisor, to become nobody, to kill nobody's processes, and to mount
        and clear files.
        """
        if not self.gvisor:
            return ()
        return ("SETUID", "SETGID", "KILL", "DAC_OVERRIDE", "FOWNER", "SYS_ADMIN")

    @property
    def security(self) -> tuple[str, ...]:
        """What docker keeps from the relay: outside gVisor it needs namespaces, which docker's own
        filter rejects.

        Programs are behind our filter, which rejects more.
        """
        usual = ("no-new-privileges",)
        return usual if self.gvisor else (*usual, "seccomp=unconfined")


class Container(Place):
    """A container that is ready; ``close`` ends it with everything in it.  Making one waits.

    Raises:
        ConfigError: the profile cannot be had.
        VerifierFault: the container could not be started.
    """

    def __init__(self, engine: Engine, kind: Kind, profile: Profile) -> None:
        super().__init__(profile)
        self.kind = kind
        self._engine = engine
        self._since = time()
        self._short = False
        self.runs = 0
        whole = kind.image is None
        extra = packages(profile.preload, frozenset(n for n, _ in profile.files)) if whole else ()
        image = engine.image(kind.image, layer(profile, whole=whole))
        python = interpreter(profile.runtime) if whole else _python_of(profile, kind)
        words = [python, "-X", "utf8", "-s", "-B", f"{GUEST}/relay.py"]
        if whole:
            words.insert(1, "-S")
        seed = {"PYTHONHASHSEED": str(profile.hash_seed)}
        environment = {"LANG": "C.UTF-8", "MALLOC_ARENA_MAX": "2", **seed}
        host = _host(profile, kind, binds(profile, extra, whole=whole))
        self.id, sock = engine.start(image, words, kind.user, environment, host)
        try:
            self.about = self._handshake(sock, _config(profile, kind, extra))
            self.group = group_of(engine.pid(self.id), self.id)
        except BaseException:
            sock.close()
            engine.remove(self.id)
            raise

    def _handshake(self, sock: socket.socket, config: dict[str, Any]) -> dict[str, Any]:
        self._unwrap = unwrap = Unwrapped()
        until = monotonic() + _READY_S
        frame = None
        try:
            sock.settimeout(_READY_S)
            sock.sendall(wire.frame(wire.CONFIG, json.dumps(config).encode()))
            self.link = Link(sock, unwrap)
            while (frame := self.link.take()) is None and (left := until - monotonic()) > 0:
                select.select([sock], [], [], left)
        except OSError as error:
            said = unwrap.errors.decode("utf-8", "replace").strip() or error
            raise VerifierFault(lost(f"the container ended before it was ready: {said}")) from error
        if frame is None:
            raise VerifierFault(lost("the container does not answer"))
        about: dict[str, Any] = json.loads(frame[1])
        if frame[0] == wire.FAILED:
            check_preload(about)
            raise ConfigError(f"the container cannot run programs: {about['failed']}")
        return about

    @property
    def spent(self) -> bool:
        """Whether a run in it would see something of the one before."""
        return self.runs > 0 and not self.about["renewed"]

    def complaint(self) -> str:
        """The last that the relay wrote to its standard error; "" when nothing."""
        lines = self._unwrap.errors.decode("utf-8", "replace").split("\n")
        return "".join(lines[-2:-1])

    def fresh(self) -> bool:
        """Whether it can still be used, as far as is known without waiting."""
        return self.healthy and not self.spent and self.link.alive()

    def cpu(self) -> float | None:
        """Seconds of CPU of all that ever ran in it, as the machine counts them.

        None when nobody says.  Waits.
        """
        return self._engine.cpu(self.id) if self.group is None else self.group.cpu()

    def ran_out_of_memory(self) -> bool:
        """Whether even the relay was killed for want of memory.

        It reports what became of programs.
        """
        return self._short

    def destroy(self) -> None:
        """End it now, its relay being gone.  Waits."""
        self.healthy = False
        self._short = self._engine.ran_out_of_memory(self.id, self._since)
        self._engine.remove(self.id)

    def close(self) -> None:
        """End it: without its judge the relay ends, and with pid 1 everything."""
        self.healthy = False
        self.link.close()
        if self.owner == os.getpid():
            self._engine.remove(self.id)


def _python_of(profile: Profile, kind: Kind) -> str:
    return kind.python if profile.runtime in ("python", "native") else profile.runtime


def _config(profile: Profile, kind: Kind, extra: tuple[str, ...]) -> dict[str, Any]:
    bare = evolve(profile, preload=(), files=())
    config = plan(bare, isolate=False, inner=True, home="/tmp", box=BOX)  # noqa: S108 - of the container
    limits = {k: v for k, v in config["limits"].items() if k not in ("NPROC", "AS")}
    if kind.gvisor and profile.runtime != "native":
        limits["AS"] = (profile.memory_mb + 128) << 20
    return config | {
        "preload": list(profile.preload),
        "packages": list(extra),
        "limits": limits,
        "paths": [],
    }


def _host(profile: Profile, kind: Kind, paths: list[str]) -> dict[str, Any]:
    from docker.types import LogConfig, Mount

    memory = profile.memory_mb + OVERHEAD_MB + (_GVISOR_MB if kind.gvisor else 0)
    temporary = max(16, min(256, profile.memory_mb // 2))
    plain = "nr_inodes=20k,mode=1777,nosuid,nodev"
    noexec = "exec" if profile.runtime == "native" else "noexec"
    workspace = {}
    if profile.workspace_mb:
        size = tree.mount_options(profile.workspace_mb << 20, profile.workspace_files)
        workspace[tree.WORKDIR] = f"{size},nosuid,nodev,{noexec}"
    return {
        "mounts": [Mount(target=p, source=p, type="bind", read_only=True) for p in paths],
        "network_mode": "none",
        "ipc_mode": "none",
        "read_only": True,
        "cap_drop": ["ALL"],
        "cap_add": list(kind.capabilities),
        "security_opt": list(kind.security),
        "pids_limit": profile.pids + (_GVISOR_PIDS if kind.gvisor else _PIDS_EXTRA),
        "mem_limit": memory << 20,
        "memswap_limit": memory << 20,
        "tmpfs": {  # both are counted as memory of the container
            "/tmp": f"size={temporary}m,{plain},{noexec}",  # noqa: S108
            "/dev/shm": f"size={temporary}m,{plain},noexec",  # noqa: S108
            **workspace,
        },
        "devices": [f"{path}:{path}:rwm" for path in profile.devices],
        "log_config": LogConfig(type=LogConfig.types.NONE),
        "init": False,
        "auto_remove": True,
        "runtime": kind.runtime,
    }
