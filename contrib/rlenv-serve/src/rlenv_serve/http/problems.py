"""Errors as a client sees them: ``application/problem+json`` of RFC 9457, with a code that does not
change.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from http import HTTPStatus
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect
from starlette.responses import Response

T = TypeVar("T")
logger = logging.getLogger("rlenv_serve")
PROBLEM = "application/problem+json"
DETAIL = 2000  # characters


class Details(msgspec.Struct):
    """An error, as RFC 9457 has it; `code` does not change, and `detail`, where clients of ORS look
    too, says what to do.
    """

    type: str
    title: str
    status: int
    code: str
    detail: str


class Problem(Exception):
    """A request that is answered with an error.

    Args:
        status: of HTTP.
        code: names the kind of error; clients may compare it.
        detail: what was expected, and what to do.
        headers: further headers of the answer, as ``Retry-After``.
    """

    def __init__(self, status: int, code: str, detail: str, **headers: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail[:DETAIL]
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> Response:
        """The answer."""
        title = HTTPStatus(self.status).phrase
        told = Details("about:blank", title, self.status, self.code, self.detail)
        return Response(msgspec.json.encode(told), self.status, self.headers, PROBLEM)


async def result_or_problem(work: Awaitable[T], what: str) -> T | Problem:
    """Return what the work gives, or the ``Problem`` that it raises; for any other exception 500,
    and the log says which.

    Args:
        work: for a client.
        what: it is, for the log.

    Raises:
        ClientDisconnect: the client has gone.
    """
    try:
        return await work
    except Problem as problem:
        return problem
    except ClientDisconnect:
        raise
    except Exception:
        logger.exception("%s failed", what)
        return Problem(500, "internal", "the server failed; its log says why")


def not_found(what: str) -> Problem:
    """404, also for what belongs to another tenant."""
    return Problem(404, "not_found", what)


def invalid(detail: str, status: int = 422) -> Problem:
    """Make the problem of a request that was understood and asks for what there is not.

    Args:
        detail: what was expected, and what to do.
        status: of HTTP.
    """
    return Problem(status, "invalid", detail)


def key_reused() -> Problem:
    """Make 409 for an idempotency key that was used for something else."""
    return Problem(
        409,
        "key_reused",
        "this Idempotency-Key was used for another request: draw a new one for each request",
    )
