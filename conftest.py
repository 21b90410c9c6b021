"""Settings of every test run."""

from __future__ import annotations

import fcntl
import gc
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

# Test inputs are drawn from a secret; without one of its own a test run would leave a file in the
# user's home.
os.environ.setdefault("RLENV_SECRET", "for tests only")

# A shell starts what runs in the background with SIGINT ignored, and nohup with SIGHUP; so would be
# what the tests start.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)

# Helpers that the tests of every distribution import.
HELPERS = str(Path(__file__).parent / "tests" / "helpers")
if HELPERS not in sys.path:
    sys.path.append(HELPERS)

# Examples of each law that does not set its own number.
EXAMPLES = {"quick": 20, "full": 100}
MOST_QUICK = 60  # examples of any law in the profile `quick`
OWN = "_hypothesis_internal_use_settings"
# Neither the load of the machine nor the luck of a draw decides; `--hypothesis-profile=default`
# draws anew.
PATIENT = [*settings().suppress_health_check, HealthCheck.too_slow]
for name, examples in EXAMPLES.items():
    settings.register_profile(
        name,
        settings(),
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=PATIENT,
    )
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


TEMPORARY = (
    "rlenv-tests-"  # folders that hold the temporary files of one run each, and are locked by it
)
NEW = 60.0  # seconds in which a run locks its folder


def pytest_configure(config: pytest.Config) -> None:
    """Put temporary files into a folder of this run, so that nothing is left of what is killed."""
    if hasattr(config, "workerinput"):
        return
    outer = tempfile.gettempdir()
    for folder in Path(outer).glob(f"{TEMPORARY}*"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > NEW:
                _remove(folder, _locked(folder))
    made = Path(tempfile.mkdtemp(prefix=TEMPORARY))
    made.chmod(0o1777)  # as /tmp: programs of other users run in there
    lock = _locked(made)
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", outer)  # pytest keeps the files of some runs
    os.environ["TMPDIR"] = tempfile.tempdir = str(made)
    config.add_cleanup(lambda: _remove(made, lock))
    signal.signal(signal.SIGTERM, _terminated(os.getpid()))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try laws that set their own number with fewer examples, unless the profile is `full`."""
    if settings().max_examples != EXAMPLES["quick"]:
        return
    for item in items:
        law = getattr(item, "obj", None)
        own = getattr(law, OWN, None)
        if own is not None and own.max_examples > MOST_QUICK:
            setattr(getattr(law, "__func__", law), OWN, settings(own, max_examples=MOST_QUICK))


def pytest_collection_finish() -> None:
    """Leave what was collected, a million objects, out of every later collection of garbage."""
    gc.collect()
    gc.freeze()


def _locked(folder: Path) -> int:
    """A descriptor of the folder.

    Raises:
        OSError: another run holds it.
    """
    number = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(number)
        raise
    return number


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


def _terminated(owner: int) -> Callable[[int, FrameType | None], None]:
    """What SIGTERM does: the run ends as with Ctrl-C.  A fork of it just dies."""

    def end(number: int, _: FrameType | None) -> None:
        if os.getpid() == owner:
            pytest.exit("terminated", 128 + number)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return end
