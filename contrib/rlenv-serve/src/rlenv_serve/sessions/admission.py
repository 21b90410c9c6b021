"""The limit of open episodes of a tenant: those that cannot go on in this process do not count."""

from __future__ import annotations

import time
from collections.abc import Sequence

from attrs import field, frozen

from rlenv_serve.catalog import Catalog
from rlenv_serve.state.journal import Entry, EpisodeStart, Journal

from .problems import full
from .replay import lost_reason

SHOWN = 20  # ids of open episodes that an error names
# Seconds for which what was found stays known: a client that asks again and again costs one look.
KNOWN = 5.0


@frozen
class _OpenEpisodes:
    """The open episodes of a tenant, as they were found.

    Args:
        until: when it is looked for again, as of ``time.monotonic``.
        lost: how many cannot go on.
        open: ids of the others, the oldest first.
    """

    until: float
    lost: int
    open: Sequence[str]


@frozen
class Admission:
    """Begins episodes in a journal, up to a limit for each tenant.

    An environment that was changed leaves episodes that can never end.  If they counted, their
    tenant could begin no other for a day.  They are not ended here: another server of the same
    journal may still serve the environment as it was.

    Args:
        catalog: the environments.
        journal: where episodes are kept.
        limit: how many open episodes a tenant may have.
    """

    catalog: Catalog
    journal: Journal
    limit: int
    _known: dict[str, _OpenEpisodes] = field(factory=dict, init=False)

    async def begin(self, begun: EpisodeStart) -> EpisodeStart:
        """Keep a new episode; returns the one that was begun with the same key, where there is one.

        Raises:
            Problem: 429 when the tenant has too many open episodes.
        """
        if kept := await self.journal.begin(begun, self.limit):
            return kept
        found = await self._open_episodes(begun.tenant)
        if found.lost:
            kept = await self.journal.begin(begun, self.limit + found.lost)
        if kept is None:
            raise full(self.limit, found.open[:SHOWN], len(found.open))
        return kept

    def reason(self, entry: Entry) -> str:
        """Return why an open episode is lost; "" where it is not, or has ended."""
        if entry.ended:
            return ""
        return lost_reason(entry.begun, self.catalog.get(entry.begun.environment))

    async def _open_episodes(self, tenant: str) -> _OpenEpisodes:
        known = self._known.get(tenant)
        if known and time.monotonic() < known.until:
            return known
        entries = await self.journal.open_of(tenant)
        going = [each.begun.id for each in entries if not self.reason(each)]
        made = _OpenEpisodes(time.monotonic() + KNOWN, len(entries) - len(going), going)
        self._known[tenant] = made
        return made
