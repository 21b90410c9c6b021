"""Messages of the server's log: what clients and tools named cannot steer the terminal of the
operator.
"""

from __future__ import annotations

import io
import logging

from rlenv_serve.commands.visible_logs import VisibleMessages

HOSTILE = "a\x1b[2J\nrlenv: all is well\U000e0041"


def logged(hostile: str) -> str:
    logger = logging.Logger("test")
    logger.addFilter(VisibleMessages())
    stream = io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    try:
        raise ValueError(hostile)
    except ValueError:
        logger.exception("task %s of %s", hostile, 1)
    return stream.getvalue()


def test_a_message_with_hostile_names_is_one_visible_line() -> None:
    first = logged(HOSTILE).splitlines()[0]

    assert first == "task a\\x1b[2J\\nrlenv: all is well\\U000e0041 of 1"


def test_a_traceback_is_escaped_too() -> None:
    assert "\x1b" not in logged(HOSTILE)
    assert "ValueError: a\\x1b[2J" in logged(HOSTILE)
