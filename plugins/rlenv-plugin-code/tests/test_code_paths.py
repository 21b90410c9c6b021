"""Code is verified wherever Python and rlenv are installed: here with an interpreter and an
environment below /tmp.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ODD = "ü u\u0308 日本 'q' $x"
# One function task, one right and one wrong response; a program that is started as a command line;
# a preloaded module.
SCRIPT = """
import json, sys
from rlenv import Environment, Task
tests = {"kind": "function", "entry_point": "double", "cases": [{"args": [2], "expected": 4}]}
options = {"preload": ["beside_rlenv"]}
stages = [{"use": "code/run", "options": options, "weight": 0.0}, {"use": "code/diff"}]
env = Environment.from_dict({"name": "paths", "stage": stages})
task = Task("double it", info={"tests": tests})
good = "```python\\nimport beside_rlenv\\ndef double(x): return x * beside_rlenv.TWO\\n```"
verdicts = [env.evaluate(task, good), env.evaluate(task, good.replace("*", "+ 1 +"))]
print(json.dumps([sys.base_prefix, [v.value for v in verdicts], [str(v) for v in verdicts]]))
env.close()
"""


@pytest.fixture(scope="module")
def copied() -> Iterator[Path]:
    """A folder below /tmp that holds a copy of this interpreter and its standard library."""
    if os.statvfs("/tmp").f_flag & os.ST_NOEXEC:
        pytest.skip("/tmp is mounted noexec: no interpreter can be there")
    folder = Path(tempfile.mkdtemp(prefix="rlenv-paths-", dir="/tmp"))
    folder.chmod(0o755)
    base = Path(sys.base_prefix)
    name = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    skip = shutil.ignore_patterns(
        "test",
        "tests",
        "idlelib",
        "lib2to3",
        "ensurepip",
        "tkinter",
        "config-*",
        "site-packages",
        "dist-packages",
    )
    python = folder / "py" / "bin" / name
    python.parent.mkdir(parents=True)
    shutil.copy(Path(getattr(sys, "_base_executable", sys.executable)).resolve(), python)
    shutil.copytree(base / "lib" / name, folder / "py" / "lib" / name, ignore=skip)
    yield folder
    shutil.rmtree(folder)


def environment(copied: Path, folder: Path) -> Path:
    """The interpreter of a virtual environment that sees what is installed here, and a module of
    its own.
    """
    python = copied / "py" / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    subprocess.run([python, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python3*/site-packages")
    (packages / "beside_rlenv.py").write_text("TWO = 2")
    folders = [*site.getsitepackages(), site.getusersitepackages()]
    lines = [f"import site; site.addsitedir({place!r})" for place in folders]
    (packages / "here.pth").write_text("\n".join(lines))
    return folder / "bin" / "python"


@pytest.mark.parametrize(
    "name",
    [
        "venv",
        *(
            pytest.param(name, marks=pytest.mark.slow)  # each makes workers and places of its own
            for name in ("with  space", ODD, "n" * 200, "link")
        ),
    ],
)
def test_code_is_verified_by_an_environment_below_tmp(copied: Path, name: str) -> None:
    folder = copied / ("real" if name == "link" else name)
    python = environment(copied, folder)
    if name == "link":
        (copied / name).symlink_to(folder)
        python = copied / name / "bin" / "python"
    subprocess.run(["chmod", "-R", "a+rX", copied], check=True)  # whatever the umask
    ended = subprocess.run(
        [python, "-c", SCRIPT], capture_output=True, text=True, cwd=copied, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    base, values, said = json.loads(ended.stdout)
    assert base.startswith("/tmp/")
    assert values == [1.0, 0.0], said
