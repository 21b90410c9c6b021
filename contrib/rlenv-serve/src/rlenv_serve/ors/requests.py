"""Bodies of ORS, and what headers say.  Fields that are not known are left out, as clients add some often."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from rlenv_serve.catalog import Served
from rlenv_serve.http.endpoint import Call
from rlenv_serve.http.problems import Problem, invalid, not_found
from rlenv_serve.sessions import Session
from rlenv_serve.state.journal import Entry

SID = "X-Session-ID"
Object: TypeAlias = dict[str, object]


class NewSession(msgspec.Struct):
    """What a session begins with; ``env`` is of the platform, and empty."""

    env: dict[str, object] | None = None


class NewEnvironment(msgspec.Struct):
    """Which task a session has: a reference that the server gave, or a split and an index."""

    task_spec: object = None
    split: str | None = None
    index: int | None = None
    env_name: str | None = None
    toolset_name: str | None = None


class OfSplit(msgspec.Struct):
    """A split, by name."""

    split: str


class OfIndex(msgspec.Struct):
    """One task of a split; from the end where ``index`` is negative."""

    split: str
    index: int


class OfRange(msgspec.Struct):
    """Some tasks of a split, as a slice of Python's."""

    split: str
    start: int | None = None
    stop: int | None = None


class ToolCall(msgspec.Struct):
    """A call of a tool; with ``task_id`` the result of one that was made before."""

    name: str
    # What a policy wrote: nothing in it makes the request invalid.
    input: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))
    task_id: str | None = None


class Candidate(msgspec.Struct):
    """One response of a group."""

    messages: list[dict[str, object]]
    metadata: dict[str, object] | None = None


class Group(msgspec.Struct):
    """Responses to the session's task."""

    candidates: list[Candidate]
    task_id: str | None = None


def sid_of(call: Call) -> str:
    """
    Raises:
        Problem: 400 without the header.
    """
    if not (found := call.header(SID).strip()):
        raise invalid("X-Session-ID header is required", 400)
    return found


def environment(call: Call, name: str | None = None) -> Served:
    """The environment of a request: of its path, or else ``X-Deployment`` where that names one, or else the first.

    Raises:
        Problem: 404 when there is none.
    """
    catalog = call.server.catalog
    if name := name or call.path.get("env"):
        return catalog.named(name)
    if found := catalog.get(call.header("X-Deployment").lower()):
        return found
    if not catalog:
        raise not_found("this server has no environments")
    return next(iter(catalog.values()))


async def opened(call: Call) -> tuple[Served, Session | Entry]:
    """The session of a request, which is of the environment that the path names.

    Raises:
        Problem: as ``OrsSessions.get``; 400 for a session of another environment.
    """
    found = await call.server.ors.get(call.tenant, sid_of(call))
    name, asked = found.begun.environment, call.path.get("env")
    if asked and asked.lower() != name:
        raise invalid(f"this session is of {name}, not of {asked!r:.80}: name the environment in /create, as env_name", 400)  # fmt: skip
    return call.server.catalog.named(name), found


def check_secrets(call: Call) -> None:
    """Secrets are accepted and dropped: environments have those of the operator.

    Raises:
        Problem: 400 for what is not the header that clients send.
    """
    try:
        found = json.loads(b64decode(call.header("X-Secrets"), validate=True) or b"{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, Mapping):
        raise Problem(400, "invalid", "X-Secrets is base64 of an object of JSON")
