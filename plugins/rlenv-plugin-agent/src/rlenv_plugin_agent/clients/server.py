"""``Server`` posts JSON with retries, so many at a time."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from attrs import define, field
from rlenv import ConfigError

from rlenv_plugin_agent.messages import json_of

from .errors import ContextExceeded, EndpointError, TryAgain
from .reading import mapping

if TYPE_CHECKING:
    import aiohttp

JSON: TypeAlias = Mapping[str, object]
LARGEST = 64 << 20  # bytes of a reply; one of 32,000 tokens with log-probabilities has about 5 MB
# seconds
PAUSE = 0.5
LONGEST_PAUSE = 30.0
LONGEST_WAIT = 120.0
JITTER = random.SystemRandom()
AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 507, 520, 521, 522, 523, 524, 529}
# vLLM (vllm/renderers/params.py, vllm/exceptions.py): "the model's context length is only N
# tokens", "maximum context length is"; SGLang (managers/tokenizer_manager.py): "is longer than the
# model's context length", "exceeds the model's maximum context length"; OpenAI: code
# "context_length_exceeded"; llama.cpp: "exceeds the available context size".
CONTEXT = re.compile(
    r"context_length_exceeded|context length|exceed_context_size|exceeds? the (available )?context"
    r"|prompt is too long|maximum (prompt|input) length",
    re.IGNORECASE,
)


@define(eq=False, slots=False)
class Server:
    """A server of models; it opens nothing before the first request.

    Args:
        url: what the paths of requests are appended to, as ``http://127.0.0.1:8000/v1``, without a
            slash at its end.
        key_env: the environment variable that holds the key; "" for a server that wants none.
        timeout: seconds of one try, in (0, 86400].
        retries: how often a failed request is sent again, 0 or more.
        concurrency: requests in flight in one event loop, 1 or more.

    Raises:
        ConfigError: for a URL that cannot be used, a key that is not set, or a number out of range.
    """

    url: str
    key_env: str = ""
    timeout: float = 600.0
    retries: int = 5
    concurrency: int = 64
    _gates: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
            raise ConfigError(f"url is an address as http://127.0.0.1:8000/v1, not {self.url!r}")
        if parts.username is not None:
            raise ConfigError("url holds a name or a password: put a key into the variable key_env")
        if not 0 < self.timeout <= 86_400 or self.retries < 0 or self.concurrency < 1:
            raise ConfigError("timeout is in (0, 86400] s, retries is ≥ 0, concurrency is ≥ 1")
        self._key()

    def _key(self) -> str:
        found = os.environ.get(self.key_env, "").strip() if self.key_env else ""
        if self.key_env and not (found.isascii() and found.isprintable() and found):
            raise ConfigError(
                f"{self.url} needs a key: set the environment variable {self.key_env}, or key_env"
                ' to ""'
            )
        return found

    async def ask(self, path: str, body: JSON) -> JSON:
        """Send a request, and return its reply, a JSON object.

        Args:
            path: appended to ``url``.
            body: what is sent, as JSON.

        Raises:
            ContextExceeded: the model's context cannot hold the request.
            EndpointError: there is no reply, after all retries; it names the server and what it
                said.
        """
        data = json.dumps(body).encode()
        tried = 0
        async with self._gate():
            while True:
                try:
                    return await self._try(path, data)
                except TryAgain as failed:
                    if tried >= self.retries:
                        raise self._broken(path, f"{failed} (tried {tried + 1} times)") from None
                    pause = JITTER.uniform(0, min(LONGEST_PAUSE, PAUSE * 2 ** min(tried, 30)))
                    await asyncio.sleep(pause + min(failed.after or 0.0, LONGEST_WAIT))
                tried += 1

    def _broken(self, path: str, text: str) -> EndpointError:
        key = self._key()
        return EndpointError(f"{self.url}{path}: {text.replace(key, '[key]') if key else text}")

    async def _try(self, path: str, data: bytes) -> JSON:
        import aiohttp

        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        headers |= {"Authorization": f"Bearer {key}"} if (key := self._key()) else {}
        limit = aiohttp.ClientTimeout(total=self.timeout)
        try:
            # A session for each request: a pool would have to be closed by whoever ends the event
            # loop.
            async with (
                aiohttp.ClientSession(
                    timeout=limit, auto_decompress=False, trust_env=False
                ) as session,
                session.post(
                    self.url + path, data=data, headers=headers, allow_redirects=False
                ) as response,
            ):
                late = TryAgain(f"a reply of more than {LARGEST:,} bytes")
                body = b"".join([each async for each in pieces(response.content, LARGEST, late)])
        except TimeoutError:
            raise TryAgain(f"no reply within {self.timeout:g} s") from None
        except (aiohttp.ClientError, OSError) as error:
            raise TryAgain(f"no reply ({type(error).__name__})") from None
        return self._reply(path, response.status, response.headers.get("Retry-After", ""), body)

    def _reply(self, path: str, status: int, after: str, body: bytes) -> JSON:
        found = json_of(body) if status == 200 else None
        if isinstance(found, dict) and not found.get("error"):
            return found
        text = " ".join(body[:2000].decode("utf-8", "replace").split())[:300]
        failed = status in AGAIN or 400 <= status < 500 or mapping(found).get("error")
        if status == 413 or (failed and status != 429 and CONTEXT.search(text)):
            raise ContextExceeded(
                f"{self.url}{path}: the conversation is longer than the model's context"
            )
        if status in AGAIN or status == 200:
            raise TryAgain(f"HTTP {status}: {text}", _seconds(after))
        raise self._broken(path, f"HTTP {status}: {text}")

    def _gate(self) -> asyncio.Semaphore:
        """Return the gate of this event loop; those of loops that have ended are forgotten."""
        for ended in [loop for loop in self._gates if loop.is_closed()]:
            del self._gates[ended]
        here = asyncio.get_running_loop()
        return self._gates.setdefault(here, asyncio.Semaphore(self.concurrency))


async def pieces(
    content: aiohttp.StreamReader, most: int, error: Exception
) -> AsyncIterator[bytes]:
    """Yield what a stream brings.

    Args:
        content: of a response.
        most: bytes that it may have.
        error: raised where it has more.
    """
    size = 0
    async for piece in content.iter_any():
        size += len(piece)
        if size > most:
            raise error
        yield piece


def _seconds(after: str) -> float | None:
    text = after.strip()
    return float(text) if re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", text, re.ASCII) else None
