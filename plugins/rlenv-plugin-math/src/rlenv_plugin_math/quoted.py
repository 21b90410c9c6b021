"""What a response quotes of its prompt is none of its answer."""

from __future__ import annotations

_SHORT = 12  # a prompt of fewer characters may be in an answer by chance


def without_prompt(response: str, prompt: str) -> str:
    """The response with its prompt, wherever that is quoted whole, blanked out; positions stay the
    same.

    "You asked: Simplify 6/8." states no answer, and "2 + 2 + 2 = 6" still does.
    """
    question = prompt.strip()
    if len(question) < _SHORT or question not in response:
        return response
    return response.replace(question, "\n" + " " * (len(question) - 1))
