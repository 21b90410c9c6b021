"""What stands for names, functions and objects of the solution in a test; see ``rlenv_asserts``.

``test_.ask`` puts a request to the solution.  What a thing equals, is less than or holds is decided
here, from plain values: an object that could decide it itself would be equal to whatever was
expected.
"""

from __future__ import annotations

import operator
import re
from itertools import islice

from rlenv_codec import decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOOSE = (set, frozenset, dict)
SEEN = 24  # of the latest things are looked at before the test makes another one


class Refused(TypeError):
    """A value of the solution that no test may decide by."""


class Named:
    """A name of the solution."""

    def __init__(self, test: Any, name: Any) -> None:
        self.test_ = test
        self.name_ = self.__name__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        before = len(self.test_.things)
        makes = self.test_.makes(self.name_)
        seen = self._seen() if makes else {}
        given = _text([args, kwargs]) if makes else None  # before the call can change it
        made = self.test_.ask("call", self.name_, args, kwargs, makes)
        if isinstance(made, Thing):
            fresh = given is not None and made.place_ >= before
            made.made_as_(self.name_, *decode(given or b"[[],{}]"), fresh)
            object.__setattr__(made, "seen_", seen)
        return made

    def _seen(self) -> Any:
        """What the latest objects hold, by their id."""
        late = [*islice(reversed(self.test_.things.values()), SEEN)]
        return {id(thing): _text(thing) for thing in late if type(thing) is Extended}

    def __getattr__(self, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.test_.ask("get", self.name_, [name], {}, self.test_.makes(self.name_))

    def __bool__(self) -> None:
        raise Refused("a name of the solution was given where a plain value was expected")

    def __instancecheck__(self, value: Any) -> Any:
        return issubclass(type(value), Thing) and value.made_[0] == self.name_


class Function:
    """A function that the solution returned."""

    def __init__(self, test: Any, number: Any, objects: Any) -> None:
        self.test_ = test
        self.number_ = number
        self.objects_ = objects

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.test_.ask("call", self.number_, args, kwargs, self.objects_)

    def __bool__(self) -> None:
        raise Refused("a function of the solution was given where a plain value was expected")


class Thing:
    """An object of the solution: it may be asked, but what it equals is not its to say."""

    made_ = "", None, None  # (class, args, kwargs) where the test made it

    def __init__(self, test: Any, number: Any, objects: Any) -> None:
        object.__setattr__(self, "test_", test)
        object.__setattr__(self, "number_", number)
        object.__setattr__(self, "place_", len(test.things))  # among the things that are known
        object.__setattr__(self, "seen_", {})  # what others held before the test made it

    def made_as_(self, name: Any, args: Any, kwargs: Any, fresh: Any) -> None:
        """Note what the test made it of; an object that was there before is made of nothing."""
        made = (name, args, kwargs) if fresh else (name, None, None)
        object.__setattr__(self, "made_", made)

    def __getattr__(self, name: Any) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.test_.ask("get", self.number_, [name], {}, True)

    def __setattr__(self, name: Any, value: Any) -> None:
        self.test_.ask("set", self.number_, [name, value], {}, True)

    def __eq__(self, other: object) -> Any:
        if type(other) is Thing and other is not self:
            raise Refused("objects of the solution are not compared; compare what they return")
        return other is self

    def __hash__(self) -> Any:
        return hash(self.number_)

    def __bool__(self) -> None:
        raise Refused("an object of the solution was given where a plain value was expected")


def _special(name: Any) -> Any:
    def method(self, *args: Any, **kwargs: Any) -> Any:
        return self.test_.ask(name, self.number_, args, kwargs, True)

    return method


for _name in "len iter next getitem setitem delitem str repr call enter exit".split():  # noqa: SIM905
    setattr(Thing, "__%s__" % _name, _special("__%s__" % _name))


class Extended(Thing):
    """An object whose class extends a plain type: what it equals is decided here, by what it holds
    now.
    """

    @property
    def __class__(self) -> Any:
        return type(self.held_())

    def held_(self) -> Any:
        """What it holds, as a plain value."""
        return self.test_.ask("plain", self.number_, [], {}, False)

    def __getitem__(self, key: Any) -> Any:
        if type(key) is slice:
            return self.held_()[key]
        return Thing.__getitem__(self, key)


def _text(value: Any) -> Any:
    """The text of a value, or of what an object holds; None where that is not plain."""
    try:
        return encode(value.held_() if type(value) is Extended else value)
    except TypeError:
        return None


def _both(one: Any, other: Any, *, item: Any) -> Any:
    """The plain values of both.

    Two objects of the solution are no evidence, unless one holds what the test made it of, and the
    other one held the same before: the solution learns what is expected when that object is made.
    Nor is one that the test made and that holds something else, beside a plain value that the
    solution gave; where that may be one item of many, the object may hold what the test has put
    there since.
    """
    held = one.held_()
    if type(other) is not Extended:
        kept = item and one.number_ in one.test_.touched  # since it was made, it may hold more
        changed = one.made_[0] and not kept and not _as_made(one, held)
        if changed and _told(other, one.test_.told):
            raise Refused("an object that holds something else than it was made of")
        return held, other
    values = held, other.held_()
    if not (_known(one, other, *values) or _known(other, one, *values[::-1])):
        raise Refused("two objects of the solution's own were compared")
    return values


def _told(value: Any, told: Any) -> Any:
    """Whether a value is one of those that the solution gave, or in one: the text of a list has
    those of its items.
    """
    item = rb"(?<![^[,:])%s(?![^\],}])" % re.escape(_text(value) or b"")
    return any(re.search(item, _text(one) or b"") for one in told if type(one) is not Extended)


def _known(answer: Any, expected: Any, held: Any, wanted: Any) -> Any:
    before = expected.seen_.get(id(answer))
    settled = before is not None and before == _text(held)
    return _as_made(expected, wanted) and (settled or _as_made(answer, held))


def _as_made(thing: Any, held: Any) -> Any:
    _, args, kwargs = thing.made_
    if args is None:
        return False
    if isinstance(held, tuple) and held == (*args, *kwargs.values()):
        return True
    try:
        again = type(held)(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return again == held and all(_told_by(held, arg) for arg in args)


def _told_by(held: Any, arg: Any) -> Any:
    """Whether what an object holds tells what it was made of.

    The solution chose its class: a set or dict forgets an order, and a number what is behind its
    point.
    """
    if isinstance(held, (int, float)):
        return arg in (held, str(held))
    if isinstance(arg, dict):
        return isinstance(held, (dict, str))
    return not isinstance(held, LOOSE) or isinstance(arg, LOOSE) or len(arg) < 2


def _decided(deed: Any, *, turned: Any = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        one, two = _both(self, other, item=deed is operator.contains)
        return deed(two, one) if turned else deed(one, two)

    return method


def _of_held(deed: Any) -> Any:
    return lambda self, *args: deed(self.held_(), *args)


for _name in ["eq", "ne", "lt", "le", "gt", "ge", "contains"]:
    setattr(Extended, "__%s__" % _name, _decided(getattr(operator, _name)))
for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"]:
    _deed = getattr(operator, "__%s__" % _name)
    setattr(Extended, "__%s__" % _name, _decided(_deed))
    setattr(Extended, "__r%s__" % _name, _decided(_deed, turned=True))
for _of in (bool, int, float, hash, abs, round, format, reversed, operator.index, operator.neg):
    setattr(Extended, "__%s__" % _of.__name__, _of_held(_of))

STANDS = {"o": Thing, "p": Extended, "f": Function}
TAGS = {kind: tag for tag, kind in STANDS.items()}
