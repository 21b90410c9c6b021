"""Responses whose worth is sure, for ``rlenv check``: of texts, since it plays no episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rlenv import Task
from rlenv.hooks import Examples

CITIES = {"France": "Paris", "Japan": "Tokyo", "Peru": "Lima", "Kenya": "Nairobi"}


def examples() -> Mapping[str, Sequence[Examples]]:
    """Return the examples by stage."""
    right = [
        (
            Task(
                f"Write the file capital.txt: a line with the capital of {land}.",
                {"files": {"capital.txt": f"{city}\n"}},
                {"gold": {"reply": f"{city}\n"}},
                land,
            ),
            f"{city}\n",
        )
        for land, city in CITIES.items()
    ]
    wrong = [
        (task, text)
        for task, whole in right
        for text in (whole.strip(), f"\n{whole}", whole * 2, whole.upper(), "")
    ]
    told = [(Task(task.prompt, text.strip(), id=task.id), text) for task, text in right]
    turns = Examples(
        told, [(task, f"not {text}") for task, text in told], {"stages": [{"use": "core/equal"}]}
    )
    return {
        "state": [
            Examples(right, wrong, {"buffer": "capital.txt", "partial": partial})
            for partial in (False, True)
        ],
        "turns": [turns],
    }
