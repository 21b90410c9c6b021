"""The words of SQL, and to what class each token of a statement belongs."""

from __future__ import annotations

from typing import Final

__all__ = ["ALSO_FUNCTIONS", "KEYWORDS", "class_of"]

_WRITES: Final = frozenset(
    """
    INSERT UPDATE DELETE MERGE REPLACE UPSERT CREATE DROP ALTER TRUNCATE INTO GRANT REVOKE ATTACH DETACH PRAGMA
    VACUUM REINDEX COPY CALL EXEC EXECUTE OUTFILE DUMPFILE LOCK HANDLER
    """.split()  # noqa: SIM905
)
ALSO_FUNCTIONS: Final = frozenset(("REPLACE", "INSERT", "TRUNCATE"))  # of strings and numbers
KEYWORDS: Final = frozenset(
    """
    SELECT FROM WHERE AND OR NOT IN IS NULL AS ON USING JOIN LEFT RIGHT FULL INNER OUTER CROSS NATURAL LATERAL
    GROUP BY ORDER HAVING LIMIT OFFSET FETCH FIRST NEXT ROWS ROW ONLY UNION ALL INTERSECT EXCEPT MINUS DISTINCT
    CASE WHEN THEN ELSE END LIKE ILIKE GLOB REGEXP RLIKE SIMILAR TO BETWEEN EXISTS ANY SOME ASC DESC NULLS LAST
    OVER PARTITION WINDOW RANGE GROUPS UNBOUNDED PRECEDING FOLLOWING CURRENT WITH RECURSIVE MATERIALIZED VALUES
    CAST COLLATE ESCAPE INTERVAL FILTER WITHIN TABLESAMPLE TRUE FALSE EXPLAIN ANALYZE QUERY PLAN VERBOSE
    STRAIGHT_JOIN QUALIFY TOP PERCENT TIES ISNULL NOTNULL EXTRACT YEAR MONTH DAY HOUR MINUTE SECOND AT TIME ZONE
    WITHOUT DOUBLE PRECISION VARYING UNKNOWN DIV MOD XOR SEPARATOR ROLLUP CUBE GROUPING SETS PIVOT UNPIVOT
    EXCLUDE INDEXED INDEX USE FORCE IGNORE TIMESTAMP DATE BINARY CHARACTER SET SYSTEM BERNOULLI REPEATABLE
    ORDINALITY ASYMMETRIC SYMMETRIC UNIQUE MATCH AGAINST APPLY
    """.split()  # noqa: SIM905
)
_SIGNS = {"(": "(", ")": ")", ";": ";", ":=": ":", **dict.fromkeys("\\{}…“”’", "x")}
_LETTERS = {"string": "s", "number": "d", "name": "n"}


def class_of(kind: str, text: str) -> str:
    """One letter: of a word "w" (it writes, or is FOR), "k" (a keyword) or "b"; "n", "s" and "d" of a name, a
    string and a number; of a sign itself for ``(``, ``)`` and ``;``, ":" for ``:=``, "x" where SQL has none
    such, "p" for the rest."""
    if kind == "word":
        return "w" if text in _WRITES or text == "FOR" else "k" if text in KEYWORDS else "b"
    return _SIGNS.get(text, "p") if kind == "sign" else _LETTERS[kind]
