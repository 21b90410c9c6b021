"""What tests ask of a solution beyond plain values: objects, functions, calls back to the test.

Values travel plain where they are plain.  Otherwise they are *lifted*, into lists:

    ["v", plain]
    ["l" | "t" | "s" | "z", [..]]  list, tuple, set, frozenset
    ["d", [[key, value], ..]]
    ["o", id]                      an object of the solution
    ["f", id]                      a function or class of the solution
    ["p", id]                      one whose class extends a plain type; "plain" asks for what it
                                   holds
    ["n", name]                    of the solution
    ["c", id]                      a function of the test
    ["g", [..], whole]             an iterator, used up where it was

Requests, where ``raised`` says whether the values before it are lifted:

    ["ask", n, op, target, objects, [args, kwargs], raised]
        op: "call", "get", "set", "plain" or a special method's name; target: a name (text) or an
        id (int); objects: whether an object of the solution may be the answer
    -> ["ok", n, value, raised, [args, kwargs] | null, raised]
        arguments that the call changed in place
     | ["err", n, what, base, text]
        base: the nearest builtin type of exception
     | ["back", n, id, [args, kwargs], raised]
        first call this function of the test, and send ["ret", value, raised] or
        ["raise", what, text]
"""

from __future__ import annotations

import builtins
from _thread import RLock
from builtins import BaseException, getattr, isinstance, len, type

from rlenv_called import find, finished, what
from rlenv_codec import Unencodable, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ITEMS = 100_000  # of an iterator; the rest is never asked for
KINDS = {list: "l", tuple: "t", set: "s", frozenset: "z"}
MAKERS = {"l": list, "t": tuple, "s": set, "z": frozenset}
_Function = type(what)
_Callables = (_Function, type(len), type([].append), type, type(RLock))
SPECIAL = {"__len__": len, "__iter__": iter, "__next__": next, "__str__": str, "__repr__": repr}
PLAIN = (*KINDS, dict, int, float, complex, str, bytes)
LIBRARY = ("builtins", "collections", "itertools")


def plain(value: Any) -> Any:
    """Whether a value has an encoding of its own."""
    try:
        encode(value)
    except Unencodable:
        return False
    return True


def lift(value: Any, refer: Any) -> Any:
    """The lifted form; ``refer(leaf)`` is that of what is not plain."""
    if plain(value):
        return ["v", value]
    for kind, tag in KINDS.items():
        if issubclass(type(value), kind):  # not what it says of its class
            return [tag, [lift(item, refer) for item in kind.__iter__(value)]]
    if issubclass(type(value), dict):
        return ["d", [[lift(k, refer), lift(v, refer)] for k, v in dict.items(value)]]
    return refer(value)


def lower(form: Any, resolve: Any) -> Any:
    """The value of a lifted form; ``resolve(tag, body)`` knows the references."""
    tag = form[0]
    body = form[1]
    if tag == "v":
        return body
    if tag in MAKERS:
        return MAKERS[tag]([lower(item, resolve) for item in body])
    if tag == "d":
        return {lower(k, resolve): lower(v, resolve) for k, v in body}
    if tag == "g":
        return Iterator([lower(item, resolve) for item in body], form[2])
    return resolve(tag, body)


class Iterator:
    """Stands for an iterator that was used up elsewhere."""

    def __init__(self, items: Any, whole: Any) -> None:
        self._items = iter(items)
        self._whole = whole

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        for item in self._items:
            return item
        if self._whole:
            raise StopIteration
        raise RuntimeError("an iterator of more than %d items" % ITEMS)


def packed(value: Any, refer: Any) -> Any:
    """A value as the text of ``value, raised``."""
    try:
        return encode(value) + b",false"
    except Unencodable:
        return encode(lift(value, refer)) + b",true"


def used_up(value: Any, refer: Any) -> Any:
    """The form of an iterator, or of a view of the library's own types, else None."""
    kind = type(value)
    known = kind.__module__ in LIBRARY and hasattr(kind, "__iter__")
    if not known and not hasattr(kind, "__next__"):
        return None
    items = []
    for item in value:
        if len(items) == ITEMS:
            return ["g", items, False]
        items.append(lift(item, refer))
    return ["g", items, True]


def builtin_base(err: Any) -> Any:
    """The name of the nearest builtin type of an exception."""
    for kind in type(err).__mro__:
        if getattr(builtins, kind.__name__, None) is kind:
            return kind.__name__
    return "Exception"


def text_of(err: Any) -> Any:
    """What an exception says: its one text, else all of it."""
    try:
        said = err.args[0] if len(err.args) == 1 and type(err.args[0]) is str else str(err)
        said = said[:2000]
        encode(said)
    except BaseException:  # noqa: BLE001 - texts may be made by the program
        return ""
    return said


def exception(name: Any, text: Any) -> Any:
    """A builtin exception by name."""
    kind = getattr(builtins, name, None)
    try:
        if issubclass(kind, BaseException):
            return kind(text)
    except TypeError:  # no class, or one that takes more than a text
        pass
    return Exception(text)


class World:
    """The solution's objects that the test has heard of."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._refs = []
        self._known = {}
        self._lock = RLock()
        self._n = 0  # the request being answered

    def answer(self, request: Any) -> Any:
        """The answer to one request, as a frame."""
        outer = self._n
        self._n = request[1]
        try:
            return b'["ok",%d,%s]' % (request[1], self._done(*request[2:]))
        except Unencodable as err:
            said = ["TypeError", "TypeError", "the result is no plain value: %s" % err]
        except BaseException as err:  # noqa: BLE001 - whatever it raises is its answer
            said = [what(err), builtin_base(err), text_of(err)]
        finally:
            self._n = outer
        return b'["err",%d,%s]' % (request[1], encode(said)[1:-1])

    def _done(self, op: Any, target: Any, objects: Any, inputs: Any, raised: Any) -> Any:
        args, kwargs = lower(inputs, self._resolve) if raised else inputs
        before = self._changeable(args, kwargs)
        value = self._packed(finished(self._deed(op, target, args, kwargs)), objects)
        after = None if before is None else self._changeable(args, kwargs)
        return value + b"," + (b"null,false" if after is None or after == before else after)

    def _packed(self, value: Any, objects: Any) -> Any:
        """A result as text; with ``objects``, what is of a class of the solution's own stays an
        object.
        """
        kind = type(value)
        if objects and kind.__module__ not in LIBRARY:
            if issubclass(kind, PLAIN):
                return encode(["p", self._name(value)[1]]) + b",true"
            if hasattr(kind, "__next__"):
                return encode(self._name(value)) + b",true"
        return packed(value, self._refer)

    def _changeable(self, args: Any, kwargs: Any) -> Any:
        """The arguments' text where a call may change them in place, else None."""
        values = [*args, *kwargs.values()]
        if not any(isinstance(value, (list, dict, set, tuple)) for value in values):
            return None
        try:
            return packed([args, kwargs], self._name)
        except Unencodable:
            return None

    def _deed(self, op: Any, target: Any, args: Any, kwargs: Any) -> Any:
        named = isinstance(target, str)
        found = find(self._server.module, target) if named else self._refs[target]
        if op == "call":
            return found(*args, **kwargs)
        if op == "get":
            return getattr(found, args[0])
        if op == "plain":
            return found
        if op == "set":
            return setattr(found, *args)
        special = SPECIAL.get(op)
        return getattr(type(found), op)(found, *args) if special is None else special(found)

    def _resolve(self, tag: Any, body: Any) -> Any:
        if tag == "c":
            return Callback(self, body)
        return find(self._server.module, body) if tag == "n" else self._refs[body]

    def _refer(self, value: Any) -> Any:
        """The form of what is not plain."""
        used = used_up(value, self._refer)
        return self._name(value) if used is None else used

    def _name(self, value: Any) -> Any:
        kind = type(value)
        if kind is Callback:
            return ["c", value.number]
        if kind.__module__ in LIBRARY and not callable(value):
            raise Unencodable(kind.__name__)
        key = id(value)
        if key not in self._known:
            self._known[key] = len(self._refs)
            self._refs.append(value)
        function = isinstance(value, _Callables) or kind.__module__ == "functools"
        return ["f" if function else "o", self._known[key]]

    def ask_back(self, number: Any, args: Any, kwargs: Any) -> Any:
        """Call a function of the test, and serve what it asks meanwhile."""
        link = self._server.link
        with self._lock:
            body = packed([list(args), kwargs], self._refer)
            link.write(b'["back",%d,%d,%s]' % (self._n, number, body))
            while True:
                frame = link.read()
                if frame is None:
                    raise SystemExit
                reply = decode(frame)
                if reply[0] == "ret":
                    return lower(reply[1], self._resolve) if reply[2] else reply[1]
                if reply[0] == "raise":
                    raise exception(reply[1], reply[2])
                link.write(self._server.answer(reply))


class Callback:
    """Stands for a function of the test."""

    def __init__(self, world: Any, number: Any) -> None:
        self._world = world
        self.number = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._world.ask_back(self.number, args, kwargs)
