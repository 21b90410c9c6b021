"""Questions about trajectories: SQL, profiles, and two of them beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, fields
from rlenv import InputError
from rlenv_cli.console import one_line

from rlenv_serve.http.keys import LOCAL_OPERATOR

from .episode import FinishedEpisode

if TYPE_CHECKING:
    import pyarrow as pa

Row = Sequence[object]
MEASURES = ("turns", "calls", "tools", "tokens", "seconds")
KINDS = {"str": "string", "int": "int64", "float": "float64", "float | None": "float64"}


def table(rows: Iterable[FinishedEpisode]) -> pa.Table:
    """The rows as a table of Arrow; ``rollout`` is JSON text.

    Raises:
        InputError: pyarrow is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(
            'this needs pyarrow and DuckDB: pip install "./contrib/rlenv-serve[parquet]", in a'
            " clone"
        ) from None
    schema = pa.schema(
        [(each.name, getattr(pa, KINDS[str(each.type)])()) for each in fields(FinishedEpisode)]
    )
    return pa.Table.from_pylist([asdict(row) for row in rows], schema)


def export(rows: Iterable[FinishedEpisode], path: Path) -> int:
    """Write a file of Parquet, and return how many rows it has.

    Args:
        rows: in order.
        path: of the file.
    """
    made = table(rows)
    from pyarrow.parquet import write_table

    write_table(made, path)
    return int(made.num_rows)


def select(rows: Iterable[FinishedEpisode], query: str) -> tuple[list[str], list[Row]]:
    """Return the names and rows that a query of DuckDB over the table ``trajectories`` gives. It
    reaches no files.

    Args:
        rows: of the table.
        query: in SQL of DuckDB.

    Raises:
        InputError: the query is wrong, or DuckDB is not installed.
    """
    made = table(rows)
    import duckdb

    with duckdb.connect(config={"enable_external_access": False}) as connection:
        connection.register("trajectories", made)
        try:
            found = connection.execute(query)
            names = [str(each[0]) for each in found.description or ()]
            return names, [tuple(row) for row in found.fetchall()]
        except duckdb.Error as error:
            raise InputError(f"the query: {error}") from None


def profile(rows: Iterable[FinishedEpisode], mark: float) -> tuple[list[str], list[Row]]:
    """Return means by environment and by whether the reward reached ``mark``.

    Args:
        rows: in any order.
        mark: in [0, 1].
    """
    outcome = (
        f"case when reward is null then 'unscored' when reward >= {mark} then 'pass' else"
        " 'fail' end"
    )
    means = ", ".join(f"round(avg({name}), 3) as {name}" for name in MEASURES)
    query = (
        f"select environment, {outcome} as outcome, count(*) as episodes,"  # noqa: S608 - no text of a user
        f" {means} from trajectories group by all order by all"
    )
    return select(rows, query)


def compare(first: FinishedEpisode, second: FinishedEpisode) -> tuple[list[str], list[Row]]:
    """Compare two trajectories beside each other: what they came to, and message by message.

    Args:
        first: one trajectory.
        second: another one.
    """
    # Who can open the store can read all of it.
    sides = first.as_seen_by(LOCAL_OPERATOR), second.as_seen_by(LOCAL_OPERATOR)
    names = ("environment", "task", "agent", "stop", "reward", *MEASURES)
    rows: list[Row] = [(name, *(each[name] for each in sides)) for name in names]
    scores = [{stage["stage"]: stage["score"] for stage in each["stages"]} for each in sides]  # type: ignore[attr-defined] # as `told` makes it
    rows += [
        (f"stage {name}", *(each.get(name) for each in scores))
        for name in {**scores[0], **scores[1]}
    ]
    pairs = zip_longest(*(each["messages"] for each in sides), fillvalue={})  # type: ignore[call-overload] # as above
    for number, (left, right) in enumerate(pairs):
        mark = "=" if left == right else "≠"
        rows.append((f"{number} {mark}", _message(left), _message(right)))
    return ["", first.id[:8], second.id[:8]], rows


def _message(message: dict[str, Any]) -> str:
    functions = [call["function"] for call in message.get("tool_calls", ())]
    calls = [f"{each['name']}({each['arguments']})" for each in functions]
    return one_line(
        " ".join([f"{message.get('role', '')}:", str(message.get("content") or ""), *calls]), 160
    )
