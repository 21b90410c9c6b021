"""An env.toml may name hundreds of functions of one file: it is parsed once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from rlenv.config import references


def test_a_file_is_parsed_once_however_many_functions_of_it_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"tool_{i}" for i in range(64)]
    source = "\n".join(f"def {name}(a: int, *, b: str = 'x') -> int: ..." for name in names)
    (tmp_path / "tools.py").write_text(source)
    parsed = list[object]()
    parse = ast.parse

    def counting(*given: object) -> ast.AST:
        parsed.append(given)
        return parse(*given)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(ast, "parse", counting)
    found = [references.refer(f"./tools.py:{name}", tmp_path) for name in names]
    again = references.refer("./tools.py:tool_0", tmp_path)

    assert len(parsed) == 1
    assert [each.__qualname__ for each in found] == names
    assert str(again.__signature__) == str(found[0].__signature__) == "(a, *, b=Ellipsis) -> 'int'"


def test_a_file_that_has_changed_is_parsed_again(tmp_path: Path) -> None:
    path = tmp_path / "tools.py"
    for parameter in ("a", "b"):
        path.write_text(f"def f({parameter}): ...")
        assert str(references.refer("./tools.py:f", tmp_path).__signature__) == f"({parameter})"
