"""The docker daemon, through its SDK: every call here waits, so it is made in a thread."""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field
from rlenv import ConfigError, Fault, VerifierFault

from .image import Layer

__all__ = ["LABEL", "Engine", "owner"]

LABEL = "rlenv.sandbox"
_REPOSITORY = "rlenv-sandbox"
_CALL_S = 60


@define
class Engine:
    """One daemon.  ``url`` is that of DOCKER_HOST, or the daemon's usual socket, when None."""

    url: str | None = None
    _version: str | None = field(default=None, init=False)

    @property
    def address(self) -> str:
        """Where the daemon listens."""
        return self.url or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"

    @contextmanager
    def client(self) -> Iterator[Any]:
        """A client for one piece of work, in one thread.

        Raises:
            ConfigError: the address is of a kind that is not served, or no daemon was ever there.
            VerifierFault: the daemon was there before and is not now, or refuses the work.
        """
        import docker

        address = self.address
        if not address.startswith(("unix://", "tcp://", "http://")) or os.environ.get(
            "DOCKER_TLS_VERIFY"
        ):
            raise ConfigError(
                "sandbox/docker reaches a daemon at unix:// or tcp:// without TLS, not"
                f" {address!r}: for a daemon elsewhere run `python -m rlenv_plugin_sandbox.remote"
                " --sandbox docker` there and use sandbox/remote"
            )
        api = None
        try:
            _knock(address)
            api = _client()(base_url=address, version=self._version or "auto", timeout=_CALL_S)
            self._version = api.api_version
            yield api
        except (docker.errors.DockerException, OSError) as error:  # those of requests are OSErrors
            raise self._trouble(error) from error
        finally:
            if api is not None:
                api.close()

    def _trouble(self, error: Exception) -> ConfigError | VerifierFault:
        said = str(getattr(error, "explanation", None) or error)
        if self._version is None:
            return ConfigError(
                f"no docker daemon answers at {self.address} ({said}): start one, set DOCKER_HOST,"
                " or use another sandbox"
            )
        if re.search("unknown (or invalid )?runtime", said.lower()):
            return ConfigError(
                f"{said}: register it with the daemon (for gVisor: install runsc, and name it under"
                ' "runtimes" in daemon.json)'
            )
        if "No such image" in said:
            return ConfigError(f"{said}: pull or import it first")
        return VerifierFault(Fault("unavailable", f"docker: {said}", transient=True))

    def image(self, base: str | None, layer: Layer) -> str:
        """The name of an image with this layer, on top of ``base`` or alone.

        Made when it is not there.
        """
        import docker

        with self.client() as api:
            below = (
                "" if base is None else api.inspect_image(base)["Id"].rpartition(":")[2][:12] + "-"
            )
            tag = below + layer.name
            name = f"{_REPOSITORY}:{tag}"
            with suppress(docker.errors.ImageNotFound):
                api.inspect_image(name)
                return name
            into = {"repository": _REPOSITORY, "tag": tag, "changes": [f"LABEL {LABEL}=image"]}
            if base is None:
                said = api.import_image_from_data(layer.data, **into)
                if "error" in said:
                    raise docker.errors.APIError(f"docker import: {said}")
                return name
            made = api.create_container(base, ["true"], labels={LABEL: owner()})["Id"]
            try:
                api.put_archive(made, "/", layer.data)
                api.commit(made, **into)
            finally:
                api.remove_container(made, force=True)
            return name

    def start(
        self,
        image: str,
        words: Sequence[str],
        user: str,
        environment: Mapping[str, str],
        host: Mapping[str, Any],
    ) -> tuple[str, socket.socket]:
        """Start a container.

        Returns its id and a socket to its standard streams, multiplexed by the daemon.
        """
        with self.client() as api:
            made = api.create_container(
                image,
                list(words[1:]),
                entrypoint=[words[0]],
                user=user,
                working_dir="/tmp",  # noqa: S108 - of the container
                environment=dict(environment),
                stdin_open=True,
                network_disabled=True,
                labels={LABEL: owner()},
                host_config=api.create_host_config(**host),
            )["Id"]
            try:
                streams = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
                attached = api.attach_socket(made, params=streams)
                try:
                    api.start(made)
                    sock = socket.socket(fileno=os.dup(attached.fileno()))
                finally:
                    attached._response.close()  # the SDK keeps there what is to be closed
            except BaseException:
                api.remove_container(made, force=True)
                raise
            return made, sock

    def remove(self, container: str) -> None:
        """Kill a container, if it is still there."""
        with suppress(VerifierFault, ConfigError), self.client() as api:
            api.remove_container(container, force=True)

    def pid(self, container: str) -> int:
        """Its first process, by the number that it has on the daemon's machine."""
        with self.client() as api:
            return int(api.inspect_container(container)["State"]["Pid"])

    def cpu(self, container: str) -> float | None:
        """Seconds of CPU that a container has used, as the machine counts them.

        None when nobody says.
        """
        with suppress(VerifierFault, ConfigError, KeyError, TypeError), self.client() as api:
            said = api.stats(container, stream=False, one_shot=True)
            return float(said["cpu_stats"]["cpu_usage"]["total_usage"]) / 1e9
        return None

    def ran_out_of_memory(self, container: str, since: float) -> bool:
        """Whether something in a container was killed for want of memory; it may be gone since."""
        filters = {"container": container, "event": "oom"}
        with suppress(VerifierFault, ConfigError), self.client() as api:
            told = api.events(since=int(since), until=int(time.time()) + 1, filters=filters)
            return any(True for _ in told)
        return False

    def sweep(self) -> None:
        """Remove the containers that dead processes of this machine left behind."""
        with self.client() as api:
            for found in api.containers(all=True, filters={"label": LABEL}):
                if _stale(found["Labels"].get(LABEL, "")):
                    with suppress(Exception):
                        api.remove_container(found["Id"], force=True)

    def about(self) -> Mapping[str, Any]:
        """What the daemon says of itself."""
        with self.client() as api:
            said: Mapping[str, Any] = api.info()
            return said


@lru_cache(1)
def _client() -> Any:
    """The SDK's client, which leaves no socket to the collector and reads no environment.

    The SDK forgets a socket where connecting fails, as to a daemon that was just killed.  And
    requests looks for proxies in the environment at each call: in a thread that is a KeyError when
    another thread changes it just then.
    """
    import docker
    from docker.transport import unixconn

    def connect(self: Any) -> None:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(self.unix_socket)
        except BaseException:
            sock.close()
            raise
        self.sock = sock

    unixconn.UnixHTTPConnection.connect = connect
    never = property(lambda _: False, lambda *_: None)
    return type("Client", (docker.APIClient,), {"trust_env": never})


def _knock(address: str) -> None:
    """See whether anybody listens, before the SDK asks for the daemon's version again and again."""
    url = urlsplit(address)
    if url.scheme == "unix":
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(_CALL_S)
            sock.connect(url.netloc + url.path)
    else:
        socket.create_connection((url.hostname or "", url.port or 2375), _CALL_S).close()


def owner(pid: int | None = None) -> str:
    """Names a process of this machine for as long as the machine runs: boot, pid namespace, pid,
    start time.
    """
    pid = pid or os.getpid()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    space = os.readlink("/proc/self/ns/pid")
    began = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return f"{boot}/{space}/{pid}/{began}"


def _stale(label: str) -> bool:
    parts = label.split("/")
    if len(parts) != 4 or parts[:2] != owner().split("/")[:2]:
        return False
    try:
        return owner(int(parts[2])) != label
    except (OSError, ValueError):
        return True
