"""A program's own part of a child's life: Python source in this warm interpreter, or a command
line.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "main.py"
NOT_FOUND = 127


def python(source: bytes) -> int:
    """Run it as ``__main__``, to the status that an interpreter would end with."""
    module = type(sys)("__main__")
    vars(module)["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    sys.argv = [FILE]
    sys.path.insert(1, os.getcwd())  # after /box; not before START, when others may write there
    if "random" in sys.modules:  # left out when it was imported, so that all runs draw the same
        os.register_at_fork(after_in_child=sys.modules["random"].seed)
    gc.enable()
    try:
        exec(compile(source.decode("utf-8", "surrogatepass"), FILE, "exec"), module.__dict__)  # noqa: S102
        status = 0
    except SystemExit as stop:
        status = _status(stop)
    except BaseException as error:  # noqa: BLE001 - whatever it raises is its end
        status = 1
        _complain(error)
    _end()
    return status


def _complain(error: BaseException) -> None:
    """The traceback as the interpreter prints it, without our own frame."""
    trace = error.__traceback__
    try:
        rest = None if trace is None else trace.tb_next
        sys.excepthook(type(error), error.with_traceback(rest), rest)
    except BaseException:  # noqa: BLE001 - the program may have replaced anything
        return


def _status(stop: SystemExit) -> int:
    try:
        if stop.code is None:
            return 0
        if isinstance(stop.code, int):
            return stop.code & 0xFF
        sys.stderr.write("%s\n" % (stop.code,))
    except BaseException:  # noqa: BLE001 - as above
        return 1
    return 1


def _end() -> None:
    """What the interpreter does at its end, as far as a program can notice."""
    for step in (_join_threads, _exit_handlers, sys.stdout.flush, sys.stderr.flush):
        try:
            step()
        except BaseException:  # noqa: BLE001 - as above
            continue


def _join_threads() -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()


def _exit_handlers() -> None:
    import atexit

    atexit._run_exitfuncs()


def native(words: list[bytes], environment: Mapping[str, str]) -> int:
    """Become this command line; returns only when that cannot be."""
    for name in ("SIGPIPE", "SIGXFSZ"):  # which Python ignores, and execve would hand on
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvpe(words[0], words, environment)  # noqa: S606
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or str(error)
        os.write(2, ("%s: %s\n" % (os.fsdecode(words[0]), said)).encode("utf-8", "replace"))
    return NOT_FOUND
