"""The verdicts of a batch, group by group where stages compare responses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from rlenv import ConfigError, Environment, Verdict

from .rows import Row

AT_ONCE = 8  # groups that are judged at the same time


def needs_no_group(env: Environment, who: str) -> None:
    """Reject stages that compare the responses to one task.

    Raises:
        ConfigError: when the environment has such a stage.
    """
    if env.group_only:
        paths = ", ".join(env.group_only)
        lack = f"{paths}: compares the responses to one task, but {who} gives one at a time"
        raise ConfigError(f"{lack}; use a trainer that gives whole groups, such as TRL")


def judge(
    env: Environment, rows: Sequence[Row], size: int | None = None, *, hint: str | None = None
) -> list[Verdict]:
    """A verdict for each row, in order.

    Args:
        env: what judges.
        rows: as ``Environment.evaluate_many`` takes them; the responses to one task stand together.
        size: how many responses a task has; None: unknown.
        hint: for the first batch, in which rows that all make no sense are a mistake in the set-up;
            ends its message.

    Raises:
        ConfigError: when a stage compares responses and the batch holds part of a group, and for
            that mistake.
    """
    verdicts = _judged(env, rows, size)
    lacks = [v.fault.message for v in verdicts if v.fault is not None and v.fault.kind == "input"]
    if hint is not None and lacks and len(lacks) == len(verdicts):
        raise ConfigError(f"{env.name}: {lacks[0]}{hint}")
    return verdicts


def _judged(env: Environment, rows: Sequence[Row], size: int | None) -> list[Verdict]:
    if not env.group_only:
        return list(env.evaluate_many(rows))
    whole = list(groups(rows, size))
    with ThreadPoolExecutor(min(AT_ONCE, len(whole) or 1)) as pool:
        judged = pool.map(lambda group: _judge_group(env, group), whole)
        return [verdict for verdicts in judged for verdict in verdicts]


def _judge_group(env: Environment, group: Sequence[Row]) -> list[Verdict]:
    first = group[0]
    task = env.tasks.by_id(first[0]) if len(first) == 3 else first[0]
    return env.evaluate_group(task, [row[-1] for row in group])


def groups(rows: Sequence[Row], size: int | None) -> Iterator[Sequence[Row]]:
    """The rows of each task, ``size`` at a time.

    Raises:
        ConfigError: for a part of a group: fewer than ``size``, or one where the size is unknown.
    """
    start = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and rows[end][:-1] == rows[start][:-1]:
            continue
        many = end - start
        if many % (size or many) or (size is None and many == 1):
            wanted = f"the {size} responses" if size else "several responses"
            lack = f"a stage compares {wanted} to one task, and the batch holds {many} of them"
            raise ConfigError(f"{lack}; let each process score whole groups")
        yield from (rows[at : at + (size or many)] for at in range(start, end, size or many))
        start = end
