"""Calls of tools, and scores of groups: what ORS answers as a stream."""

from __future__ import annotations

from functools import partial

import msgspec
from starlette.responses import Response, StreamingResponse

from rlenv_serve.http.body import decode
from rlenv_serve.http.problems import Problem, invalid, not_found
from rlenv_serve.server.endpoint import Call
from rlenv_serve.sessions import Answer, Session
from rlenv_serve.sessions.actions import SUBMIT, submit
from rlenv_serve.sessions.actions import call as action_of
from rlenv_serve.sessions.problems import FINISHED
from rlenv_serve.state.journal import Entry
from rlenv_serve.verify.requests import Item
from rlenv_serve.verify.run import Run, made_run

from . import blocks
from .blocks import Object
from .life import scores_groups, session_of, sid_of
from .sessions import OrsSessions
from .sse import HEADERS, failure, stream

# Why a call is not made, by the code of the problem; others are errors of the stream.
REASONS = {"invalid": "input_validation", FINISHED: FINISHED}
OBJECT = msgspec.json.Decoder(dict[str, object])


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


async def call_tool(call: Call) -> object:
    """Call a tool of the session."""
    _, found = await session_of(call)
    return _stream_events(call, call.read(ToolCall).task_id, partial(_call_tool, call, found))


async def score_group(call: Call) -> object:
    """Score responses to the session's task."""
    served, found = await session_of(call)
    if not scores_groups(served):
        raise not_found(
            f"{served.name} does not implement score_group: its verdicts need more than the text of"
            " a response"
        )
    asked = call.read(Group)
    texts = [blocks.response(each.messages) for each in asked.candidates]
    if None in texts:
        raise invalid(f"candidates[{texts.index(None)}] has no message of the assistant")
    items = [Item(found.begun.task, each) for each in texts if each is not None]
    run = await made_run(call.server.verifier, call.tenant, served.name, items)
    return _stream_events(call, asked.task_id, lambda _: _score_candidates(run))


def _stream_events(call: Call, resumed: str | None, work: object) -> object:
    """The events of the work, which is given the id that names it.

    Raises:
        Problem: 429 when too many requests of the tenant wait.
    """
    server = call.server
    sid = sid_of(call)
    if resumed is not None and not OrsSessions.of(server).is_run(sid, resumed):
        return Response(failure("unknown task_id"), headers=HEADERS)
    server.turns.admit(call.tenant.name)
    task_id = resumed or OrsSessions.of(server).new_run(sid)
    events = stream(call.request, task_id, lambda: OrsSessions.of(server).run(work(task_id)))  # type: ignore[operator]
    return StreamingResponse(events, headers=HEADERS)


async def _call_tool(call: Call, found: Session | Entry, key: str) -> object:
    """The result of a call; one with the same key is made once."""
    asked = call.read(ToolCall)
    id_ = found.begun.id
    try:
        given = decode(bytes(asked.input), OBJECT, call.server.limits.depth)
        if isinstance(found, Session) and (refused := _refusal_of(found, asked.name, given)):
            return refused
        action = action_of(asked.name, given)
        answer = await call.server.sessions.step(call.tenant, id_, action, key=key)
    except Problem as problem:
        if reason := REASONS.get(problem.code):
            return _no(reason, problem.detail)
        raise
    if answer.done:
        OrsSessions.of(call.server).mark_ended(id_)
    return _output(answer)


def _refusal_of(session: Session, name: str, given: Object) -> Object | None:
    """A call that is not made, and costs no step."""
    named = {**session.episode.named, SUBMIT: submit}
    # Of a server of tools, which is known only when the episode has begun.
    if name == SUBMIT and SUBMIT in session.episode.named:
        return _no("name_collision", f"the environment has a tool {SUBMIT!r} of its own")
    if name not in named:
        return _no("not_found", f"{name[:64]!r} is not a valid tool; tools are {', '.join(named)}")
    problem = named[name].problem(given)
    return _no("input_validation", problem) if problem else None


def _no(reason: str, error: str) -> Object:
    return {"ok": False, "error": error, "reason": reason}


def _output(answer: Answer) -> Object:
    """
    Raises:
        Problem: for an unscored end: clients read a reward of null as 0.
    """
    if answer.done and answer.reward is None:
        raise Problem(
            500,
            "unscored",
            f"the verifier failed ({answer.fault}), so the episode has no reward: leave it out, it"
            " is not worth 0",
        )
    return {
        "ok": True,
        "output": {
            "blocks": blocks.flat(answer.messages),
            "metadata": {"stop": answer.stop or None},
            "reward": answer.reward,
            "finished": answer.done,
        },
    }


async def _score_candidates(run: Run) -> object:
    """Each candidate is a turn of its tenant, as a response of ``/v1/verify`` is."""
    await run.play()
    values = [run.verdicts[number].value for number in range(len(run.jobs))]
    if unscored := [number for number, value in enumerate(values) if value is None]:
        raise Problem(
            500,
            "unscored",
            f"the verifier failed on candidates {unscored[:10]}: the group has no scores",
        )
    return {"scores": [{"reward": value, "metadata": None} for value in values]}
