"""Answers of HTTP/1.1 arrive in any pieces, say one thing, and end where they say; connections are left clean."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_judge.transport.errors import Failure
from rlenv_plugin_judge.transport.http import Http, place_of
from rlenv_plugin_judge.transport.wire import Answer, Broken, Larger, Reader

COUNTED = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"2;ext=1\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"
)
UNTIL_CLOSE = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello"


def read(data: bytes, cuts: list[int], most: int = 1000) -> tuple[Answer | None, Reader]:
    reader = Reader(most)
    places = sorted({0, len(data), *(c % (len(data) + 1) for c in cuts)})
    found = None
    for low, high in pairwise(places):
        assert found is None
        found = reader.feed(data[low:high])
    return found, reader


@given(st.sampled_from([COUNTED, CHUNKED]), st.lists(st.integers(0, 200)))
def test_an_answer_is_the_same_in_any_pieces(data: bytes, cuts: list[int]) -> None:
    found, reader = read(data, cuts)
    assert found is not None
    assert (found.status, found.body, reader.keep) == (200, b"hello", True)


@given(st.lists(st.integers(0, 200)))
def test_an_answer_may_end_with_its_connection(cuts: list[int]) -> None:
    found, reader = read(UNTIL_CLOSE, cuts)
    assert found is None
    assert reader.end().body == b"hello"
    assert not reader.keep


@pytest.mark.parametrize("whole", [COUNTED, CHUNKED])
def test_an_answer_that_is_cut_off_is_none(whole: bytes) -> None:
    for size in range(len(whole)):
        found, reader = read(whole[:size], [])
        assert found is None
        with pytest.raises(Broken):
            reader.end()


def test_headers_of_one_name_are_joined_and_names_are_small() -> None:
    found, _ = read(COUNTED, [])
    assert found is not None
    assert found.headers["x-a"] == "1, 2"


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/2 200 OK\r\n",
        b"ICY 200 OK\r\n",
        b"HTTP/1.1 20 OK\r\n",
        b"HTTP/1.1 101 Switching\r\n",
        b"<!doctype html>\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n folded\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\nContent-Length: 5\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n",
    ],
)
def test_an_answer_that_says_two_things_or_none_is_broken(head: bytes) -> None:
    with pytest.raises(Broken):
        read(head + b"\r\nhello", [])


@pytest.mark.parametrize(
    "chunks",
    [
        b"g\r\n",
        b"-1\r\n",
        b"5\r\nhelloX\r\n",
        b"\r\n\r\n",
        b"f" * 300,
        b"0\r\n\r\nmore",
        b"5 5\r\n",
    ],
)
def test_chunks_that_are_none_are_broken(chunks: bytes) -> None:
    with pytest.raises(Broken):
        read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, [])


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n6\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n",
        b"HTTP/1.0 200 OK\r\n\r\n12345678901",
    ],
)
def test_a_body_is_never_longer_than_it_may_be(data: bytes) -> None:
    with pytest.raises(Larger):
        read(data, [], most=10)


def test_a_head_without_an_end_is_broken() -> None:
    with pytest.raises(Broken):
        read(b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 20_000, [])


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    try:
        read(b"HTTP/1.1 200 OK\r\n" + data, [])
        read(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + data, [])
    except (Broken, Larger):
        pass


def test_an_address_keeps_its_port_path_and_brackets() -> None:
    place = place_of("https://[::1]:8443/v1/chat/completions")
    assert (place.tls, place.host, place.port) == (True, "::1", 8443)
    assert place.start.startswith(b"POST /v1/chat/completions HTTP/1.1\r\nHost: [::1]:8443\r\n")
    assert place_of("https://example.org/v1/x").port == 443


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def posts(serve: Serve, use: Callable[[Http, str], Awaitable[None]], timeout: float = 5.0) -> None:
    """``use`` an Http beside a server that treats each connection as ``serve`` does."""

    async def main() -> None:
        serving: set[asyncio.Task[None]] = set()

        async def kept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            serving.add(asyncio.current_task())  # type: ignore[arg-type]
            await serve(reader, writer)
            with suppress(ConnectionError):
                await writer.wait_closed()

        server = await asyncio.start_server(kept, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        http = Http(timeout, 4)
        try:
            await use(http, f"http://127.0.0.1:{port}/v1/chat/completions")
        finally:
            await http.close()
            server.close()
            await asyncio.gather(*serving)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        asyncio.run(main())
        gc.collect()
    assert [str(w.message) for w in said] == []


async def asked(reader: asyncio.StreamReader) -> bool:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split()[0]))
    except (asyncio.IncompleteReadError, ConnectionError):
        return False
    return True


def test_what_nobody_asked_for_ends_a_connection_and_answers_nothing() -> None:
    opened = []
    told = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(1)
        while await asked(reader):
            writer.write(COUNTED)
            if len(opened) == 1:
                await told.wait()
                writer.write(COUNTED.replace(b"hello", b"wrong"))
        writer.close()

    async def use(http: Http, url: str) -> None:
        assert (await http.post(url, b"1", {})).body == b"hello"
        told.set()
        while http.free(url):
            await asyncio.sleep(0.01)
        assert (await http.post(url, b"2", {})).body == b"hello"

    posts(serve, use)
    assert len(opened) == 2


def test_a_connection_carries_many_requests() -> None:
    opened = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(1)
        while await asked(reader):
            writer.write(CHUNKED)
        writer.close()

    async def use(http: Http, url: str) -> None:
        for _ in range(5):
            assert (await http.post(url, b"x" * 300_000, {})).body == b"hello"

    posts(serve, use)
    assert len(opened) == 1


@pytest.mark.parametrize("way", ["late", "cancelled"])
def test_who_gives_up_leaves_no_connection_and_frees_his_place_once(way: str) -> None:
    freed = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if await asked(reader):
            writer.write(COUNTED[:-3])
            with suppress(ConnectionError):
                await reader.read()
        writer.close()

    async def use(http: Http, url: str) -> None:
        asking = asyncio.ensure_future(http.post(url, b"x", {}, lambda: freed.append(1)))
        if way == "late":
            with pytest.raises(Failure, match="no answer within"):
                await asking
            return
        await asyncio.sleep(0.1)
        asking.cancel()
        await asyncio.wait([asking])

    posts(serve, use, 0.5 if way == "late" else 30.0)
    assert freed == [1]
