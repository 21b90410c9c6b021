"""Logs whose messages cannot steer a terminal: ids, names and errors in them are from clients and
tools.
"""

from __future__ import annotations

import logging

from rlenv_cli.console import visible

_PLAIN = logging.Formatter()


class VisibleMessages(logging.Filter):
    """Escapes invisible and control characters in messages and tracebacks; a message stays one
    line.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = visible(record.getMessage()).replace("\n", "\\n")
        record.args = ()
        if record.exc_info and not record.exc_text:
            record.exc_text = visible(_PLAIN.formatException(record.exc_info))
        return True


def show_visibly() -> None:
    """Escape what the loggers of the server and of uvicorn write."""
    for name in ("rlenv_serve", "uvicorn.error"):
        logger = logging.getLogger(name)
        if not any(isinstance(each, VisibleMessages) for each in logger.filters):
            logger.addFilter(VisibleMessages())
