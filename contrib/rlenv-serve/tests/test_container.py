"""The container file and the compose file: what they promise, and an image that is built and serves
for real.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml  # type: ignore[import-untyped]
from database import postgres
from needs import closure
from rlenv_serve.commands.serve import LONGEST_END
from rlenv_serve.http.keys import add_key
from serving import Client, until
from stores import redis_server

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "contrib/rlenv-serve/container"
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
SERVERS = [COMPOSE["services"][f"server-{number}"] for number in (1, 2)]
SECRETS = dict.fromkeys(("POSTGRES_PASSWORD", "REDIS_PASSWORD", "RLENV_SECRET"), "a-secret")
PLUGINS = ["agent", "math"]  # of the image that is built here: each takes ten seconds
TASK = "sum-of-odds"
ANSWER = "So \\boxed{400}."
OWN = ["rlenv-core", "rlenv-cli", "rlenv-serve", *(f"rlenv-plugin-{name}" for name in PLUGINS)]


# -- the compose file ------------------------------------------------------------------------------


def test_compose_waits_longer_than_a_server_needs_to_end() -> None:
    periods = [COMPOSE["services"][name]["stop_grace_period"] for name in ("server-1", "server-2")]

    assert min(int(each.removesuffix("s")) for each in periods) > LONGEST_END


def test_no_port_is_published_beyond_loopback() -> None:
    ports = [str(port) for each in COMPOSE["services"].values() for port in each.get("ports", ())]

    assert ports == ["127.0.0.1:8001:8000", "127.0.0.1:8002:8000"]
    assert not any("network_mode" in each for each in COMPOSE["services"].values())


def test_servers_have_no_rights_that_they_do_not_need() -> None:
    for server in SERVERS:
        assert server["user"] == "65532:65532"
        assert server["read_only"] is True
        assert server["cap_drop"] == ["ALL"]
        assert server["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in server
        assert not any("docker.sock" in volume for volume in server["volumes"])
        assert all(volume.endswith(":ro") for volume in server["volumes"])


def test_two_servers_share_durable_stores() -> None:
    redis = COMPOSE["services"]["redis"]["command"]

    assert SERVERS[0]["environment"] == SERVERS[1]["environment"]
    assert redis[redis.index("--appendonly") + 1] == "yes"
    assert redis[redis.index("--appendfsync") + 1] == "always"
    assert redis[redis.index("--maxmemory-policy") + 1] == "noeviction"
    assert set(COMPOSE["volumes"]) == {"redis", "postgres"}
    assert all("healthcheck" in COMPOSE["services"][name] for name in ("redis", "postgres"))


def test_no_secret_is_written_in_a_file_and_none_has_a_default() -> None:
    text = (FOLDER / "compose.yaml").read_text("utf-8")
    example = dict(
        line.split("=", 1)
        for line in (FOLDER / "example.env").read_text().splitlines()
        if line[:1] != "#"
    )

    assert example == dict.fromkeys(SECRETS, "")
    for name in SECRETS:
        assert text.count("${" + name) == text.count("${" + name + ":?set it in .env") > 0


@pytest.mark.parametrize("missing", [None, *SECRETS])
def test_compose_reads_the_file(missing: str | None) -> None:
    command = next((c for c in (["docker", "compose"], ["docker-compose"]) if _works(c)), None)
    if command is None:
        pytest.skip("there is no docker compose here")
    environment = {"PATH": "/usr/bin:/bin", **{k: v for k, v in SECRETS.items() if k != missing}}
    words = [*command, "-f", str(FOLDER / "compose.yaml"), "config", "--quiet"]
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    assert (ran.returncode == 0) is (missing is None), ran.stderr
    assert missing is None or "set it in .env" in ran.stderr


def _works(command: list[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run([*command, "version"], capture_output=True, check=False).returncode == 0


def test_the_image_has_plugins_of_this_repository() -> None:
    text = (FOLDER / "Containerfile").read_text("utf-8")
    line = next(line for line in text.splitlines() if line.startswith("ARG PLUGINS="))
    names = line.partition("=")[2].strip('"').split()

    assert set(PLUGINS) < set(names)
    assert all((ROOT / f"plugins/rlenv-plugin-{name}/pyproject.toml").exists() for name in names)


# -- the image -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def docker() -> Any:
    """The client of a docker daemon of this machine."""
    sdk = pytest.importorskip("docker")
    try:
        client = sdk.from_env(timeout=600)
        client.ping()
    except sdk.errors.DockerException as error:
        pytest.skip(f"no docker daemon: {error}")
    return client


@pytest.fixture(scope="module")
def image(docker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The image of the container file: of this machine's Python, since no registry can be
    reached.
    """
    tools = ["mkdir", "chown"]
    root = subprocess.run(
        [sys.executable, ROOT / ".ci/docker-root", *tools], stdout=subprocess.PIPE, check=True
    ).stdout
    base = f"rlenv-tests:build-{sha256(root).hexdigest()[:12]}"
    docker.api.import_image_from_data(root, *base.split(":"))
    context = tmp_path_factory.mktemp("clone")
    for name in ("core", "contrib", "plugins", "requirements", ".dockerignore"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, context / name)
    (context / "build/wheels").mkdir(parents=True)
    needed = closure(*OWN, "rlenv-serve[postgresql,redis]", "psycopg[binary]", "hatchling")
    for name, dist in needed.items():
        if name not in OWN:
            wheel(dist, context / "build/wheels")
    pip = "--no-index --find-links build/wheels"
    arguments = {"BASE": base, "PIP": pip, "PLUGINS": " ".join(PLUGINS)}
    tag = "rlenv-tests:serve"
    made, _ = docker.images.build(
        path=str(context),
        dockerfile=str(FOLDER.relative_to(ROOT) / "Containerfile"),
        tag=tag,
        buildargs=arguments,
        network_mode="none",
        rm=True,
        forcerm=True,
    )
    yield tag
    docker.images.remove(made.id, force=True)
    docker.images.remove(base, force=True)


def wheel(dist: Distribution, folder: Path) -> None:
    """Make a wheel of what is installed."""
    about = dist.read_text("WHEEL") or ""
    tag = next(line for line in about.splitlines() if line.startswith("Tag: ")).removeprefix(
        "Tag: "
    )
    name = dist.metadata["Name"].replace("-", "_")
    inside = [f for f in dist.files or () if f.suffix != ".pyc" and ".." not in f.parts]
    record = next(f for f in inside if f.name == "RECORD")
    with ZipFile(folder / f"{name}-{dist.version}-{tag}.whl", "w") as made:
        for file in inside:
            if file != record and file.name not in ("INSTALLER", "REQUESTED", "direct_url.json"):
                made.write(str(dist.locate_file(file)), str(file))
        made.writestr(str(record), "".join(f"{name},,\n" for name in made.namelist()))


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@contextmanager
def container(
    docker: Any, image: str, state: str, store: str, keys: Path
) -> Iterator[tuple[Any, int]]:
    """A server, run as the compose file says but for its addresses."""
    port = free_port()
    server = SERVERS[0]
    words = [
        word for word in server["command"] if not word.startswith(("--port", "--trajectories"))
    ]
    made = docker.containers.run(
        image,
        [*words, f"--port={port}", f"--trajectories={store}"],
        detach=True,
        network_mode="host",
        environment={"RLENV_STATE": state, "RLENV_SECRET": "of the tests", "PORT": str(port)},
        volumes={
            str(ROOT / "examples/everyday"): {"bind": "/environments", "mode": "ro"},
            str(keys): {"bind": "/run/secrets/keys", "mode": "ro"},
        },
        user=server["user"],
        read_only=server["read_only"],
        tmpfs=dict.fromkeys(server["tmpfs"], ""),
        cap_drop=server["cap_drop"],
        security_opt=server["security_opt"],
    )
    try:
        yield made, port
    finally:
        made.remove(force=True, v=True)


def ready(made: Any) -> bool:
    """What the image's own health check found; an end is a failure with what was said."""
    made.reload()
    assert made.status in ("created", "running"), made.logs().decode()
    return bool(made.attrs["State"].get("Health", {}).get("Status") == "healthy")


@pytest.mark.slow  # builds an image
def test_two_containers_play_one_episode_and_the_death_of_one_loses_nothing(
    docker: Any, image: str, tmp_path: Path
) -> None:
    keys = tmp_path / "keys.toml"
    key = add_key(str(keys), "me", answers=False, operator=False)
    keys.chmod(0o644)
    with (
        redis_server(tmp_path) as redis,
        postgres() as store,
        container(docker, image, redis.url, store.url, keys) as (first, one),
        container(docker, image, redis.url, store.url, keys) as (second, two),
    ):
        until(lambda: ready(first) and ready(second), 180)
        left, right = (Client(port, {"X-API-Key": key}) for port in (one, two))
        assert Client(one)("GET", "/readyz").status == 200
        assert Client(one)("GET", "/episodes/x").status == 401
        begun = left("POST", "/episodes", {"task_id": TASK, "agent_id": "me"})
        assert begun.status == 201, begun
        path = f"/episodes/{begun.body['episode_id']}"
        first.kill()
        step = {"action": "submit", "answer": ANSWER}
        assert right("POST", f"{path}/steps", step).body["done"] is True
        assert right("GET", f"{path}/reward").body["reward"] == 1.0
        until(lambda: right("GET", f"/trajectories/{begun.body['episode_id']}").status == 200)

        assert (
            second.exec_run(["python3", "-c", "import os; print(os.getuid())"]).output == b"65532\n"
        )
        for place in ("/rlenv/x", "/x", "/environments/x"):
            assert second.exec_run(["python3", "-c", f"open({place!r}, 'w')"]).exit_code
        second.stop(timeout=60)
        assert second.wait()["StatusCode"] == 0, second.logs().decode()
        assert key not in second.logs().decode()


@pytest.mark.slow  # builds an image
def test_a_container_without_keys_serves_nobody(docker: Any, image: str) -> None:
    made = docker.containers.run(
        image, ["/environments/env.toml"], detach=True, network_mode="none"
    )
    try:
        assert made.wait(timeout=120)["StatusCode"] == 2
        assert b"--keys" in made.logs()
    finally:
        made.remove(force=True, v=True)
