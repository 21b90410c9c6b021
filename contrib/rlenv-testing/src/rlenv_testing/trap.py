"""An answer that breaks whatever works with it; to see what a stage makes of its own failures."""

from __future__ import annotations

from typing import Any, NoReturn


class Sabotage(Exception):
    """Raised by a trap."""


def _spring(*_: Any, **__: Any) -> NoReturn:
    raise Sabotage("the kit broke this value on purpose")


_SPRUNG = (
    "add and bool bytes call contains divmod enter eq float floordiv format ge getitem gt hash"
    " index int iter le len lt matmul mod mul ne neg next or pos pow radd repr reversed rmul rsub"
    " str sub truediv"
)


def _trapped() -> dict[str, Any]:
    return {f"__{name}__": _spring for name in _SPRUNG.split()}


class Trap:
    """Every operation raises Sabotage; it can be pickled and compared by identity only."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Sabotage("the kit broke this value on purpose")


for _name, _function in _trapped().items():
    setattr(Trap, _name, _function)
