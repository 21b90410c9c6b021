"""A docker daemon of a test's own that is killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from rlenv.model.errors import VerifierFault
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.docker import Docker

pytest.importorskip("docker")
PROFILE = Profile(min_isolation="container", wall_s=20.0)


@pytest.fixture
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A daemon of its own, to be killed."""
    house = Path(__file__).parents[3]
    if os.geteuid() != 0 or not shutil.which("dockerd"):
        pytest.skip("a daemon of its own needs root and dockerd")
    folder = Path(tempfile.mkdtemp(prefix="rlenv-dockerd-"))
    started = subprocess.run(
        [house / ".ci" / "docker-up", folder], capture_output=True, check=False
    )
    if started.returncode != 0:
        pytest.skip(started.stderr.decode("utf-8", "replace").strip())
    yield folder
    subprocess.run([house / ".ci" / "docker-down", folder], capture_output=True, check=False)
    assert not folder.exists()
    assert f"{folder}/" not in Path("/proc/mounts").read_text()


@pytest.mark.slow  # starts and kills a daemon of its own
def test_a_daemon_killed_in_the_middle_is_a_transient_fault_and_no_hang(daemon: Path) -> None:
    async def whole() -> Any:
        box = Docker(url=f"unix://{daemon}/docker.sock")
        session = await box.open(PROFILE)
        await session.start("import os, time; os.write(3, b'\\0\\0\\0\\0'); time.sleep(30)", {})
        assert await session.recv(10, 20) == b""
        os.kill(int((daemon / "dockerd.pid").read_text()), signal.SIGKILL)
        before = time.monotonic()
        lost = await session.finish(5)
        with pytest.raises(VerifierFault) as caught:
            await box.open(evolve(PROFILE, memory_mb=100))
        await session.close()
        await box.aclose()
        return lost, caught.value.fault, time.monotonic() - before

    lost, later, seconds = asyncio.run(whole())
    assert (lost.reason, lost.status) == ("lost", None)
    assert lost.fault.transient
    assert later.transient
    assert seconds < 20
