"""Hold the rewards of `rlenv score` against the labels that came with the responses.

python agreement.py responses.jsonl scores.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Pair = tuple[dict[str, Any], dict[str, Any]]


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file.

    Raises:
        ValueError: names the line that is no JSON object.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: no JSON ({error})") from None
        if not isinstance(row, dict):
            raise ValueError(f"{path}, line {number}: expected a JSON object")
        found.append(row)
    return found


def paired(responses: Path, scores: Path) -> list[Pair]:
    """Each response with its score; both files are in the same order.

    Raises:
        ValueError: when they do not belong together.
    """
    labels = read(responses)
    header, *scored = read(scores) or [{}]
    if not str(header.get("schema", "")).startswith("rlenv.scores/"):
        raise ValueError(
            f"{scores}: expected the output of `rlenv score`; its first line has no schema"
        )
    if len(labels) != len(scored):
        raise ValueError(
            f"{scores} has {len(scored)} scores for {len(labels)} responses; finish it with `rlenv"
            " score --resume`"
        )
    if any("is_correct" not in row for row in labels):
        raise ValueError(
            f"{responses}: every row needs the column is_correct; make the file with convert.py"
        )
    return list(zip(labels, scored, strict=True))


def answer(score: dict[str, Any]) -> str:
    """What the verifier read as the final answer."""
    for stage in score["stages"]:
        if "extracted" in (stage.get("data") or {}):
            return str(stage["data"]["extracted"]) or "(none)"
    return "(none)"


def gold(score: dict[str, Any]) -> str:
    for stage in score["stages"]:
        if "gold" in (stage.get("private") or {}):
            return ", ".join(stage["private"]["gold"])
    return "?"


def report(pairs: Iterable[Pair]) -> None:
    count: Counter[str] = Counter()
    differ = []
    for label, score in pairs:
        if score["reward"] is None:
            count["unscored"] += 1
        elif (score["reward"] >= 1) == bool(label["is_correct"]):
            count["agree"] += 1
        else:
            count["differ"] += 1
            differ.append((label, score))
    judged = count["agree"] + count["differ"]
    share = f"{count['agree'] / judged:.4%}" if judged else "nothing was scored"
    print(
        f"{count['agree']:,} of {judged:,} rewards agree with the labels ({share});"
        f" {count['unscored']} unscored"
    )
    for label, score in differ:
        side = "right" if score["reward"] >= 1 else "wrong"
        print(
            f"problem {label.get('index', score['task'])}, {label.get('model', '?')}: read"
            f" {answer(score)!r}, gold {gold(score)!r}; we say {side}, the label says"
            f" {'right' if label['is_correct'] else 'wrong'}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("responses", type=Path, help="made by convert.py")
    parser.add_argument("scores", type=Path, help="written by rlenv score")
    args = parser.parse_args()
    try:
        report(paired(args.responses, args.scores))
    except (OSError, ValueError) as error:
        print(f"agreement.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
