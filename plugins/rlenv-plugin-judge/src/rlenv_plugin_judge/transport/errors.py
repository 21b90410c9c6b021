"""How a call can go wrong, said without anything that an endpoint or a response wrote."""

from __future__ import annotations

from attrs import frozen
from rlenv import Fault, RlenvError, VerifierFault


class TooLong(RlenvError):
    """The model's context cannot hold the request.

    The response's length caused it, so a stage answers with a 0 ``undecided``, never with a fault.
    """


@frozen
class Failure(Exception):
    """One try failed.

    Args:
        message: for the operator; holds no text of the endpoint, so no key that it may echo.
        retry: the same endpoint may do better in a moment.
        rest: the endpoint should not be asked for a while: "" no, "soon" after a few in a row,
            "now" at once.
        final: another endpoint would say the same.
        after: seconds that ``Retry-After`` asks for.
        spent: the endpoint may have charged for it.
    """

    message: str
    retry: bool = True
    rest: str = "soon"
    final: bool = False
    after: float | None = None
    spent: bool = False

    def fault(self) -> VerifierFault:
        return unavailable(self.message, transient=self.retry)


def unavailable(message: str, *, transient: bool) -> VerifierFault:
    """The fault that leaves a response unscored."""
    return VerifierFault(Fault("unavailable", message, transient))
