"""How long a program is believed to have waited for a processor, from what the kernel says of its
threads.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rlenv_plugin_sandbox.guest import delays


class Threads:
    """Threads of a program as folders of /proc, on a machine of two processors."""

    def __init__(self, folder: Path, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folders = [folder / str(number) for number in range(many)]
        for each in self.folders:
            each.mkdir()
        self.now = 0.0
        monkeypatch.setattr(delays, "monotonic", lambda: self.now)
        monkeypatch.setattr(delays, "_OURS", str(folder / "ours"))
        monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
        self.delays = delays.Delays()
        self.pass_by(0.0, 0.0, 0.0)

    def pass_by(self, seconds: float, ran: float, waited: float) -> float:
        """Let all of them run and wait for so long; what is believed of that."""
        self.now += seconds
        for each in self.folders:
            file = each / "schedstat"
            before = [int(word) for word in file.read_text().split()] if file.exists() else [0, 0]
            file.write_text(f"{before[0] + int(ran * 1e9)} {before[1] + int(waited * 1e9)}")
        return self.delays.since(map(str, self.folders))


@pytest.mark.parametrize("many", [1, 2])
def test_what_one_waits_for_others_of_the_machine_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    threads = Threads(tmp_path, many, monkeypatch)

    assert threads.pass_by(1.0, 0.1, 0.9) == pytest.approx(0.9)


def test_what_busy_threads_wait_for_each_other_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads(tmp_path, 58, monkeypatch)
    alone = threads.pass_by(1.0, 2 / 58, 56 / 58)
    crowded = threads.pass_by(1.0, 0.2 / 58, 57.8 / 58)

    assert alone == pytest.approx(0.0)
    assert crowded == pytest.approx(1.8 / 58)


def test_threads_that_sleep_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = Threads(tmp_path, 58, monkeypatch)

    assert threads.pass_by(1.0, 0.0, 0.03) == pytest.approx(0.03)
