"""One stage in many forms: each passes a response that is shorter than a limit, which it keeps
somewhere.
"""

import collections
import dataclasses
import enum
import functools
import types

import attrs
from rlenv import Outcome, stage


class Base:
    where = "inline"

    def check(self, attempt):
        return Outcome(float(len(attempt.response) < self.limit()))


class Private(Base):
    def __init__(self, limit):
        self._limit = limit

    def limit(self):
        return self._limit


class Mangled(Base):
    def __init__(self, limit):
        self.__limit = limit

    def limit(self):
        return self.__limit


class SlotsOfABase(Base):
    __slots__ = ("_limit",)


class Slotted(SlotsOfABase):
    __slots__ = ("other",)

    def __init__(self, limit):
        self._limit = limit

    def limit(self):
        return self._limit


class Bare:
    """Has no ``__dict__`` at all."""

    __slots__ = ("kept",)
    where = "inline"

    def __init__(self, limit):
        self.kept = limit

    def check(self, attempt):
        return Outcome(float(len(attempt.response) < self.kept))


class Property(Base):
    def __init__(self, limit):
        self.most = limit

    @property
    def most(self):
        return self._most

    @most.setter
    def most(self, value):
        self._most = value

    def limit(self):
        return self.most


@attrs.frozen
class Hidden(Base):
    """Attrs fields that neither equality nor the constructor nor the text shows."""

    given: int
    kept: int = attrs.field(eq=False, repr=False, init=False)

    def __attrs_post_init__(self):
        object.__setattr__(self, "kept", self.given % 100)

    def limit(self):
        return self.kept


@attrs.define(eq=False, repr=False)
class Unequal(Base):
    kept: int = attrs.field(eq=False, repr=False)

    def limit(self):
        return self.kept


@dataclasses.dataclass
class Data(Base):
    most: int = dataclasses.field(repr=False, compare=False)

    def limit(self):
        return self.most


class Size(enum.Enum):
    SMALL = 1
    LARGE = 9


class Nameless:
    """Has neither a text nor an equality of its own."""

    def __init__(self, limit):
        self._limit = limit


class Holds(Base):
    """Keeps the limit inside of another object."""

    def __init__(self, part, reads):
        self._part = part
        self._reads = reads

    def limit(self):
        return self._reads(self._part)


class Called:
    def __init__(self, limit):
        self._limit = limit

    def __call__(self, response):
        return len(response) < self._limit


class LoopsBack(Private):
    def __init__(self, limit):
        super().__init__(limit)
        self.me = [self]


def private(part):
    return part._limit


def enumerated(part):
    return part.value


def item(part):
    return part["limit"]


def first(part):
    return part[0]


def largest(part):
    return max(part)


def shorter(response, limit=1):
    return len(response) < limit


def closure(limit):
    return lambda response: len(response) < limit


def default(limit):
    return lambda response, most=limit: len(response) < most


def keyword_default(limit):
    def shorter_than(response, *, most=limit):
        return len(response) < most

    return shorter_than


def wrapped(limit):
    inner = closure(limit)

    @functools.wraps(shorter)
    def outer(response):
        return inner(response)

    return outer


def local_class(limit):
    class Local(Base):
        def limit(self):
            return limit

    return Local()


def class_attribute(limit):
    return type("Made", (Base,), {"kept": limit, "limit": lambda self: self.kept})()


def holds(make, reads):
    return lambda limit: Holds(make(limit), reads)


FORMS = {
    "private": Private,
    "mangled": Mangled,
    "slots of a base": Slotted,
    "slots alone": Bare,
    "property": Property,
    "attrs init=False eq=False": Hidden,
    "attrs eq=False": Unequal,
    "dataclass repr=False": Data,
    "refers to itself": LoopsBack,
    "object in an attribute": holds(Nameless, private),
    "object in lists": holds(lambda n: [[Nameless(n)]], lambda part: part[0][0]._limit),
    "enum": holds(Size, enumerated),
    "table": holds(lambda n: {"limit": n}, item),
    "table that is read-only": holds(lambda n: types.MappingProxyType({"limit": n}), item),
    "table that has an order": holds(lambda n: collections.OrderedDict(limit=n), item),
    "set": holds(lambda n: {n, 0}, largest),
    "frozenset": holds(lambda n: frozenset([n, 0]), largest),
    "deque": holds(lambda n: collections.deque([n]), first),
    "bytes": holds(lambda n: bytes([n]), first),
    "method": lambda limit: Called(limit).__call__,
    "callable object": Called,
    "closure": closure,
    "default": default,
    "default of a keyword": keyword_default,
    "partial": lambda limit: functools.partial(shorter, limit=limit),
    "wrapper": wrapped,
    "class of a function": local_class,
    "class made by type()": class_attribute,
}  # fmt: skip


def built(form, limit):
    """A stage of this form, inline."""
    made = FORMS[form](limit)
    return made if isinstance(made, (Base, Bare)) else stage(where="inline")(made)
