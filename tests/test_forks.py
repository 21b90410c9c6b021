"""A child forked while other threads use rlenv for the first time uses it too;
`benchmarks/forks.py` counts many.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import rlenv
from forking import KINDS

FORKING = Path(__file__).parent / "helpers" / "forking.py"


@pytest.mark.parametrize("kind", KINDS)
def test_a_child_that_is_forked_during_the_first_use_does_not_hang(kind: str) -> None:
    command = [sys.executable, str(FORKING), kind, "0.002", "0.02", "0.03"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.stdout.split("\n") == ["ok", "ok", "ok", "parent ok", ""], ran.stderr


def test_a_fork_waits_for_an_import_of_another_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rlenv.__name__ in sys.modules  # which is enough
    begun = tmp_path / "begun"
    (tmp_path / "slow_to_import.py").write_text(
        f"import time; open({str(begun)!r}, 'w').close(); time.sleep(0.5); WHOLE = 1"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=__import__, args=("slow_to_import",))
    thread.start()
    while not begun.exists():
        time.sleep(0.001)
    pid = os.fork()
    if pid == 0:
        import slow_to_import  # type: ignore[import-not-found]

        os._exit(slow_to_import.WHOLE)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
