"""Which rollouts are wanted, and which of them a file of rollouts holds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, cast

from attrs import frozen
from rlenv.environment import Environment
from rlenv.model.values import Task

from rlenv_cli.console import one_line
from rlenv_cli.mistakes import Mistake
from rlenv_cli.scores.file import Header, ScoresReader
from rlenv_cli.scoring.durable import DurableFile
from rlenv_cli.scoring.lines import encoded


@frozen
class Wanted:
    """One rollout: its task, and which of that task's it is, from 0."""

    task: Task
    sample: int

    def seed(self, run: int) -> int:
        """The rollout's own, in [0, 2^31); of the run's seed, the task and the number, and nothing
        else.
        """
        text = f"{run}/{self.task.id}/{self.sample}".encode("utf-8", "surrogatepass")
        return int.from_bytes(sha256(text).digest()[:4]) >> 1


def held(out: Path) -> set[tuple[str | None, object]]:
    """The rollouts that a file holds: task and number of each."""
    with ScoresReader(out) as reader:
        return {(row["task"], cast("dict[str, Any]", row).get("sample")) for row in reader.rows()}


def selected(env: Environment, ids: Sequence[str], split: str, limit: int | None) -> list[Task]:
    """The tasks that are wanted, in the environment's order.

    Args:
        ids: only these, unless there are none.
        split: only of this split, unless "".
        limit: the first so many.

    Raises:
        UnknownTask: when no task has an id.
        Mistake: when none is left.
    """
    named = {env.tasks.by_id(name).id for name in ids}
    kept = (
        task
        for task in env.tasks
        if (not named or task.id in named) and (not split or task.split == split)
    )
    found = list(islice(kept, limit))
    if not found:
        splits = ", ".join(one_line(each, 40) for each in dict.fromkeys(t.split for t in env.tasks))
        raise Mistake(
            f"no task is left to play; the environment has {len(env.tasks):,} (splits:"
            f" {splits or 'none'})"
        )
    return found


def same_policy(out: Path, header: Header) -> None:
    """Raises Mistake when the file holds rollouts of another policy, model or seed."""
    with ScoresReader(out) as reader:
        found = reader.header
    if found is not None and found.responses_sha256 != header.responses_sha256:
        raise Mistake(
            f"{one_line(str(out), 200)}: its rollouts are of another --policy (or its file has"
            " changed), --model or --seed; --resume goes on with the same ones. Give another name"
            " with -o, or --overwrite to start it anew"
        )


def drop_unscored(out: DurableFile) -> None:
    """Take the rows without a reward out of the file, in one step, so that they are missing.

    Raises:
        OSError: when it cannot be written anew; the file is as it was then.
    """
    fresh = Path(os.path.realpath(out.path) + ".new")
    with ScoresReader(out.path) as reader:
        if reader.header is None:
            return
        with fresh.open("wb") as target:
            target.write(reader.header.line())
            chain = reader.header.chain()
            kept = (row for row in reader.rows() if row["reward"] is not None)
            for number, row in enumerate(kept, 1):
                target.write(chain.link(encoded({**row, "row": number})))
            target.flush()
            os.fsync(target.fileno())
    out.replace(fresh)
