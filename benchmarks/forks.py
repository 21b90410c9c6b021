"""Forks while other threads use rlenv for the first time, and how many of the children hang.

``python benchmarks/forks.py [FORKS]``: 200 unless it says otherwise, in as many fresh processes as
two forks each need.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FORKING = Path(__file__).parents[1] / "tests" / "helpers" / "forking.py"
KINDS = ("worker", "inline", "caller", "async", "file")
EACH = 2  # forks of one process
LATEST = 0.1  # seconds from the beginning of the first use, or from the fork before


def forked(seed: int) -> tuple[str, list[str], str]:
    """The kind of use, what became of the forks and of the parent, and what was said."""
    chance = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    delays = [f"{chance.uniform(0, LATEST):.4f}" for _ in range(EACH)]
    command = [sys.executable, str(FORKING), kind, *delays]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    return kind, ran.stdout.splitlines(), ran.stderr


def main() -> None:
    forks = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    said: list[str] = []
    with ThreadPoolExecutor(2) as pool:
        for kind, lines, err in pool.map(forked, range(-(-forks // EACH))):
            counts[kind].update(lines)
            if set(lines) != {"ok", "parent ok"}:
                said.append(err)
    for kind, found in counts.items():
        print(f"{kind:7}", dict(found))
    print("\n".join(said[:5])[:6000])
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
