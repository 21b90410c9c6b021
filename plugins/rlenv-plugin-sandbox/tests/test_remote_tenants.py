"""Keys of several tenants, and what one of them may cost the others."""

from __future__ import annotations

import asyncio
import http.client
import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError, RlenvError
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.guest import tree
from rlenv_plugin_sandbox.remote import Remote, keys, payload
from rlenv_plugin_sandbox.remote.app import _stop
from rlenv_plugin_sandbox.remote.command import main
from rlenv_plugin_sandbox.remote.server import Server as ServerHere
from sandbox_server import PATH, SOON, Server, start

pytestmark = pytest.mark.usefixtures("hang_up")


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[Server, str, str]]:
    """A server of two tenants, each of which may run one program at a time; and their keys."""
    file = str(tmp_path / "keys.toml")
    alice = keys.add_key(file, "alice")
    bob = keys.add_key(file, "bob")
    environ = {"RLENV_SANDBOX_TOKEN": "", "RLENV_SANDBOX_SLOTS": "8"}
    server = Server("--keys", file, "--programs", "1", "--sessions", "3", environ=environ)
    yield server, alice, bob
    said = server.end()
    assert "Traceback" not in said
    assert alice not in said
    assert bob not in said


# -- keys
# --------------------------------------------------------------------------------------------------


def test_a_file_of_keys_has_no_key_in_it_and_belongs_to_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    made = [keys.add_key(str(file), name) for name in ("alice", "bob")]

    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(key in file.read_text() for key in made)
    assert [key.tenant for key in keys.read_keys(str(file))] == ["alice", "bob"]
    assert keys.read_keys(str(file)) == tuple(map(keys.Key.of, made, ("alice", "bob")))


def test_who_reads_the_file_of_keys_cannot_be_a_client(tmp_path: Path) -> None:
    """What is in it proves nothing: it has hashes of keys of 256 bits."""
    file = tmp_path / "keys.toml"
    key = keys.add_key(str(file), "alice")
    (known,) = keys.read_keys(str(file))

    assert keys.tenant_of([known], key) == "alice"
    for stolen in (known.sha256, file.read_text(), "alice", "", key[:-1], key + " ", key.upper()):
        assert keys.tenant_of([known], stolen) is None
    assert keys.tenant_of([keys.Key.of("other", "bob"), known], key) == "alice"


def test_keys_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(one: str, two: str) -> bool:
        compared.append((one, two))
        return one == two

    monkeypatch.setattr("hmac.compare_digest", compare)
    known = [keys.Key.of(f"key {number}", f"t{number}") for number in range(3)]

    assert keys.tenant_of(known, "key 0") == "t0"
    assert len(compared) == 3  # also behind the one that was found


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("Bearer abc", "abc"),
        ("bearer  abc ", "abc"),
        ("Basic abc", ""),
        ("abc", ""),
        ("Bearer", ""),
        ("", ""),
    ],
)
def test_a_key_is_a_bearer_key(header: str, key: str) -> None:
    assert keys.bearer(header) == key


def test_a_file_of_an_earlier_version_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(f"[[key]]\ntenant = 'a'\nstored = '{HEX}'\nserver = '{HEX}'")
    with pytest.raises(ConfigError, match=r"earlier version.*--new-key"):
        keys.read_keys(str(file))


HEX = "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "key = 5",
        "key = [5]",
        "[[key]]\ntenant = 'a'",
        f"[[key]]\ntenant = 'a b'\nsha256 = '{HEX}'",
        f"[[key]]\ntenant = 'a'\nsha256 = '{HEX}0'",
        "[[key]]\ntenant = 'a'\nsha256 = 5",
        f"[[key]]\ntenant = 'a'\nsha256 = '{HEX}'\nadmin = true",
        "[[key",
    ],
)
def test_mistakes_of_a_file_of_keys_name_the_file_and_the_remedy(tmp_path: Path, text: str) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=r"keys\.toml.*--new-key"):
        keys.read_keys(str(file))


def test_a_file_of_keys_that_others_may_write_is_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    keys.add_key(str(file), "alice")
    file.chmod(0o620)
    with pytest.raises(ConfigError, match="chmod go-w"):
        keys.read_keys(str(file))


@pytest.mark.parametrize("name", ["", "a b", "../a", "a" * 65, 'a"\nx'])
def test_a_tenant_of_no_name_gets_no_key(tmp_path: Path, name: str) -> None:
    file = tmp_path / "keys.toml"
    with pytest.raises(ConfigError, match="a tenant is named"):
        keys.add_key(str(file), name)
    assert not file.exists()


def test_the_command_makes_a_key_that_the_server_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "keys.toml")
    main(["--new-key", "alice", "--keys", file])
    key = capsys.readouterr().out.strip()
    server = Server("--keys", file, environ={"RLENV_SANDBOX_TOKEN": ""})

    async def tier(token: str) -> str:
        box = Remote(server.url, token)
        session = await box.open(Profile(min_isolation="process"))
        await session.close()
        await box.aclose()
        return session.isolation

    try:
        assert asyncio.run(tier(key)) == "process"
        with pytest.raises(ConfigError, match="this is not it"):
            asyncio.run(tier(key + "x"))
    finally:
        server.end()


def test_beyond_this_machine_keys_do_as_well_as_a_token(tmp_path: Path) -> None:
    file = str(tmp_path / "keys.toml")
    keys.add_key(file, "alice")
    words = ("--keys", file, "--listen", "0.0.0.0:0", "--plain-http")
    server = Server(*words, environ={"RLENV_SANDBOX_TOKEN": ""})
    assert server.port
    server.end()


# -- one tenant beside another
# -----------------------------------------------------------------------------


def answered(connection: http.client.HTTPConnection) -> bool:
    """Whether an answer is there already."""
    connection.sock.settimeout(0.3)
    try:
        return bool(connection.sock.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False
    finally:
        connection.sock.settimeout(SOON)


@pytest.mark.parametrize("workspace", [False, True])
def test_a_tenant_that_runs_all_it_may_waits_and_another_does_not(
    shared: tuple[Server, str, str], workspace: bool
) -> None:
    server, alice, bob = shared
    options: dict[str, Any] = {"workspace_mb": 1, "memory_mb": 64} if workspace else {}
    pieces = (trees.END,) if workspace else ()
    runs, waits, other = [server.friend(key) for key in (alice, alice, bob)]
    runs.open(wall_s=60.0, **options)  # what holds a place, where only a running program does
    other.open(wall_s=60.0, **options)
    runs.start("import time; time.sleep(60)", *pieces)
    waits.begin_open(**options)

    assert not answered(waits.stream)
    other.start("print('well')", *pieces)
    assert other.ask("finish", {"wait": None})["exit"]["status"] == 0
    assert not answered(waits.stream)
    runs.close()  # and with it the program ends
    assert waits.end_open()["isolation"] == "process"


def test_a_session_beside_another_has_a_turn_of_its_own(shared: tuple[Server, str, str]) -> None:
    server, alice, _ = shared
    one, two, three = [server.friend(alice) for _ in range(3)]

    assert "isolation" in one.open()
    assert "isolation" in two.open(beside=True)
    two.close()
    assert "isolation" in three.open(beside=True)
    one.close()
    assert "isolation" in server.friend(alice).open()


def test_each_way_to_end_gives_the_turn_back(shared: tuple[Server, str, str]) -> None:
    server, alice, _ = shared
    for number in range(8):
        friend = server.friend(alice)
        if number % 4 == 1:
            assert friend.open(runtime="x")["error"]
        else:
            assert "isolation" in friend.open()
        if number % 4 == 0:
            friend.start("import time; time.sleep(60)")
        elif number % 4 == 2:
            friend.talk.request("DELETE", f"{PATH}/sessions/{friend.session}", b"", friend.headers)
            assert friend.talk.getresponse().status == 200
            assert friend.has_ended()
        friend.close()


def test_sessions_of_one_tenant_keep_no_other_out(shared: tuple[Server, str, str]) -> None:
    server, alice, bob = shared
    many = [server.friend(alice) for _ in range(3)]
    for friend in many:
        friend.begin_open()  # one is open, and others wait for its turn
        time.sleep(0.1)
    last = server.friend(alice)
    assert last.open()["transient"] is True
    assert last.status == 429
    assert "isolation" in server.friend(bob).open()


def test_no_tenant_reaches_the_session_of_another(shared: tuple[Server, str, str]) -> None:
    server, alice, bob = shared
    one = server.friend(alice)
    one.open()
    two = server.friend(bob)
    two.open()
    two.session = one.session
    for what in ("start", "send", "recv", "finish"):
        assert two.ask(what, {})["error"] == "fault"
        assert two.status == 410
    assert one.start("print('well')") == {}
    assert one.ask("finish", {"wait": None})["exit"]["status"] == 0


def test_a_crowd_from_one_address_hangs_up_on_itself() -> None:
    """Whoever opens connections without end takes the places of their own, not of who comes from
    elsewhere.
    """
    server = Server()
    slow = socket.create_connection(("127.0.0.1", server.port), 20, ("127.0.0.2", 0))
    crowd = [server.raw() for _ in range(400)]
    crowd[0].settimeout(SOON)
    with suppress(ConnectionResetError):
        assert crowd[0].recv(1) == b""
    slow.settimeout(0.3)
    with slow, pytest.raises(TimeoutError):
        slow.recv(1)
    server.runs()
    server.end()


# -- what one client's bytes may cost
# ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ['{"sizes":[],"a":[%s[]]}' % ("[]," * 200_000), '{"sizes":[%s0]}' % ("0," * 200_000)]
)
def test_a_header_of_countless_values_is_not_read(text: str) -> None:
    data = text.encode()
    with pytest.raises(payload.BadPayload, match="too many values"):
        payload.unwrap(struct.pack("<I", len(data)) + data)


def test_of_countless_entries_only_as_many_are_read_as_are_too_many() -> None:
    names = (b"%06d" % number for number in range(50_000))
    data = b"".join(tree.ENTRY.pack(6, tree.FILE, 0) + name for name in names) + trees.END

    assert len(trees.decode(data, {}, 10)) == 11


@pytest.mark.parametrize("word", ["nan", "NaN", "inf", "1e999", True, None, [1]])
@pytest.mark.parametrize("what", ["timeout", "wait"])
def test_no_word_becomes_a_time(server: Server, what: str, word: object) -> None:
    """A NaN among its timers, and a loop keeps no time."""
    if what == "wait" and word is None:
        return  # to a limit
    friend = server.friend()
    friend.open()
    friend.start("import time; time.sleep(30)")
    if what == "timeout":
        friend.ask("recv", {"number": 1, "max_bytes": 1, what: word})
    else:
        friend.ask("finish", {what: word})

    assert friend.status == 400
    assert friend.has_ended()
    server.runs()


def test_mistakes_without_end_are_told_in_part(server: Server) -> None:
    friend = server.friend()
    paths = [f"/{number}/{'x' * 5000}" for number in range(100)]
    answer = friend.open(paths=paths)

    assert answer["error"] == "config"
    assert len(str(answer)) < 20 * 5000


def test_a_server_keeps_nothing_of_a_workspace_between_programs() -> None:
    from rlenv_plugin_sandbox.process import Process
    from rlenv_plugin_sandbox.remote import session as sessions
    from rlenv_plugin_sandbox.workspace import WorkspaceSession

    async def whole() -> tuple[Any, bytes]:
        box = Process()
        asked = Profile(min_isolation="process", workspace_mb=1, memory_mb=64)
        session = await box.open(asked)
        program = b"open('made', 'w').write('x')"
        await sessions._start(session, start(), [b"", program, trees.END])
        _, parts = await sessions._finish(session, {"wait": None})
        assert isinstance(session, WorkspaceSession)
        content = session.content
        await session.close()
        await box.aclose()
        return content, parts[-1]

    content, left = asyncio.run(whole())
    assert content == {}
    assert b"made" in left


# -- how it ends
# ---------------------------------------------------------------------------------------------


def test_a_server_that_ends_while_it_stops_a_question_ends() -> None:
    """The cancellation was taken for that of the question: the server then waited for its client
    forever.
    """

    async def whole() -> bool:
        async def slow() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.05)

        question = asyncio.create_task(slow())
        await asyncio.sleep(0)
        stopping = asyncio.create_task(_stop(question))
        await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait([stopping])
        return stopping.cancelled()

    assert asyncio.run(whole())


def test_the_token_is_not_kept() -> None:
    made = ServerHere(object(), "process", "a-token-that-nobody-else-has")  # type: ignore[arg-type]
    assert "a-token-that-nobody-else-has" not in repr(vars(made))


def test_a_port_that_is_taken_is_a_mistake_that_names_it(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_TOKEN", "a-token-of-the-tests")
    with pytest.raises(SystemExit):
        main(["--listen", f"127.0.0.1:{server.port}", "--sandbox", "process"])
    assert str(server.port) in capsys.readouterr().err
    assert "RLENV_SANDBOX_TOKEN" not in os.environ
    assert issubclass(ConfigError, RlenvError)
