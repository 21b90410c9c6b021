"""``judge/evolving``: a rubric that grows between training steps by what separates a group of
responses.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from attrs import asdict, evolve, field, frozen
from rlenv import Attempt, ConfigError, Outcome, Task
from rlenv.authoring import File, Safe

from rlenv_plugin_judge.judging import label_key
from rlenv_plugin_judge.protocol.prefilter import contentless
from rlenv_plugin_judge.rubric.criterion import Criterion
from rlenv_plugin_judge.rubric.evolving import (
    Proposal,
    against,
    refused,
    same,
    spread,
    told_already,
)
from rlenv_plugin_judge.rubric.proposing import propose
from rlenv_plugin_judge.rubric.store import Evolved, Retired, Store, Version
from rlenv_plugin_judge.rubric.tree import Group
from rlenv_plugin_judge.rubric.tree import Rubric as Tree
from rlenv_plugin_judge.transport.errors import TooLong

from .rubric import Rubric, _together

__all__ = ["Evolving"]

LATEST = "latest"
_READ = 16  # responses of a group; of a larger one, so many drawn by key
_SHOWN = 8000  # characters of each; the middle of a longer one is left out


@frozen(kw_only=True, slots=False)
class Evolving(Rubric):
    """A rubric that a person wrote (``criteria``, ``rubric`` or ``source``), and what grew on it,
    task by task.

    ``check`` only reads: the version is fixed when the stage is made, is in its fingerprint and in
    every score, and any version in ``store`` can be asked for again.  ``evolve`` writes the next
    version.  What grew is worth ``± share · Σ positive points of the seed / most`` a criterion, so
    all of it together never outweighs the seed.

    Args:
        store: a folder for versions, a file each.
        version: a version's name, "latest", or "seed".
        most: criteria that may have grown for one task; those that tell the least apart make room.
        share: what they are worth at most together, as a share of the seed's positive points, in
            (0, 1].
        min_spread: standard deviation over a group, in (0, 1/2], from which a criterion tells
            responses apart.
        patience: a criterion that every response does justice to in so many groups in a row is
            retired.  One that no response does justice to stays until ``most`` others tell more
            apart.
    """

    store: File = field(factory=File)
    version: Safe[str] = LATEST
    most: int = 5
    share: float = 0.5
    min_spread: float = 0.1
    patience: int = 2
    _grown: Version = field(init=False, factory=Version, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not self.store:
            raise ConfigError("store: name the folder in which versions of this rubric are kept")
        if not (self.most >= 1 and self.patience >= 1):
            raise ConfigError("most and patience are integers from 1")
        if not (0 < self.share <= 1 and 0 < self.min_spread <= 0.5):
            raise ConfigError("share lies in (0, 1], and min_spread in (0, 0.5]")
        if self._common is not None:
            _flat(self._common)
        grown = self._found(self.version)
        object.__setattr__(self, "_grown", grown)
        object.__setattr__(self, "version", grown.name)  # the fingerprint names what is scored by

    def _found(self, version: str) -> Version:
        seed = Version(seed=self._seed())
        store = Store(File(self.store).path)
        names = store.names()
        if version in {"seed", seed.name} or (version == LATEST and not names):
            return seed
        found = store.read(names[-1] if version == LATEST else version)
        if found.seed != seed.seed:
            raise ConfigError(
                f"store: version {found.name} of {self.store} grew on other criteria, share or most"
                " than these; take another folder, or what it began with"
            )
        return found

    def _seed(self) -> str:
        written: Any = self.source
        if self._common is not None:
            written = [asdict(criterion) for criterion in self._common.criteria]
        points = {"share": self.share, "most": self.most}  # what the same version would score by
        return hashlib.sha256(json.dumps([written, points], sort_keys=True).encode()).hexdigest()

    async def check(self, attempt: Attempt) -> Outcome:
        """As of a rubric.  Every score names the version, also that of a blank response, which
        costs no call.
        """
        outcome = await super().check(attempt)
        return evolve(outcome, data={**outcome.data, "rubric_version": self.version})

    def at(self, version: str) -> Evolving:
        """The same stage at another version.

        Raises:
            ConfigError: there is none of this name.
        """
        return evolve(self, version=version)

    def _of(self, task: Task) -> Tree:
        seed = super()._of(task)
        _flat(seed)
        points = self.share * sum(c.points for c in seed.criteria if c.points > 0) / self.most
        grown = [_criterion(each, points) for each in self._grown.of(_name(task))]
        return Tree(Group(criteria=(*seed.criteria, *grown)), self.version)

    def evolve(self, group: Sequence[Attempt], quality: Sequence[float] | None = None) -> str:
        """As ``aevolve``, where no event loop runs.

        Raises:
            ConfigError: one does; besides, as ``aevolve``.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.aevolve(group, quality))
        raise ConfigError("an event loop runs here: await aevolve(group) instead of evolve(group)")

    async def aevolve(
        self, group: Sequence[Attempt], quality: Sequence[float] | None = None
    ) -> str:
        """Write the next version from what separates a group, and return its name.

        The latest one's if nothing new does.

        It always begins from the latest version in the store, and this stage stays at its own;
        ``at`` moves on. A proposal becomes a criterion when it is one plain line that quotes no
        response, is neither known nor the negation of something known, and, judged like any
        criterion, tells the group apart as none of the others does.

        Args:
            group: responses to one task; equal ones count once, blank and overlong ones not at all.
            quality: what each of them is worth, where tests or people know; then no criterion is
                taken that would pay the worse ones.

        Raises:
            ConfigError: the responses are to several tasks, or not one quality each.
            VerifierFault: the judge gave no verdict; nothing is written.
        """
        latest = self.at(LATEST)
        attempts, worth = _readable(group, quality, self.max_chars)
        if len(attempts) < 2:
            return latest.version
        try:
            return await latest._next(attempts, worth)
        except TooLong:
            message = (
                "the group is longer than the judge can read: fewer or shorter responses, or a"
                " judge that reads more"
            )
            raise ConfigError(message) from None

    async def _next(self, attempts: Sequence[Attempt], worth: Sequence[float] | None) -> str:
        task = attempts[0].task
        active = self._of(task).criteria
        gone = [each.text for each in self._grown.retired if each.task == _name(task)]
        told = await self._told(attempts, active)
        said = await propose(
            self.judge.client(),
            prompt=task.prompt,
            responses=[_cut(attempt.visible) for attempt in attempts],
            known=[criterion.text for criterion in active],
            most=self.most,
            key=_group_key(attempts, self.version),
            attempts=self.attempts,
        )
        known = [*(criterion.text for criterion in active), *gone]
        fresh = self._fresh(said, known, [attempt.visible for attempt in attempts], _name(task))
        judged = await self._told(attempts, [_criterion(each, 1.0) for each in fresh])
        taken = self._taken(fresh, told, judged, worth)
        return self._written(_name(task), told, judged, taken)

    async def _told(
        self, attempts: Sequence[Attempt], criteria: Sequence[Criterion]
    ) -> dict[str, list[float]]:
        """How far each criterion holds for each response."""
        if not criteria:
            return {}
        judged = await _together([self.judged(attempt, criteria) for attempt in attempts])
        return {c.id: [each.shares[c.id] for each in judged] for c in criteria}

    def _fresh(
        self, said: Sequence[Proposal], known: Sequence[str], responses: Sequence[str], task: str
    ) -> list[Evolved]:
        """Proposals that may become criteria and say something new."""
        texts = list(known)
        fresh = list[Evolved]()
        for proposal in said:
            text = proposal.text
            if refused(text, responses) or any(same(text, other) for other in texts):
                continue
            name = f"e{self._grown.number + 1}-{len(fresh) + 1}"
            fresh.append(Evolved(id=name, task=task, text=text, positive=proposal.positive))
            texts.append(text)
        return fresh

    def _taken(
        self,
        fresh: Sequence[Evolved],
        told: Mapping[str, Sequence[float]],
        judged: Mapping[str, Sequence[float]],
        worth: Sequence[float] | None,
    ) -> list[Evolved]:
        """Those that tell the group apart, each in a way of its own."""
        known = dict(told)
        taken = list[Evolved]()
        for each in sorted(fresh, key=lambda each: -spread(judged[each.id])):
            shares = judged[each.id]
            if spread(shares) < self.min_spread or told_already(shares, known):
                continue
            if worth is not None and against(shares, worth, positive=each.positive):
                continue
            known[each.id] = shares
            taken.append(each)
        return taken

    def _is_met(self, shares: Sequence[float], *, positive: bool) -> bool:
        """Whether a group does alike, and what a criterion asks for: what no response does is still
        to be learned.
        """
        return spread(shares) < self.min_spread and (fmean(shares) >= 0.5) == positive

    def _written(
        self,
        task: str,
        told: Mapping[str, Sequence[float]],
        judged: Mapping[str, Sequence[float]],
        taken: Sequence[Evolved],
    ) -> str:
        old = self._grown
        staying = list[Evolved]()
        gone = list[Retired]()
        for each in old.of(task):
            idle = each.idle + 1 if self._is_met(told[each.id], positive=each.positive) else 0
            if idle >= self.patience:
                gone.append(_retired(each, f"met by all responses {idle} times in a row"))
            else:
                staying.append(evolve(each, idle=idle))
        spreads = {name: spread(shares) for name, shares in {**told, **judged}.items()}
        ranked = sorted([*staying, *taken], key=lambda each: -spreads[each.id])
        for each in ranked[self.most :]:
            if each in staying:
                gone.append(_retired(each, "others tell more apart"))
        kept = [each for each in old.evolved if each.task != task] + ranked[: self.most]
        evolved = tuple(sorted(kept, key=lambda each: (each.task, each.id)))
        if evolved == old.evolved:
            return old.name
        store = Store(File(self.store).path)
        if not old.number:
            store.write(old)
        following = evolve(old, number=old.number + 1, parent=old.name, evolved=evolved)
        return store.write(evolve(following, retired=(*old.retired, *gone)))


def _flat(seed: Tree) -> None:
    if seed.root.groups:
        raise ConfigError("a rubric that evolves begins with criteria, and not with groups of them")
    if grown := [c.id for c in seed.criteria if re.fullmatch(r"e\d+-\d+", c.id)]:
        raise ConfigError(f"criterion {grown[0]!r}: such ids are kept for criteria that grew")


def _criterion(each: Evolved, points: float) -> Criterion:
    return Criterion(id=each.id, text=each.text, points=points if each.positive else -points)


def _retired(each: Evolved, why: str) -> Retired:
    return Retired(id=each.id, task=each.task, text=each.text, positive=each.positive, why=why)


def _name(task: Task) -> str:
    return task.id or hashlib.sha256(task.prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _readable(
    group: Sequence[Attempt], quality: Sequence[float] | None, longest: int
) -> tuple[list[Attempt], list[float] | None]:
    """What of a group is read, in an order that no response decides, and what each is worth."""
    if len({_name(attempt.task) for attempt in group}) > 1:
        raise ConfigError("a group is of one task; evolve task by task")
    if quality is not None and len(quality) != len(group):
        raise ConfigError(f"quality: {len(group)} numbers, one per response, not {len(quality)}")
    worth = dict(zip(range(len(group)), quality or [0.0] * len(group), strict=True))
    first: dict[str, int] = {}
    for place, attempt in enumerate(group):
        if not contentless(attempt.visible) and len(attempt.visible) <= longest:
            first.setdefault(attempt.visible, place)
    places = sorted(first.values(), key=lambda place: label_key(group[place], "group"))[:_READ]
    found = [group[place] for place in places]
    return found, None if quality is None else [worth[place] for place in places]


def _group_key(attempts: Sequence[Attempt], version: str) -> bytes:
    keys = sorted(label_key(attempt, "group", version) for attempt in attempts)
    return hmac.new(keys[0], b"".join(keys), "sha256").digest()


def _cut(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n[{len(text) - _SHOWN} characters left out]\n{text[-half:]}"
