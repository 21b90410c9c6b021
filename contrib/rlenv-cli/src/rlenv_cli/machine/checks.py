"""What this machine can do, one finding per question; nothing here prints."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from attrs import frozen
from rlenv.model.errors import RlenvError
from rlenv.model.values import Fault, Task, Verdict
from rlenv.workers import usable_cpus

from rlenv_cli.console import duration, one_line
from rlenv_cli.needed import missing

MIN_PYTHON = (3, 11)
PROBE_MEMORY_MB = 512
DIAGNOSIS_SECONDS = 60.0


@frozen
class Finding:
    """One line of the report; ``essential`` ones that are not ``ok`` make rlenv unusable."""

    what: str
    said: str
    ok: bool = True
    essential: bool = False


def findings(plugins: Sequence[str]) -> Iterator[Finding]:
    """Every check in the order of the report, with the sandboxes of these plugins, each as soon as
    it is known.
    """
    yield _python()
    yield _system()
    yield from _installed()
    yield from _plugins()
    for name in plugins:
        yield from _sandboxes(name)
    yield _secret()
    yield _cores()
    yield _started()
    yield _deadline()
    yield _memory()
    yield _extra("parquet", "reading .parquet", "pyarrow")
    remedy = missing("rlenv-testing")
    yield Finding("rlenv check", remedy or "the laws of rewards", remedy is None)


def _python() -> Finding:
    from rlenv.plugins.registry import version

    said = (
        f"{platform.python_implementation()} {platform.python_version()}, rlenv"
        f" {version('rlenv-core')}"
    )
    return Finding("python", said, sys.version_info >= MIN_PYTHON, essential=True)


def _system() -> Finding:
    said = f"{platform.system()} {platform.release()} on {platform.machine()}"
    if sys.platform == "darwin":
        said += "; workers have no memory limit here"
    return Finding("system", said, sys.platform in {"linux", "darwin"}, essential=True)


def _installed() -> Iterator[Finding]:
    """Every distribution of rlenv with its origin; another project of the same name is a
    failure.
    """
    import rlenv

    from .origins import CORE, origins, shadowed

    for origin in origins():
        said = f"{origin.name} {origin.version} from {origin.source}"
        if origin.warning:
            said = f"{said}: {origin.warning}"
        yield Finding("distribution", said, ok=not origin.warning, essential=bool(origin.warning))
    with suppress(PackageNotFoundError):
        if other := shadowed(str(rlenv.__file__), distribution(CORE)):
            why = f"`import rlenv` finds {other}, which is not a file of {CORE}"
            yield Finding("import rlenv", why, ok=False, essential=True)


def _plugins() -> Iterator[Finding]:
    """What is installed, from metadata: ``rlenv plugins`` loads it."""
    from rlenv.plugins.registry import installed

    for info in installed().values():
        why = f": {one_line(info.error, 300)}" if info.error else ""
        said = f"installed: {info.distribution} {info.version}{why}"
        yield Finding(f"plugin {info.name}", said, ok=info.error is None)


def _sandboxes(plugin: str) -> Iterator[Finding]:
    """What the sandboxes of a plugin say of themselves, in a process of their own, which may take a
    minute.
    """
    argv = [sys.executable, "-P", "-m", "rlenv_cli.machine.diagnose", plugin]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with tempfile.TemporaryFile() as heard:
        try:
            ran = subprocess.run(  # noqa: S603 - this very interpreter
                argv,
                stdin=subprocess.DEVNULL,
                stdout=heard,
                stderr=subprocess.DEVNULL,
                env=environ,
                timeout=DIAGNOSIS_SECONDS,
                check=False,
            )
            ended = "" if ran.returncode == 0 else f"it ended with status {ran.returncode}"
        except subprocess.TimeoutExpired:
            ended = f"it took more than {DIAGNOSIS_SECONDS:g} s"
        heard.seek(0)
        for line in heard:
            yield Finding(*json.loads(line))
    if ended:
        why = f"its sandboxes could not be asked: {ended}; `rlenv plugins` loads it here"
        yield Finding(f"plugin {plugin}", why, ok=False)


def _secret() -> Finding:
    from rlenv.identity.secret import key_id, state_folder

    source = "RLENV_SECRET" if os.environ.get("RLENV_SECRET") else f"{state_folder()}/secret"
    try:
        return Finding("secret", f"key {key_id()} from {source}", essential=True)
    except RlenvError as error:
        return Finding("secret", one_line(str(error), 400), ok=False, essential=True)


def _cores() -> Finding:
    quota = cpu_quota()
    limit = f", of which the container may use {quota:g}" if quota is not None else ""
    return Finding("cores", f"{usable_cpus()} usable{limit}")


def cpu_quota(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Cores that the control group allows, None without a limit."""
    try:
        allowed, period = (root / "cpu.max").read_text().split()
        return None if allowed == "max" else int(allowed) / int(period)
    except (OSError, ValueError):
        pass
    try:
        allowed = (root / "cpu/cpu.cfs_quota_us").read_text()
        period = (root / "cpu/cpu.cfs_period_us").read_text()
        return int(allowed) / int(period) if int(allowed) > 0 else None
    except (OSError, ValueError):
        return None


def _probe(stage: object, seconds: float, memory_mb: int | None = None) -> tuple[Verdict, float]:
    """The verdict of one attempt in a worker, and the seconds it took."""
    from rlenv.compose.composites import Slot
    from rlenv.environment import Environment

    slots = [Slot("probe", stage, timeout=seconds)]
    start = time.monotonic()
    try:
        with Environment("doctor", slots, memory_mb=memory_mb) as env:
            start = time.monotonic()
            verdict = env.evaluate(Task("?", id="probe"), "!")
    except (RlenvError, OSError) as error:
        verdict = Verdict(None, fault=Fault("pool", str(error)))
    return verdict, time.monotonic() - start


def _started() -> Finding:
    from .probes import Answers

    verdict, spent = _probe(Answers(), 30.0)
    if verdict.scored:
        return Finding("workers", f"the first answered after {duration(spent)}", essential=True)
    return Finding("workers", _why(verdict), ok=False, essential=True)


def _deadline() -> Finding:
    from .probes import Loops

    verdict, spent = _probe(Loops(), 0.5)
    kept = verdict.fault is not None and verdict.fault.kind == "timeout"
    said = f"a stage that never ends was killed at 0.5 s, known after {duration(spent)}"
    return Finding("deadlines", said if kept else _why(verdict), kept, essential=True)


def _memory() -> Finding:
    from .probes import Hoards

    verdict, _ = _probe(Hoards(), 30.0, PROBE_MEMORY_MB)
    kept = verdict.fault is not None and verdict.fault.kind == "memory"
    if kept:
        return Finding("memory limit", f"2 GiB refused under a limit of {PROBE_MEMORY_MB} MiB")
    said = "not enforced: a stage may use all memory" if verdict.scored else _why(verdict)
    return Finding("memory limit", said, ok=False)


def _why(verdict: Verdict) -> str:
    fault = verdict.fault
    return "it was scored" if fault is None else one_line(f"{fault.kind}: {fault.message}", 400)


def _extra(name: str, use: str, *modules: str) -> Finding:
    lacking = [module for module in modules if find_spec(module) is None]
    remedy = f"missing, for {use}: pip install {' '.join(lacking)}"
    return Finding(f"extra {name}", remedy if lacking else use, not lacking)
