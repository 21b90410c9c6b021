"""``/schema`` and ``/metadata``: what a client may know of an environment, which is neither a task's answer nor its verifier."""

from __future__ import annotations

from importlib.metadata import version

import msgspec

from rlenv_serve.catalog import Served
from rlenv_serve.tools import harness_of, offered

from .actions import CALL_TOOL, Reset

TALK = ("single-turn", "multi-turn")
NUMBER = {"anyOf": [{"type": "number"}, {"type": "null"}]}
MESSAGES = {"type": "array", "items": {"type": "object"}, "description": "as a chat has them"}
TEXT = {"type": "string"}


def action_schema(served: Served) -> dict[str, object]:
    """The action of an environment.

    Clients put the text of a policy into the one field that is required.
    """
    harness = harness_of(served)
    if harness.kind in TALK:
        field = "answer" if harness.kind == "single-turn" else "message"
        fields: dict[str, object] = {field: {**TEXT, "description": "What the policy says."}}
        if harness.user is not None:
            fields["value"] = {"description": "An action of a game, in place of a message."}
        return _object("Say", [field], fields)
    names = [each["name"] for each in offered(served)]
    fields = {
        "type": {"const": CALL_TOOL, "default": CALL_TOOL},
        "tool_name": {**TEXT, "examples": names, "description": "A tool; submit ends the episode with an answer."},
        "arguments": {"type": "object", "description": "Arguments of the tool."},
    }  # fmt: skip
    # Clients know this title: they show the tools with it.
    return _object("CallToolAction", ["tool_name"], fields)


def schemas(served: Served) -> dict[str, object]:
    """Action, observation and state, and besides what ``reset`` takes."""
    seen: dict[str, object] = {
        "messages": MESSAGES, "text": {**TEXT, "description": "The texts of the messages."},
        "value": {"description": "What the user of a game returned."},
        "tool_name": TEXT, "result": {"description": "The text of the tool."}, "error": {"type": ["object", "null"]},
        "task_id": TEXT, "episode_id": TEXT, "reward": NUMBER, "done": {"type": "boolean"},
    }  # fmt: skip
    state: dict[str, object] = {
        "episode_id": {"type": ["string", "null"]}, "step_count": {"type": "integer"}, "session_id": TEXT,
        "task_id": {"type": ["string", "null"]}, "done": {"type": "boolean"},
    }  # fmt: skip
    return {
        "action": action_schema(served),
        "observation": _object("Observation", [], seen),
        "state": _object("State", ["step_count"], state),
        "reset": _reset(),
    }


def metadata(served: Served) -> dict[str, object]:
    """For people: a name, a description and a version."""
    told = f"{harness_of(served).kind}, {len(served.env.tasks):,} tasks, served by rlenv"
    return {"name": served.name, "description": told, "readme_content": None, "version": version("rlenv-serve"), "author": None, "documentation_url": None}  # fmt: skip


def _object(title: str, required: list[str], properties: dict[str, object]) -> dict[str, object]:
    return {"title": title, "type": "object", "properties": properties, "required": required}


def _reset() -> dict[str, object]:
    _, made = msgspec.json.schema_components([Reset])
    return dict(made["Reset"])
