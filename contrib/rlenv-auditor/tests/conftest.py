"""Puts the zoo where tests, and the targets of the audits that they make, can import it; and makes
verifiers on the fly.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

ZOO = str(Path(__file__).parent / "zoo")
if ZOO not in sys.path:
    sys.path.append(ZOO)

TASKS: Sequence[Mapping[str, Any]] = [
    {"id": f"t{a}", "prompt": f"{a} + {a + 1}?", "answer": str(2 * a + 1)} for a in range(20, 28)
]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Writes a module and its tasks into an empty folder, which becomes the working directory."""

    def write(
        source: str, tasks: Sequence[Mapping[str, Any]] = TASKS, module: str = "written"
    ) -> Path:
        (tmp_path / f"{module}.py").write_text(source)
        (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
        monkeypatch.chdir(tmp_path)
        path = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, path)))
        return tmp_path

    return write
