"""Addresses and keys of the client, before it connects to anything."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from rlenv import ConfigError, VerifierFault
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.remote import Remote
from sandbox_hostile import TOKEN, honest, hostile, run


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:99999",
        "http://localhost:x",
        "http://localhost:0",
        "http://[::1:5",
        "http://:5",
        "udp://a:5",
        "//a:5",
        "http://user:secret@localhost:5",
        "http://localhost:5/?a=b",
        "http://localhost:5/#a",
        "http://localhost:5/a b",
        "http://localhost:5/\r\nX-Evil: 1",
        "http://lo\ncalhost:5",
        "https://é:5",
    ],
)
def test_an_address_that_is_none_is_a_configuration_error(url: str) -> None:
    with pytest.raises(ConfigError, match="https://host:port"):
        run(url)


@pytest.mark.parametrize(
    ("url", "now"), [("tcp://127.0.0.1:5", "http://127.0.0.1:5"), ("tls://a:5", "https://a:5")]
)
def test_an_address_of_an_earlier_version_says_what_to_write(url: str, now: str) -> None:
    with pytest.raises(ConfigError, match=f"write '{now}'"):
        run(url)


@pytest.mark.parametrize("host", ["a.example", "192.0.2.1", "[2001:db8::1]", "127.0.0.1.a.example"])
def test_a_key_does_not_leave_this_machine_unencrypted(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("it tried to connect")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ConfigError, match="plain_http"):
        run(f"http://{host}:5")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"])
def test_on_this_machine_it_needs_no_encryption(host: str) -> None:
    with suppress(VerifierFault):  # nobody is there
        run(f"http://{host}:1")


def test_a_network_that_encrypts_is_allowed_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://192.0.2.1:5"
    Remote(url, plain_http=True).connection()
    monkeypatch.setenv("RLENV_SANDBOX_PLAIN_HTTP", "1")
    Remote(url).connection()
    with pytest.raises(ConfigError):
        Remote(url, plain_http=False).connection()


@pytest.mark.parametrize("token", ["a b", "a\r\nX-Evil: 1", "a\0", "é", "\ud800"])
def test_no_token_becomes_another_header(token: str) -> None:
    with hostile(honest) as server:
        with pytest.raises(ConfigError, match="openssl rand"):
            asyncio.run(Remote(server.url, token).open(Profile(min_isolation="process")))
        assert server.heard == []


def test_a_missing_file_of_certificates_is_a_configuration_error(tmp_path: Path) -> None:
    box = Remote("https://127.0.0.1:1", TOKEN, ca=str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match=r"none\.pem"):
        asyncio.run(box.open(Profile()))
