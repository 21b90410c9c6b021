"""Keys of several tenants, and what one of them may cost the others."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError, RlenvError
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.guest import tree
from rlenv_plugin_sandbox.remote import Remote, greeting, keys, payload
from rlenv_plugin_sandbox.remote.command import main
from rlenv_plugin_sandbox.remote.conversation import _stop
from rlenv_plugin_sandbox.remote.server import Server as ServerHere
from rlenv_plugin_sandbox.stream import Link
from sandbox_server import Server, profile, start

pytestmark = pytest.mark.usefixtures("hang_up")
NONCES = "one:two"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[Server, str, str]]:
    """A server of two tenants, each of which may run one program at a time; and their keys."""
    file = str(tmp_path / "keys.toml")
    alice = keys.add_key(file, "alice")
    bob = keys.add_key(file, "bob")
    environ = {"RLENV_SANDBOX_TOKEN": "", "RLENV_SANDBOX_SLOTS": "8"}
    server = Server("--keys", file, "--programs", "1", "--connections", "3", environ=environ)
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


def test_who_reads_the_file_of_keys_cannot_be_a_client() -> None:
    """What is in it proves nothing, in whatever way a thief may put it together."""
    key = keys.Key.of("a token", "alice")
    stored = bytes.fromhex(key.stored)
    server = bytes.fromhex(key.server)
    stolen = [stored, server, keys.sign(stored, NONCES), keys.sign(server, NONCES), bytes(32)]
    proofs = [*stolen, *(greeting._hide(key, each, NONCES) for each in stolen)]

    assert [greeting._owner([key], proof.hex(), NONCES) for proof in proofs] == [None] * 10
    honest = greeting._hide(key, keys.client_key("a token"), NONCES)
    assert greeting._owner([keys.Key.of("other"), key], honest.hex(), NONCES) == key
    assert greeting._owner([key], honest.hex(), "other:nonces") is None


@pytest.mark.parametrize("proof", ["", "00", "0" * 62, "0" * 66, "x" * 64, None, 5, ["0" * 64]])
def test_a_proof_of_another_form_is_nobodys(proof: object) -> None:
    assert greeting._owner([keys.Key.of("a token")], proof, NONCES) is None


HEX = "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "key = 5",
        "key = [5]",
        "[[key]]\ntenant = 'a'",
        f"[[key]]\ntenant = 'a b'\nstored = '{HEX}'\nserver = '{HEX}'",
        f"[[key]]\ntenant = 'a'\nstored = '{HEX}0'\nserver = '{HEX}'",
        f"[[key]]\ntenant = 'a'\nstored = '{HEX}'\nserver = 5",
        f"[[key]]\ntenant = 'a'\nstored = '{HEX}'\nserver = '{HEX}'\nadmin = true",
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
    server = Server("--keys", file, "--listen", "0.0.0.0:0", environ={"RLENV_SANDBOX_TOKEN": ""})
    assert server.port
    server.end()


# -- one tenant beside another
# -----------------------------------------------------------------------------


def answered(friend: Any) -> bool:
    """Whether an answer is there already."""
    friend.sock.settimeout(0.3)
    try:
        return bool(friend.sock.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False
    finally:
        friend.sock.settimeout(20)


@pytest.mark.parametrize("workspace", [False, True])
def test_a_tenant_that_runs_all_it_may_waits_and_another_does_not(
    shared: tuple[Server, str, str], workspace: bool
) -> None:
    server, alice, bob = shared
    options: dict[str, Any] = {"workspace_mb": 1, "memory_mb": 64} if workspace else {}
    pieces = (b"", trees.END) if workspace else (b"",)
    friends = {n: server.friend(alice if n < 2 else bob) for n in range(3)}
    for number in (0, 2):  # what holds a place, where only a running program does
        friends[number].asked({"do": "open", "profile": profile(wall_s=60.0, **options)})
    friends[0].asked(start("import time; time.sleep(60)"), *pieces)
    question = {"do": "open", "profile": profile(**options)}
    friends[1].say(greeting.ASK, {**question, "id": 1})

    assert not answered(friends[1])
    assert friends[2].asked(start("print('well')"), *pieces) == {"id": 2}
    assert friends[2].asked({"do": "finish", "wait": None})["exit"]["status"] == 0
    assert not answered(friends[1])
    friends[0].sock.close()  # and with it the program ends
    assert friends[1].hear()[1]["isolation"] == "process"


def test_a_session_beside_another_has_a_turn_of_its_own(shared: tuple[Server, str, str]) -> None:
    server, alice, _ = shared
    one = server.friend(alice)
    two = server.friend(alice)

    assert "isolation" in one.asked({"do": "open", "profile": profile()})
    assert "isolation" in two.asked({"do": "open", "profile": profile(beside=True)})
    assert "isolation" in two.asked({"do": "open", "profile": profile(beside=True)})
    two.asked({"do": "close"})
    one.asked({"do": "close"})
    assert "isolation" in two.asked({"do": "open", "profile": profile()})


def test_each_way_to_end_gives_the_turn_back(shared: tuple[Server, str, str]) -> None:
    server, alice, _ = shared
    for number in range(8):
        friend = server.friend(alice)
        friend.asked({"do": "open", "profile": profile()})
        if number % 4 == 0:
            friend.asked(start("import time; time.sleep(60)"), b"")
        elif number % 4 == 1:
            assert friend.asked({"do": "open", "profile": profile(runtime="x")})["error"]
        elif number % 4 == 2:
            friend.asked({"do": "close"})
        friend.sock.close()


def test_connections_of_one_tenant_keep_no_other_out(shared: tuple[Server, str, str]) -> None:
    server, alice, bob = shared
    many = [server.friend(alice) for _ in range(3)]
    for friend in many:
        assert friend.asked({"do": "close"}) == {"id": 1}
    with pytest.raises((EOFError, ConnectionResetError)):
        server.friend(alice).asked({"do": "close"})
    assert server.friend(bob).asked({"do": "close"}) == {"id": 1}


def test_a_crowd_from_one_address_hangs_up_on_itself() -> None:
    """Whoever opens connections without end takes the places of their own, not of who comes from
    elsewhere.
    """
    server = Server("--connections", "4")
    slow = socket.create_connection(("127.0.0.1", server.port), 20, ("127.0.0.2", 0))
    assert slow.recv(1, socket.MSG_PEEK)
    crowd = [server.raw() for _ in range(40)]
    assert crowd[-1].recv(1, socket.MSG_PEEK)  # it is in
    slow.settimeout(0.3)
    assert slow.recv(1 << 16)  # its hello
    with slow, pytest.raises(TimeoutError):
        slow.recv(1)
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
    friend.asked({"do": "open", "profile": profile()})
    friend.asked(start("import time; time.sleep(30)"), b"")
    question = {"do": "recv", "max_bytes": 1} if what == "timeout" else {"do": "finish"}
    friend.say(greeting.ASK, {**question, what: word, "id": 9})

    assert friend.hung_up()
    server.runs()


def test_mistakes_without_end_are_told_in_part(server: Server) -> None:
    friend = server.friend()
    paths = [f"/{number}/{'x' * 5000}" for number in range(100)]
    answer = friend.asked({"do": "open", "profile": profile(paths=paths)})

    assert answer["error"] == "config"
    assert len(str(answer)) < 20 * 5000


def test_a_server_keeps_nothing_of_a_workspace_between_programs() -> None:
    from rlenv_plugin_sandbox.process import Process
    from rlenv_plugin_sandbox.remote import conversation
    from rlenv_plugin_sandbox.workspace import WorkspaceSession

    async def whole() -> tuple[Any, bytes]:
        box = Process()
        asked = Profile(min_isolation="process", workspace_mb=1, memory_mb=64)
        session = await box.open(asked)
        header: dict[str, Any] = {
            "words": None,
            "files": [],
            "cpu_s": None,
            "wall_s": None,
            "wait": None,
        }
        program = b"open('made', 'w').write('x')"
        await conversation._start(session, header, [b"", program, trees.END])
        _, parts = await conversation._talk(session, "finish", header, [], 1 << 20)
        assert isinstance(session, WorkspaceSession)
        content = session.content
        await session.close()
        await box.aclose()
        return content, parts[-1]

    content, left = asyncio.run(whole())
    assert content == {}
    assert b"made" in left


class Flood:
    """A socket that always has more to read."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def setblocking(self, _: bool) -> None: ...

    def recv(self, most: int) -> bytes:
        piece = self.data[:most]
        self.data = self.data[most:]
        return piece


def test_a_sender_without_pause_leaves_others_their_turn() -> None:
    frame = struct.pack("<BI", greeting.ASK, 1 << 24) + bytes(1 << 24)

    async def whole() -> int:
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(others())
        link = Link(Flood(frame))  # type: ignore[arg-type]
        assert await link.receive() == (greeting.ASK, bytes(1 << 24))
        task.cancel()
        return turns

    assert asyncio.run(whole()) > 30


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
    made = ServerHere(object(), "process", "a token that nobody else knows")  # type: ignore[arg-type]
    assert "a token that nobody else knows" not in repr(vars(made))


def test_a_port_that_is_taken_is_a_mistake_that_names_it(
    server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_TOKEN", "a token of the tests")
    with pytest.raises(SystemExit):
        main(["--listen", f"127.0.0.1:{server.port}", "--sandbox", "process"])
    assert str(server.port) in capsys.readouterr().err
    assert "RLENV_SANDBOX_TOKEN" not in os.environ
    assert issubclass(ConfigError, RlenvError)
