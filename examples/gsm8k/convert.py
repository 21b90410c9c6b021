"""Turn GSM8K's example_model_solutions.jsonl into responses that `rlenv score` reads: one row per
model and problem.

python convert.py example_model_solutions.jsonl responses.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def rows(source: Path) -> Iterator[dict[str, Any]]:
    """One row per solution: prompt, response, model, is_correct, and the problem's index.

    Raises:
        ValueError: names the line that is no such record.
    """
    with source.open(encoding="utf-8") as lines:
        for index, line in enumerate(lines):
            try:
                record = json.loads(line)
                models = {k: v for k, v in record.items() if isinstance(v, dict)}
                if not models:
                    raise KeyError("an object per model")
                for model, found in models.items():
                    yield {
                        "index": index,
                        "prompt": record["question"],
                        "response": found["solution"],
                        "model": model,
                        "is_correct": found["is_correct"],
                    }
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{source}, line {index + 1}: expected one JSON object with `question` and, per"
                    f" model, `solution` and `is_correct` ({type(error).__name__}: {error})"
                ) from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source", type=Path, help="example_model_solutions.jsonl of GSM8K")
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
