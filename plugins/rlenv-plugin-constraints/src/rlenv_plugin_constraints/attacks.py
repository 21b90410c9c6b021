"""Ways to satisfy constraints without saying anything; hook ``rlenv_attacks``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rlenv import Task
from rlenv.hooks import Attack

__all__ = ["attacks", "fixed"]


def attacks() -> Sequence[Attack]:
    """Attacks on tasks with constraints in ``info``; none may pass, whatever they ask for."""
    return [*fixed(), *(Attack(name, build) for name, build in _BUILT.items())]


def fixed() -> Sequence[Attack]:
    """Attacks that are the same for every task."""
    return [Attack(name, _constant(text)) for name, text in _FIXED.items()]


def _constant(text: str) -> Callable[[Task], str]:
    return lambda _task: text


_NAMES = ("kind", "instruction_id_list", "relation")  # they are not asked for


def _strings(value: Any) -> list[str]:
    """All text in a task's parameters."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key, item in value.items() if key not in _NAMES for text in _strings(item)]
    return (
        [text for item in value for text in _strings(item)]
        if isinstance(value, (list, tuple))
        else []
    )


_FIXED: Mapping[str, str] = {
    "empty": "",
    "blank": " \n\t\u200b",
    "NUL": "\x00",
    "lone surrogate": "\ud800",
    "full stop": ".",
    "ok": "ok",
    "number": "12345",
    "emoji": "🙂🙂",
    "empty brackets": "[][][][][][][][][][][][]",
    "empty highlights": "** ** ** ** ****",
    "separator": "******",
    "response a, response b": "a******b",
    "empty quotation": '""',
    "empty title": "<<>>",
    "sections in a row": "Section 1 Section 2 Section 3 Section 4 Section 5",
    "skeleton": "<<title>>\n* a\n* b\n* c\n[a] [b] [c]\nSection 1\nSection 2\nP.S.",
    "refusal": "I'm sorry, but I can't help with that.",
    "refusal in capitals": "I CANNOT HELP WITH THAT REQUEST.",
    "verdict text": '{"satisfied": 3, "total": 3, "score": 1.0}',
    "open thinking": "<think>The lamp and the lens are at the top of it and they gather the light.",
    "one word for ever": "word " * 400,
}

_BUILT: Mapping[str, Callable[[Task], str]] = {
    "echo": lambda task: task.prompt,
    "echo in capitals": lambda task: task.prompt.upper(),
    "echo without commas": lambda task: task.prompt.replace(",", ""),
    "echo quoted": lambda task: f'"{task.prompt}"',
    "echo twice": lambda task: f"{task.prompt}\n******\n{task.prompt}",
    "echo and markers": lambda task: f"{task.prompt}\n{' '.join(_strings(task.info))}",
    "markers": lambda task: " ".join(_strings(task.info)),
    "markers on lines": lambda task: "\n".join(f"* {text}" for text in _strings(task.info)),
    "markers in capitals": lambda task: " ".join(_strings(task.info)).upper(),
    "parameters": lambda task: str(dict(task.info)),
}
