"""The options of stages with a sandbox: what they reject, and when an adapter is made."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from attrs import frozen
from rlenv import sandbox
from rlenv.model.errors import ConfigError
from rlenv.plugins.registry import registry
from rlenv.sandbox import Isolation, Profile, SandboxOptions, port


class Ready:
    """An adapter that is made with the stage, and cannot be made with ``broken``."""

    tier = "microvm"
    session: ClassVar[Session | None] = None

    def __init__(self, **options: object) -> None:
        if options.get("broken"):
            raise ConfigError("broken = true: it cannot be made")

    async def open(self, profile: Profile) -> Session:
        session = Session()
        type(self).session = session
        return session


class Deferred(Ready):
    is_deferred = True


class Session:
    isolation = "jail"
    closed = 0

    async def close(self) -> None:
        self.closed += 1


@frozen(kw_only=True)
class Kernels(SandboxOptions):
    untrusted = "kernels"

    @property
    def default_timeout(self) -> float:
        return 7.0


@pytest.fixture(autouse=True)
def adapters(monkeypatch):
    known = {"ready": Ready, "deferred": Deferred}
    monkeypatch.setattr(registry(), "parts", lambda port, name: known[name])
    monkeypatch.setattr(port, "_open", {})


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ({"isolation": "ready"}, True),
        ({"isolation": "deferred"}, False),
        ({"isolation": "deferred", "sandbox": {"image": "a"}}, True),
    ],
)
def test_the_class_of_an_adapter_says_whether_it_is_made_with_the_stage(options, made):
    Kernels(**options)

    assert bool(port._open) is made


def test_what_an_adapter_lacks_is_an_error_of_the_configuration():
    with pytest.raises(ConfigError, match="broken = true"):
        Kernels(isolation="ready", sandbox={"broken": True})


def test_a_weaker_tier_is_rejected_with_the_word_for_what_runs_there(monkeypatch):
    monkeypatch.setattr(Ready, "tier", "process")

    with pytest.raises(ConfigError, match=r"less than min_isolation 'jail'.*if the kernels"):
        Kernels(isolation="ready")


def test_a_stage_has_the_places_and_the_timeout_of_its_sandbox():
    stage = Kernels(isolation="ready", sandbox={"places": 5})

    assert stage.at_once == 5
    assert stage.least_timeout == stage.default_timeout == 7.0


def test_a_session_that_is_weaker_than_was_said_is_closed():
    chosen = Isolation("ready", {}, "gvisor")

    with pytest.raises(ConfigError, match="gave a session of tier 'jail'"):
        asyncio.run(chosen.open(sandbox.Profile()))
    assert Ready.session is not None
    assert Ready.session.closed == 1
    assert asyncio.run(Isolation("ready", {}, "jail").open(sandbox.Profile())).closed == 0
