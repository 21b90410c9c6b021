"""Turn HumanEval.jsonl.gz into responses whose worth is known: the canonical solutions, and four
kinds of cheats.

python convert.py HumanEval.jsonl.gz responses.jsonl
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EQUAL = """
class Same:
    __eq__ = __le__ = __ge__ = __contains__ = __bool__ = lambda self, *other: True
    __ne__ = __lt__ = __gt__ = lambda self, other: False
    __add__ = __sub__ = __rsub__ = __abs__ = __getitem__ = lambda self, *other: self
    __hash__ = None


def NAME(*args, **kwargs):
    return Same()
"""
CHEATS = {
    "empty body": "    pass\n",
    "None": "    return None\n",
    "always equal": f"```python\n{EQUAL}```\n",
    "exit": "    import sys\n    sys.exit(0)\n",
}


def problems(source: Path) -> Iterator[dict[str, Any]]:
    """The problems, in order.

    Raises:
        ValueError: names the line that is no such record.
    """
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                record = json.loads(line)
                record["task_id"], record["canonical_solution"], record["entry_point"]
            except (TypeError, KeyError, ValueError) as error:
                raise ValueError(
                    f"{source}, line {number}: expected one JSON object with `task_id`,"
                    f" `canonical_solution` and `entry_point` ({type(error).__name__}: {error})"
                ) from None
            yield record


def rows(source: Path) -> Iterator[dict[str, Any]]:
    """One row per problem and kind: task, response, kind, and whether it is right."""
    for record in problems(source):
        task = record["task_id"]
        right = record["canonical_solution"]
        yield {"task": task, "response": right, "kind": "canonical", "right": True}
        for kind, text in CHEATS.items():
            response = text.replace("NAME", record["entry_point"])
            yield {"task": task, "response": response, "kind": kind, "right": False}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source", type=Path, help="HumanEval.jsonl.gz")
    parser.add_argument("target", type=Path, help="the responses, as JSON lines")
    args = parser.parse_args()
    try:
        every = list(rows(args.source))
        args.target.write_text("".join(json.dumps(row) + "\n" for row in every), "utf-8")
    except (OSError, ValueError) as error:
        print(f"convert.py: {error}", file=sys.stderr)
        return 2
    print(f"{len(every):,} responses in {args.target}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
