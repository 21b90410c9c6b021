"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterator


def head(*names: str) -> Iterator[str]:
    yield row(*names)
    yield row(*("---" for _ in names))


def row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"
