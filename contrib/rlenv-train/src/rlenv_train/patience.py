"""What an adapter does where no reward can be given: at the first call, later, and again and
again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from attrs import define, field
from rlenv import ConfigError, Fault, Verdict, VerifierFault

from .metrics import reason

logger = logging.getLogger("rlenv_train")


@define
class BatchOutcome:
    """What came of a batch: filled while it is judged, all None where that fails."""

    scores: list[float | None]
    verdicts: Sequence[Verdict] = ()


@define
class Patience:
    """Ends a run that cannot get rewards, and lets one go on that lost a few.  It counts batches or
    responses.

    What fails at the first call is a mistake in the set-up and is raised.  What fails later leaves
    its batch unscored.  After ``limit`` in a row without any score, VerifierFault is raised; None:
    never.

    Raises:
        ConfigError: when the limit is neither a positive integer nor None.
    """

    limit: int | None = field()
    first: bool = True
    lost: int = 0
    _told: set[str] = field(factory=set)

    @limit.validator
    def _positive(self, _: object, limit: object) -> None:
        if limit is not None and (type(limit) is not int or limit < 1):
            raise ConfigError(f"patience is an integer, 1 or more, not {limit!r}")

    @contextmanager
    def batch(self, size: int) -> Iterator[BatchOutcome]:
        outcome = BatchOutcome([None] * size)
        try:
            yield outcome
        except Exception as error:
            if self.first:
                raise
            self._tell(f"{type(error).__name__} while a batch was judged")
        scored = not size or any(score is not None for score in outcome.scores)
        self.seen(outcome.verdicts, scored=scored)

    def seen(self, verdicts: Sequence[Verdict], *, scored: bool) -> None:
        """Count a batch, or a single response.

        Raises:
            VerifierFault: when it is one too many without a score.
        """
        self.first = False
        for verdict in verdicts:
            if not verdict.scored:
                self._tell(reason(verdict))
        self.lost = 0 if scored else self.lost + 1
        if self.limit is not None and self.lost >= self.limit:
            text = (
                f"nothing of the last {self.lost} that were judged has a score:"
                f" {', '.join(sorted(self._told))}"
            )
            raise VerifierFault(Fault("unavailable", text))

    def _tell(self, why: str) -> None:
        """Warn once of each reason; a message could hold the answer, so none is shown."""
        if why not in self._told:
            self._told.add(why)
            logger.warning("responses are unscored: %s", why)
