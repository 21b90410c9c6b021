"""Whoever gets an exception instead of an environment has no process to end."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest
from rlenv import ConfigError, Environment
from rlenv.runtime.worker_executor import WorkerExecutor
from rlenv.workers import process

START = """import subprocess
one = subprocess.Popen(["sleep", "987"], start_new_session={session})
open(__file__ + ".pid", "w").write(str(one.pid))
raise ImportError("no")
"""
ENDS = {
    "raises": "raise ImportError('no')",
    "exits": "import sys; sys.exit(3)",
    "dies": "import os; os._exit(3)",
    "interrupts": "raise KeyboardInterrupt",
    "needs a module": "import no_such_module",
    "class": "class Broken(NoSuchBase): pass",
    "starts a process": START.format(session=False),
    "starts a session": START.format(session=True),
    "kills its guard": (
        "import os, signal; os.kill(os.getppid(), signal.SIGKILL); raise ImportError('no')"
    ),
}


@pytest.fixture
def started(monkeypatch):
    """The workers of this test, as processes."""
    found = []
    start = process._popen

    def noted(*args):
        found.append(start(*args))
        return found[-1]

    monkeypatch.setattr(process, "_popen", noted)
    return found


def write(folder, body):
    (folder / "broken.py").write_text(f"{body}\ndef f(response):\n    return 1.0\n")
    (folder / "sound.py").write_text("def g(response):\n    return 1.0\n")


def load(folder, *uses, **options):
    tables = {"name": "e", "stage": [{"use": use} for use in uses]}
    return Environment.from_dict(tables, base_dir=folder, **options)


def assert_all_ended(started):
    assert started
    for worker in started:
        assert worker.poll() is not None
        with pytest.raises(ProcessLookupError):
            os.killpg(worker.pid, 0)


def is_running(pid):
    """Whether a process has not ended; one that nobody has waited for yet has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("end", ENDS)
def test_a_file_that_cannot_be_imported_leaves_no_process(tmp_path, started, end):
    write(tmp_path, ENDS[end])
    with pytest.raises(ConfigError, match="importing the file failed"):
        load(tmp_path, "./sound.py:g", "./broken.py:f", memory_mb=777)
    assert_all_ended(started)
    for file in tmp_path.glob("*.pid"):
        assert not is_running(int(file.read_text()))


def test_a_user_who_does_not_wait_for_the_import_leaves_no_process(tmp_path, started, monkeypatch):
    write(tmp_path, "")
    imports = WorkerExecutor._import_files

    def interrupted(self):
        imports(self)
        raise KeyboardInterrupt

    monkeypatch.setattr(WorkerExecutor, "_import_files", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load(tmp_path, "./sound.py:g", memory_mb=777)
    assert_all_ended(started)


def test_observers_that_are_none_leave_no_process(tmp_path, started):
    from rlenv.config.references import refer

    write(tmp_path, "")
    with pytest.raises(TypeError):
        Environment("e", refer("./sound.py:g", tmp_path), observers=7, memory_mb=777)
    assert not started


def test_options_for_an_installed_environment_leave_no_process(tmp_path, started, monkeypatch):
    from rlenv.config import load as loading
    from rlenv.plugins.entry_points import PluginInfo

    write(tmp_path, "")
    module = ModuleType("left_environments")
    module.make = lambda: load(tmp_path, "./sound.py:g", memory_mb=777)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    entry = PluginInfo("left", "left", "1", f"{module.__name__}:make")
    monkeypatch.setattr(loading, "by_name", lambda group: {"left": entry})
    with pytest.raises(ConfigError, match="cannot be set"):
        Environment.load("left", isolate=True)
    assert_all_ended(started)
