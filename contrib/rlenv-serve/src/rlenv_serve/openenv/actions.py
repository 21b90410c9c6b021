"""Data of ``reset`` and ``step``, as clients of OpenEnv send them, and of their answers."""

from __future__ import annotations

from collections.abc import Mapping

from rlenv_serve.catalog import Served
from rlenv_serve.http.answers import encode
from rlenv_serve.http.body import check_members, convert, is_deep
from rlenv_serve.http.limits import Name
from rlenv_serve.http.problems import Problem, invalid
from rlenv_serve.sessions import Action, Answer, Session
from rlenv_serve.sessions.actions import call, say, text_of
from rlenv_serve.sessions.choice import TaskChoice
from rlenv_serve.tools import ENDED, error_of, harness_of

LIST_TOOLS = "list_tools"
CALL_TOOL = "call_tool"
SAID = ("answer", "message")
VALUE = "value"  # of a game
CALL_MEMBERS = ("type", "tool_name", "arguments")
METADATA = "metadata"  # that the actions of official clients have, and nothing reads


class Reset(TaskChoice):
    """The data of ``reset``.

    Args:
        task_id: as of ``TaskChoice``.
        seed: as of ``TaskChoice``.
        split: as of ``TaskChoice``.
        episode_id: what the client calls the episode.
        any_action: whether every object that a step brings is an action.  By default it is, since a
            policy may have written it: an error would leave the episode unscored, whenever the
            policy likes.  With false, an object of no known form is an error, as with official
            servers, for programs that write all objects themselves. With true, a tool that there is
            not is a result over JSON-RPC too, and no error.
    """

    episode_id: Name | None = None
    any_action: bool | None = None


def reset_of(served: Served, data: Mapping[str, object]) -> Reset:
    """Return what the data of ``reset`` asks for; a reference to a task, as other routes give it,
    is such data.

    Args:
        served: the environment.
        data: of the frame.

    Raises:
        Problem: 422 for data that is not, and for members that there are not: a misspelled
            ``task_id`` would play any task.
    """
    known = Reset.__struct_fields__
    if "mac" in data and isinstance(data.get("task_id"), str):
        known = (*known, *served.spec(served.task(str(data["task_id"]))))
    check_members(data, known)
    return convert(data, Reset)


def check_action(served: Served, data: Mapping[str, object]) -> None:
    """Reject data of ``step`` that has no form of an action of the environment, since the program
    that sends it has a mistake: as a message, it would end the episode with 0.

    Args:
        served: the environment.
        data: of the frame.

    Raises:
        Problem: 422 for members that there are not, or where what is needed lacks.
    """
    fields = ["tool_name"] if "type" in data or "tool_name" in data else [*SAID]
    if fields == [*SAID] and harness_of(served).user is not None:
        fields.append(VALUE)
    others = CALL_MEMBERS if fields == ["tool_name"] else ()
    check_members(data, (*fields, *others, METADATA))
    if not any(name in data for name in fields):
        raise invalid(
            f"an action needs {' or '.join(fields)}: GET /openenv/{served.name}/schema says what"
            " it is"
        )
    if data.get("type", CALL_TOOL) != CALL_TOOL:
        raise invalid(
            f"no action has the type {data['type']!r:.80}; there are {CALL_TOOL} and {LIST_TOOLS}"
        )


def problem_of(served: Served, data: Mapping[str, object]) -> str:
    """Return what ``check_action`` has against an action; "" where it is right.

    Args:
        served: the environment.
        data: of the frame.
    """
    try:
        check_action(served, data)
    except Problem as problem:
        return problem.detail
    return ""


def action_of(served: Served, data: Mapping[str, object], depth: int) -> Action:
    """The action that the data of ``step`` is, whatever it is.

    An object of another form is a message: its one text where it has one, since a program
    may have misspelled ``answer``, and else its JSON.

    Args:
        served: the environment.
        data: an object.
        depth: levels of nested JSON that an action may have.
    """
    if is_deep(encode(data), depth):
        return say(data)
    if (name := tool_of(data)) is not None:
        return call(name, _arguments_of(data.get("arguments")))
    for key in SAID:
        if key in data:
            return say(data[key])
    if VALUE in data and harness_of(served).user is not None:
        return Action("value", value=data[VALUE])
    others = [value for name, value in data.items() if name not in (*CALL_MEMBERS, METADATA)]
    return say(others[0] if len(others) == 1 and isinstance(others[0], str) else data)


def _arguments_of(given: object) -> Mapping[str, object]:
    if given is None:
        return {}
    return given if isinstance(given, Mapping) else {"arguments": given}


def tool_of(data: Mapping[str, object]) -> str | None:
    """The tool that an action calls; None where it is not a call."""
    if data.get("type") == CALL_TOOL or "tool_name" in data:
        return text_of(data.get("tool_name", ""))
    return None


def first_seen(session: Session) -> dict[str, object]:
    """The observation of ``reset``."""
    seen = _result_data(session.first)
    seen["text"] = (
        str(session.first.messages[-1].get("content") or "") if session.first.messages else ""
    )
    return observation({**seen, "task_id": session.begun.task, "episode_id": session.id})


def step_observation(tool: str | None, answer: Answer, wrong: str = "") -> dict[str, object]:
    """The observation of ``step``, with the reward at the end.

    Args:
        tool: that was called.
        answer: of the step.
        wrong: with the members of the action; "" where nothing is.

    Raises:
        Problem: 502 where the episode is unscored: clients turn a reward of null into 0.
    """
    if answer.done and answer.reward is None:
        raise Problem(
            502,
            "unscored",
            f"the episode ended without a score, because its verifier failed ({answer.fault}): do"
            " not count it",
        )
    seen = _result_data(answer)
    if tool is not None:
        error = error_of(answer)
        text = answer.text or (ENDED if answer.done else "")
        seen |= {"tool_name": tool, "result": None if error else text, "error": error}
    elif wrong:
        seen["error"] = {"error_type": "invalid_args", "message": wrong}
    made = observation(seen, answer.reward, done=answer.done)
    return {**made, "metadata": {"stop_reason": answer.stop}} if answer.done else made


def observation(
    seen: object, reward: float | None = None, *, done: bool = False
) -> dict[str, object]:
    """Return the data of a frame that answers another one.

    Args:
        seen: by the policy.
        reward: at the end; None before it.
        done: the episode has ended.
    """
    return {"observation": seen, "reward": reward, "done": done}


def _result_data(answer: Answer) -> dict[str, object]:
    seen: dict[str, object] = {"messages": answer.messages, "text": answer.text}
    return seen if answer.value is None else {**seen, "value": answer.value}
