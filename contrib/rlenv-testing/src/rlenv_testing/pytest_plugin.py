"""pytest's side of rlenv: the laws' options, fixtures and marks.  Imports nothing of rlenv until it
is asked to.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import pytest

MARKS = ("docker", "gpu", "network")
LAWS = "rlenv_testing.laws."
SESSION = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rlenv", "the laws of rewards (pytest --pyargs rlenv_testing.laws)")
    add = group.addoption
    add(
        "--rlenv-plugin",
        action="append",
        default=[],
        metavar="NAME",
        help="a plugin, module:name, ./file.py:name or env.toml to check",
    )
    add("--rlenv-tasks", metavar="FILE", help="tasks of a function or stage that no plugin brings")
    add("--rlenv-right", metavar="FILE", help="its right responses: rows with task and response")
    add("--rlenv-stage", metavar="STAGE", help="only this stage, by its short name")
    add("--rlenv-law", action="append", default=[], metavar="LAW", help="only this law")
    add("--rlenv-seed", type=int, default=0, metavar="N", help="what examples are drawn with (0)")
    add(
        "--rlenv-examples",
        type=int,
        default=100,
        metavar="N",
        help="examples drawn for each law (100)",
    )
    add("--rlenv-json", metavar="FILE", help="write what came out of each law to this file")
    add(
        "--rlenv-progress",
        metavar="FILE",
        help="add a line of JSON to this file for each law on a stage as it ends",
    )


def pytest_configure(config: pytest.Config) -> None:
    for name in MARKS:
        config.addinivalue_line(
            "markers", f"needs_{name}: skipped, with the reason, where there is no {name}"
        )


def _session(config: pytest.Config) -> Any:
    if SESSION not in config.stash:
        from .session import Session

        config.stash[SESSION] = Session(config)
    return config.stash[SESSION]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "subject" in metafunc.fixturenames and metafunc.module.__name__.startswith(LAWS):
        found = _session(metafunc.config).subjects
        metafunc.parametrize("subject", found, ids=[subject.name for subject in found])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if SESSION in config.stash:
        _session(config).deselect(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    needed = [name for name in MARKS if item.get_closest_marker(f"needs_{name}") is not None]
    law = _is_law(item)
    if not needed and not law:
        return
    from .capabilities import lacking
    from .session import require_capabilities

    why = lacking(needed)
    if why is not None:
        pytest.skip(why)
    if law:
        require_capabilities(item.callspec.params["subject"])  # type: ignore[attr-defined]


def _is_law(item: pytest.Item) -> bool:
    return (
        SESSION in item.config.stash
        and item.nodeid.find("::") > 0
        and _module(item).startswith(LAWS)
    )


def _module(item: pytest.Item) -> str:
    return str(getattr(getattr(item, "module", None), "__name__", ""))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    report = yield
    if _is_law(item):
        from .law import LawUnchecked

        unchecked = call.excinfo is not None and call.excinfo.errisinstance(LawUnchecked)
        _session(item.config).note(item, report, unchecked=unchecked)
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    if SESSION in session.config.stash:
        _session(session.config).finish()


@pytest.fixture
def only_plugins() -> Iterator[Any]:
    """Make a registry that knows only core and these: ``only_plugins("math", mine=module)``."""
    from contextlib import ExitStack

    from .isolation import only

    with ExitStack() as stack:
        yield lambda *names, **by_hand: stack.enter_context(only(*names, **by_hand))
