"""Programs that go on where the prompt ends, as HumanEval's do."""

from __future__ import annotations

import re

__all__ = ["completed"]

_FUTURE = re.compile(r"^from __future__ import [^(\n]*$", re.MULTILINE)


def completed(prompt: str, text: str, language: str, entry_point: str | None) -> tuple[str, int]:
    """The whole program, and how many of its lines are above the response's own.

    A Python response that defines ``entry_point`` itself replaces the prompt's beginning of it; any
    other is the rest of that function, and lines up with it even where its indentation was lost on
    the way.
    """
    prompt = prompt.replace("\r\n", "\n").replace("\r", "\n")
    if language != "python" or entry_point is None:
        return _joined(prompt, text)
    here = _definition(text, entry_point)
    if here is None:
        return _joined(prompt, _aligned(text, _body_indent(prompt)))
    stub = _definition(prompt, entry_point)
    above = prompt[:stub] if stub is not None else ""
    future = "".join(f"{line}\n" for line in _FUTURE.findall(text))
    if future:
        above = future + above
        text = _FUTURE.sub("", text)
    return _joined(above, text)


def _joined(above: str, text: str) -> tuple[str, int]:
    if above and not above.endswith("\n"):
        above += "\n"
    return above + text, above.count("\n")


def _definition(text: str, name: str) -> int | None:
    """Where the last definition of this name at the margin begins, its decorators included."""
    name = re.escape(name)
    at = rf"^(?:(?:async[ \t]+)?def|class)[ \t]+{name}\b|^{name}[ \t]*(?::[^=\n]*)?=(?!=)"
    found = None
    for match in re.finditer(at, text, re.MULTILINE):
        found = match.start()
    if found is None:
        return None
    while True:  # lines of decorators just above
        line = text.rfind("\n", 0, max(found - 1, 0)) + 1
        if line == found or not text.startswith("@", line):
            return found
        found = line


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(8))


def _body_indent(prompt: str) -> int:
    """The indentation at which the prompt's last function goes on."""
    lines = [line for line in prompt.split("\n") if line.strip()]
    if not lines:
        return 0
    last = _indent(lines[-1])
    return last + 4 if lines[-1].rstrip().endswith(":") else last


def _aligned(text: str, wanted: int) -> str:
    """The rest of a function with its first statement ``wanted`` columns in."""
    lines = text.split("\n")
    full = [i for i, line in enumerate(lines) if line.strip()]
    if not full or not wanted:
        return text
    first = lines[full[0]]
    lost = wanted - _indent(first)
    if lost <= 0:
        return text if not lost else _shifted(lines, lost)
    if len(full) > 1 and _only_first(first, [lines[i] for i in full[1:]], wanted):
        lines[full[0]] = " " * lost + first
        return "\n".join(lines)
    return _shifted(lines, lost)


def _only_first(first: str, rest: list[str], wanted: int) -> bool:
    """Whether only the first line lost its indentation, as happens when a response was stripped."""
    code = first.partition("#")[0].rstrip()
    following = _indent(rest[0])
    if code.endswith(":"):
        return following > wanted
    if code.endswith(("(", "[", "{", ",", "\\")):
        return min(map(_indent, rest)) >= wanted
    return following >= wanted


def _shifted(lines: list[str], by: int) -> str:
    """Every line moved; to the left no further than it has blanks."""
    if by > 0:
        return "\n".join([" " * by + line if line.strip() else line for line in lines])
    return "\n".join([_moved(line, by) for line in lines])


def _moved(line: str, by: int) -> str:
    return " " * max(0, _indent(line) + by) + line.lstrip(" \t")
