"""What of a row goes into a report: long parts cut and marked, private parts left out on
request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Cut: TypeAlias = dict[str, Any]

VALUE_CHARS = 1000
VALUE_ITEMS = 50
VALUE_DEPTH = 6
VALUE_PARTS = 400
WIDE = 20_000  # the limit of a response at which nothing else is shortened for its sake
MESSAGES = 60
STAGES = 64
NUMBERS = ("score", "weight", "gate", "penalty", "bonus", "seconds")


def cut(text: str, limit: int) -> str | Cut:
    """The text, or its beginning and end with the number of characters left out between them."""
    if len(text) <= limit:
        return text
    tail = limit // 2
    head = limit - tail
    return {"head": text[:head], "left": len(text) - limit, "tail": text[len(text) - tail :]}


def final_text(response: Any) -> str:
    """What a preview shows of a response: a text, or the last message that says something."""
    if isinstance(response, str):
        return response
    messages = response if isinstance(response, list) else []
    texts = (said(message) for message in reversed(messages) if _by_assistant(message))
    return next((text for text in texts if text), "")


def _by_assistant(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") == "assistant"


def said(message: Mapping[str, Any]) -> str:
    """The text of an OpenAI-style message; its tool calls are written out behind it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, Mapping) else None for part in content]
        content = "".join(p if isinstance(p, str) else "[no text]" for p in parts)
    text = content if isinstance(content, str) else ""
    calls = message.get("tool_calls")
    return f"{text}\n[calls {_brief(calls)}]".strip() if calls else text


def _brief(value: Any) -> str:
    from rlenv.model.record import dumps

    return dumps(value)


def shown_response(response: Any, limit: int) -> Any:
    """A text (cut at ``limit`` characters), or ``{"messages": [[role, text], ...], "left": n}``."""
    if response is None or isinstance(response, str):
        return None if response is None else cut(response, limit)
    if not isinstance(response, list):
        return cut(_brief(response), limit)
    left = max(0, len(response) - MESSAGES)
    half = MESSAGES // 2
    kept = response if not left else [*response[:half], *response[-half:]]
    each = max(200, limit // max(1, len(kept)))
    messages = [
        [str(m.get("role"))[:40], cut(said(m), each)]
        if isinstance(m, Mapping)
        else ["?", cut(_brief(m), each)]
        for m in kept
    ]
    return {"messages": messages, "left": left, "at": half}


def shown_value(value: Any, limit: int = WIDE) -> Any:
    """A JSON value no larger than a reader takes in; what is left out is said in its place.

    Args:
        limit: that of the responses; texts here are cut at a quarter of it, within 40 to 1,000
            characters.
    """
    chars = max(40, min(VALUE_CHARS, limit // 4))
    return _shown(value, VALUE_DEPTH, [max(20, min(VALUE_PARTS, limit // 4))], chars)


def _shown(value: Any, depth: int, parts: list[int], chars: int) -> Any:
    parts[0] -= 1
    if isinstance(value, str):
        left = len(value) - chars
        return value if left <= 0 else f"{value[:chars]} [... {left:,} more characters]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >> 53:
        return _shown(_digits(value), depth, parts, chars)  # a browser would round it
    if not isinstance(value, (Mapping, list, tuple)) or not value:
        return value
    if depth == 0 or parts[0] <= 0:
        return f"[... {len(value):,} items]"
    if isinstance(value, Mapping):
        return _mapping(value, depth, parts, chars)
    return _sequence(value, depth, parts, chars)


def _digits(value: int) -> str:
    return (
        str(value) if value.bit_length() < 10_000 else f"[a number of {value.bit_length():,} bits]"
    )


def _mapping(value: Mapping[str, Any], depth: int, parts: list[int], chars: int) -> dict[str, Any]:
    keys = list(value)[:VALUE_ITEMS]
    found = {str(key)[:chars]: _shown(value[key], depth - 1, parts, chars) for key in keys}
    if len(value) > VALUE_ITEMS:
        found["..."] = f"[{len(value) - VALUE_ITEMS:,} more entries]"
    return found


def _sequence(value: Sequence[Any], depth: int, parts: list[int], chars: int) -> list[Any]:
    found = [_shown(item, depth - 1, parts, chars) for item in value[:VALUE_ITEMS]]
    if len(value) > VALUE_ITEMS:
        found.append(f"[... {len(value) - VALUE_ITEMS:,} more]")
    return found


def shown_fault(fault: Any, *, public: bool, limit: int = WIDE) -> dict[str, Any] | None:
    """The fault; for the public only its kind, since a message may quote what is private."""
    if not isinstance(fault, Mapping):
        return None
    kept = {"kind": str(fault.get("kind"))[:40], "transient": bool(fault.get("transient"))}
    return kept if public else {**kept, "message": shown_value(str(fault.get("message")), limit)}


def shown_stages(
    stages: Any, *, public: bool, limit: int = WIDE, depth: int = 12
) -> list[dict[str, Any]]:
    """The stages of a row as the page reads them; without ``private`` and messages for the
    public.
    """
    left = len(stages) - STAGES
    found = [_stage(s, public=public, limit=limit, depth=depth) for s in stages[:STAGES]]
    if left > 0:
        found[-1]["left"] = left
    return found


def _stage(stage: Mapping[str, Any], *, public: bool, limit: int, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {key: _number(stage.get(key)) for key in NUMBERS}
    found |= {key: str(stage.get(key) or "")[:200] for key in ("name", "use", "phase")}
    found["detail"] = shown_value(str(stage.get("detail") or ""), limit)
    found["fault"] = shown_fault(stage.get("fault"), public=public, limit=limit)
    kept = ("data", "steps") if public else ("data", "steps", "private")
    found |= {key: shown_value(stage[key], limit) for key in kept if stage.get(key)}
    children = stage.get("children")
    if children and depth:
        inner = shown_stages(children, public=public, limit=limit, depth=depth - 1)
        found["children"] = inner
    elif children:
        found["left"] = len(children)
    return found


def _number(value: Any) -> float | None:
    sound = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if sound and abs(value) < 1e300 else None
