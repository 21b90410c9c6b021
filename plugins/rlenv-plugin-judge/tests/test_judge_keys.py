"""A key comes from the environment, goes to its server, and is nowhere else."""

from __future__ import annotations

import asyncio
import logging
import pickle
import traceback
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError, RlenvError
from rlenv_plugin_judge.transport.client import Client
from rlenv_plugin_judge.transport.endpoint import Endpoint
from rlenv_plugin_judge.transport.limits import Retries
from rlenv_plugin_judge.transport.request import Request

NAME = "RLENV_TEST_JUDGE_KEY"
HELLO = Request("", ({"role": "user", "content": "Hello?"},))


def test_without_a_key_the_variable_to_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NAME, raising=False)
    with pytest.raises(ConfigError, match=f"set the environment variable {NAME}"):
        Client([Endpoint("https://example.org/v1", "m", key_env=NAME)])


@pytest.mark.parametrize("value", ["sk-a\nX-Evil: 1", "sk a", "sk-ü", "sk-\x7f"])
def test_what_is_no_key_is_refused_and_not_shown(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(ConfigError, match=NAME) as caught:
        Client([Endpoint("https://example.org/v1", "m", key_env=NAME)])
    assert value not in str(caught.value)


def test_the_right_key_is_sent(monkeypatch: pytest.MonkeyPatch, judge_server: Any) -> None:
    from judge_behavior import KEY

    monkeypatch.setenv(NAME, f" {KEY}\n")
    endpoint = Endpoint(judge_server.url, "keyed", key_env=NAME)
    assert asyncio.run(Client([endpoint]).send(HELLO)).text == "Hello."
    assert judge_server.authorizations == [f"Bearer {KEY}"]


@pytest.mark.parametrize(
    "model",
    [
        "keyed",
        "echo-key",
        "redirect",
        "dead",
        "html",
        "drops",
        "truncated",
        "refuses-request",
        "slow",
    ],
)
def test_a_key_is_in_nothing_that_anybody_sees(
    monkeypatch: pytest.MonkeyPatch,
    judge_server: Any,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    model: str,
) -> None:
    secret = "sk-this-one-is-nobodys-business"
    monkeypatch.setenv(NAME, secret)
    caplog.set_level(logging.DEBUG)
    endpoint = Endpoint(judge_server.url, model, key_env=NAME)
    retries = Retries(times=1, base=0.001)
    seen: list[str] = []

    async def run() -> None:
        asyncio.get_running_loop().set_debug(enabled=True)
        client = Client([endpoint], retries=retries, cache=tmp_path / "cache", timeout=0.2)
        seen.extend([repr(client), repr(vars(client)), repr(endpoint)])
        try:
            seen.append(repr(await client.send(HELLO)))
        except RlenvError as err:
            seen.extend([str(err), repr(err), pickle.dumps(err).decode("latin-1")])
            seen.extend(traceback.format_exception(err, chain=True))
            seen.extend(_locals_shown(err))
        seen.append(repr(vars(client)))
        await client.close()

    asyncio.run(run())
    seen.extend(p.read_bytes().decode("latin-1") for p in tmp_path.iterdir())
    seen.extend([caplog.text, *capfd.readouterr()])
    assert any(secret in sent for sent in judge_server.authorizations) or model == "drops"
    assert not [text for text in seen if "nobodys-business" in text]


def _locals_shown(err: BaseException | None) -> list[str]:
    """What a reporter that shows the locals of our frames would print of an exception and of those
    behind it.
    """
    shown: list[str] = []
    while err is not None:
        frames = [frame for frame, _ in traceback.walk_tb(err.__traceback__)]
        ours = [f for f in frames if "rlenv_plugin_judge" in f.f_code.co_filename]
        shown.extend(repr(f.f_locals) for f in ours)
        err = err.__cause__ or err.__context__
    return shown
