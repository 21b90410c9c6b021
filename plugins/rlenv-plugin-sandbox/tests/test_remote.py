"""The remote adapter beyond the contract: who is let in, what is rejected, what is survived."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError, VerifierFault
from rlenv.model.values import Fault
from rlenv.sandbox import ChannelEnded, Exit, Profile
from rlenv_plugin_sandbox.remote import Remote
from rlenv_plugin_sandbox.remote import payload as payloads
from rlenv_plugin_sandbox.remote.command import main
from sandbox_serving import serving

TOKEN = "a-token-of-the-tests"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("process", TOKEN) as address:
        yield address


def profile(**options: Any) -> Profile:
    return Profile(**{"min_isolation": "process", **options})


def run(box: Remote, program: str, **options: Any) -> Exit:
    async def whole() -> Exit:
        session = await box.open(profile(**options))
        try:
            await session.start(program, {})
            return await session.finish()
        finally:
            await session.close()
            await box.aclose()

    return asyncio.run(whole())


def refused(box: Remote, **options: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        asyncio.run(box.open(profile(**options)))
    asyncio.run(box.aclose())
    return str(caught.value)


# -- places
# ------------------------------------------------------------------------------------------


def test_clients_that_hold_a_place_never_wait_for_one_another_s_second(url: str) -> None:
    async def whole() -> None:
        boxes = [Remote(url, TOKEN) for _ in range(2)]
        first = [await box.open(profile()) for box in boxes]
        second = [await asyncio.wait_for(box.open(profile(beside=True)), 60) for box in boxes]
        third = asyncio.create_task(boxes[0].open(profile()))
        fourth = asyncio.create_task(boxes[1].open(profile(beside=True)))
        done, _ = await asyncio.wait([third, fourth], timeout=0.3)
        assert not done
        for session in [*first, *second]:
            await session.close()
        for session in [await third, await fourth]:
            await session.start("print('in')")
            assert (await session.finish()).stdout == b"in\n"
            await session.close()
        for box in boxes:
            await box.aclose()

    asyncio.run(whole())


# -- who is let in
# -------------------------------------------------------------------------------------


def test_the_right_token_is_let_in(url: str) -> None:
    assert run(Remote(url, TOKEN), "print('in')").stdout == b"in\n"


def test_a_wrong_token_is_refused_and_told_so(url: str) -> None:
    assert "a token is needed, and this is not it" in refused(Remote(url, "another"))


def test_no_token_is_refused_with_the_remedy(url: str) -> None:
    assert "RLENV_SANDBOX_TOKEN" in refused(Remote(url, ""))


def test_url_and_token_come_from_the_environment(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_URL", url)
    monkeypatch.setenv("RLENV_SANDBOX_TOKEN", TOKEN)
    box = Remote()

    assert run(box, "print('in')").stdout == b"in\n"
    assert [line.ok for line in box.diagnose()] == [True]
    assert url in box.diagnose()[0].said


def test_a_server_without_token_listens_on_this_machine_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--listen", "0.0.0.0:0", "--sandbox", "process"])

    assert left.value.code == 2
    assert "RLENV_SANDBOX_TOKEN" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--listen", "nowhere"], ["--sandbox", "no-such"], ["--tls-cert", "none.pem"]]
)
def test_mistakes_of_the_command_are_told(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    said = capsys.readouterr().err

    assert left.value.code == 2
    assert words[1] in said
    assert "Traceback" not in said


@pytest.mark.parametrize("address", ["", "localhost:7", "ftp://localhost:1"])
def test_an_address_that_is_none_is_explained(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RLENV_SANDBOX_URL", raising=False)

    assert "https://host:port" in refused(Remote(address))


def test_nobody_there_is_a_transient_fault() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with pytest.raises(VerifierFault) as caught:
        asyncio.run(Remote(f"http://127.0.0.1:{port}").open(profile()))

    assert caught.value.fault.transient
    assert [line.ok for line in Remote(f"http://127.0.0.1:{port}").diagnose()] == [False]


def test_tls_needs_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    cert = tmp_path / "cert.pem"
    key = tmp_path / "key.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-keyout", key, "-out", cert], check=True, capture_output=True)
    options = ("--tls-cert", str(cert), "--tls-key", str(key))
    program = "import os, sys; print(len(sys.stdin.read())); print('x' * 300000)"
    with serving("process", TOKEN, options) as address:
        assert address.startswith("https://")
        assert "no trusted connection" in refused(Remote(address, TOKEN))
        end = run(Remote(address, TOKEN, ca=str(cert)), program)

    assert len(end.stdout) == 300003


# -- what may be asked for
# ---------------------------------------------------------------------------------


def test_the_tier_is_that_of_the_server_and_named_so(url: str) -> None:
    said = refused(Remote(url, TOKEN), min_isolation="jail")

    assert "'jail' is required, and this server gives 'process'" in said


def test_more_than_the_server_gives_is_a_mistake_of_the_profile(url: str) -> None:
    said = refused(Remote(url, TOKEN), memory_mb=1 << 20, paths=("/etc",))

    assert "memory_mb = 1.04858e+06 is more than this server gives" in said
    assert "--allow /etc" in said


def test_mistakes_of_a_profile_are_told_as_by_the_sandbox_itself(url: str) -> None:
    assert "no-such-python" in refused(Remote(url, TOKEN), runtime="no-such-python")


# -- what breaks
# ---------------------------------------------------------------------------------------------


def server(folder: Path) -> tuple[subprocess.Popen[str], str]:
    words = [sys.executable, "-m", "rlenv_plugin_sandbox.remote", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(
        [*words, "--sandbox", "process"],
        stdout=subprocess.PIPE,
        text=True,
        env={
            **os.environ,
            "RLENV_SANDBOX_SLOTS": "1",
            "RLENV_SANDBOX_TOKEN": TOKEN,
            "TMPDIR": str(folder),
        },
    )
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server with one place, which leaves its folder when it is killed."""
    process, address = server(tmp_path)
    yield process, address
    process.terminate()
    process.wait(60)
    assert process.stdout is not None
    process.stdout.close()


def test_a_server_that_dies_in_the_middle_is_a_transient_fault(alone: Any) -> None:
    process, address = alone

    async def whole() -> Exit:
        box = Remote(address, TOKEN)
        session = await box.open(profile())
        await session.start("import os, time; os.write(3, b'\\0\\0\\0\\0'); time.sleep(30)", {})
        assert await session.recv(10, 20) == b""
        process.send_signal(signal.SIGKILL)
        with pytest.raises(ChannelEnded):  # and not at the end of this time
            await session.recv(10, 60)
        lost = await session.finish()
        await session.close()
        with pytest.raises(VerifierFault):
            await box.open(profile())
        await box.aclose()
        return lost

    lost = asyncio.run(whole())
    assert (lost.reason, lost.status) == ("lost", None)
    assert lost.fault is not None
    assert lost.fault.transient


def test_the_place_of_a_client_that_vanished_is_free_again(alone: Any) -> None:
    _, address = alone

    async def vanish() -> None:
        session: Any = await Remote(address, TOKEN).open(profile(wall_s=300.0))
        await session.start("import time; time.sleep(300)", {}, wall_s=300.0)
        waiting = asyncio.create_task(session.finish())
        await asyncio.sleep(0.3)
        session._stream.close()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    asyncio.run(vanish())
    before = time.monotonic()
    assert run(Remote(address, TOKEN), "print('free')").stdout == b"free\n"
    assert time.monotonic() - before < 100  # and not 300


@pytest.mark.parametrize(
    "noise", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 64, b"\2\x10\0\0\0" + b"{" * 16, b"", b"GET /"]
)
def test_noise_ends_one_connection_and_nothing_else(url: str, noise: bytes) -> None:
    host, _, port = url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), 10) as sock:
        sock.sendall(noise)
        sock.shutdown(socket.SHUT_WR)
        sock.settimeout(20)
        while sock.recv(1 << 16):
            continue

    assert run(Remote(url, TOKEN), "print('well')").stdout == b"well\n"


def test_a_canceled_wait_loses_no_frame(url: str) -> None:
    program = (
        "import os, time; time.sleep(0.3); os.write(3, b'\\1\\0\\0\\0a\\1\\0\\0\\0b');"
        " time.sleep(5)"
    )

    async def whole() -> list[bytes]:
        box = Remote(url, TOKEN)
        session = await box.open(profile())
        await session.start(program, {})
        for pause in (0.1, 0.05):
            waiting = asyncio.create_task(session.recv(10, 20))
            await asyncio.sleep(pause)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        frames = [await session.recv(10, 20) for _ in range(2)]
        await session.close()
        await box.aclose()
        return frames

    assert asyncio.run(whole()) == [b"a", b"b"]


# -- what is said
# --------------------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_bad_payload(data: bytes) -> None:
    for piece in (data, len(data).to_bytes(4, "little") + data):
        try:
            header, parts = payloads.unwrap(piece)
        except payloads.BadPayload:
            continue
        assert isinstance(header, dict)
        assert all(isinstance(part, bytes) for part in parts)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@given(
    st.dictionaries(st.text().filter(lambda key: key != "sizes"), json_values),
    st.lists(st.binary()),
)
def test_a_payload_says_what_was_said(header: dict[str, Any], pieces: list[bytes]) -> None:
    assert payloads.unwrap(payloads.wrap(header, *pieces)) == (header, pieces)


@given(
    st.builds(
        Profile,
        preload=st.lists(st.text(st.characters(exclude_characters="\0")), max_size=2),
        files=st.dictionaries(st.text(), st.binary(), max_size=2),
        memory_mb=st.integers(1, 1 << 20),
        hash_seed=st.integers(0, 10),
    )
)
def test_a_profile_arrives_as_it_was(sent: Profile) -> None:
    contents = [content for _, content in sent.files]
    said, pieces = payloads.unwrap(payloads.wrap(payloads.said_of(sent), *contents))
    assert payloads.profile_of(said, pieces) == sent


@given(
    st.dictionaries(
        st.sampled_from(["runtime", "preload", "files", "wall_s", "pids", "x"]), json_values
    )
)
def test_no_values_make_a_profile_but_right_ones(said: dict[str, Any]) -> None:
    whole = payloads.said_of(Profile()) | said
    try:
        payloads.profile_of(whole)
    except (payloads.BadPayload, ConfigError):
        return


def test_an_exit_arrives_as_it_was() -> None:
    sent = Exit(
        -9,
        "lost",
        1.5,
        2.5,
        7,
        True,
        "jail",
        True,
        b"o",
        b"e",
        Fault("unavailable", "m", True),
    )

    assert payloads.end_of(payloads.said_of_end(sent), b"o", b"e") == sent
