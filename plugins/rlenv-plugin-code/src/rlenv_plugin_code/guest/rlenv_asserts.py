"""Runs the text of a test, inside a sandbox of its own; the solution is in another one.

The test is its author's text.  What it calls of the solution are proxies: the judge carries each
call to the solution's sandbox, and checks each answer on its way back.  Only plain values come
here, and numbers that stand for objects over there.

    ["run", setup, text, entry, names, errors, classes, check, lines, pins, changes]
        check: the text's functions to call; lines: first and last of each assertion; pins: of each
        call that is made for what it leaves in its arguments; changes: which changes of arguments
        the text may see
    -> KIND NEWLINE body, where KIND is ask, ret or raise and the body what follows
       ``["ask", n,`` or ``["ret",`` in ``rlenv_objects``; in the end KIND is end, the body
       [null or [type, text], which changes of arguments it has seen]
"""

from __future__ import annotations

import sys
from collections import deque

from rlenv_codec import Unencodable, decode, encode
from rlenv_guest import Link, make_room, new_module, what
from rlenv_objects import exception, lower, packed, text_of, used_up
from rlenv_things import STANDS, TAGS, Named, Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENDS = ("StopIteration", "StopAsyncIteration")
READS = ("plain", "__len__", "__iter__", "__getitem__", "__str__", "__repr__")  # change nothing


class Test:
    """One run of one text."""

    def __init__(self, link: Any) -> None:
        self._link = link
        self._classes = frozenset()
        self._callbacks = []
        self.things = {}
        self.told = deque(maxlen=64)  # the latest values that the solution gave
        self.touched = set()  # objects that the test may have changed, by number
        self._errors = {}
        self._asserts = ()
        self._pins = ()
        self._changes = "all"
        self.seen = "none"  # changes of arguments
        self._expects_ends = False

    def run(self, request: Any) -> Any:
        """Run it; every name in ``names`` is a proxy.

        Returns why it ended early, as [type, text], else None.
        """
        setup, text, entry, names, errors, classes, check, self._asserts, *changes = request
        self._pins, self._changes = changes
        self._classes = frozenset(classes)
        self._expects_ends = any(name in text for name in ENDS)
        space = new_module(text, "rlenv_test", "test.py").__dict__
        try:
            if "pytest" in text:
                import rlenv_pytest

                sys.modules.setdefault("pytest", rlenv_pytest)
            exec(compile(setup, "setup.py", "exec", 0, True), space)  # noqa: S102
            space.update({name: Named(self, name) for name in names})
            self._errors = {name: type(name, (Exception,), {}) for name in errors}
            space.update(self._errors)
            space["candidate"] = Named(self, entry)
            exec(compile(text, "test.py", "exec", 0, True), space)  # noqa: S102
            for name in check:
                space[name](*[space["candidate"]] * (name == "check"))
        except BaseException as err:  # noqa: BLE001 - whatever it raises, the test has ended
            return [what(err), text_of(err)]
        return None

    def makes(self, name: Any) -> Any:
        """Whether a name of the solution is that of a class the test wants objects of."""
        return name in self._classes

    def _send(self, kind: Any, body: Any) -> None:
        self._link.write(kind + b"\n" + body)

    def ask(self, op: Any, target: Any, args: Any, kwargs: Any, objects: Any) -> Any:
        """One request to the solution; ``objects`` says whether its own objects may come back."""
        if op not in READS:
            self.touched.add(target)
        given = packed([list(args), kwargs], self._refer)
        self._send(b"ask", encode([op, target, objects])[1:-1] + b"," + given)
        while True:
            frame = self._link.read()
            if frame is None:
                raise SystemExit
            reply = decode(frame)
            if reply[0] == "ok":
                value = self._taken(reply, args, kwargs, objects)
                if op != "plain":
                    self.told.append(value)
                return value
            if reply[0] == "err":
                raise self._raised(op, *reply[2:])
            self._called_back(*reply[2:])

    def _raised(self, op: Any, name: Any, base: Any, text: Any) -> Any:
        """What the solution raised; the end of an iteration only where an iterator was asked.

        Anywhere else it would end a loop of the test over ``map`` or ``zip``, as if all had been
        well.
        """
        known = self._errors.get(name)
        if known is not None:
            return known(text)
        if base in ENDS and op != "__next__" and not self._expects_ends:
            base, text = "RuntimeError", "the solution raised " + base
        return exception(base, text)

    def _taken(self, reply: Any, args: Any, kwargs: Any, objects: Any) -> Any:
        def resolve(tag: Any, body: Any) -> Any:
            return self._resolve(tag, body, objects)

        _, _, value, raised, after, after_raised = reply
        if after is not None and self._shows(value):
            after = lower(after, self._known) if after_raised else after
            put_back([args, kwargs], [tuple(after[0]), after[1]])
        return lower(value, resolve) if raised else value

    def _shows(self, value: Any) -> Any:
        """Whether the test sees how a call that returned ``value`` has changed its arguments."""
        if value is not None and self._asserting():
            return False
        pinned = self._within(self._pins)
        if self._changes == "none" or (self._changes == "pinned" and not pinned):
            return False
        if self.seen != "all":
            self.seen = "pinned" if pinned else "all"
        return True

    def _asserting(self) -> Any:
        """Whether an assertion is being decided: what it compares with is not for the solution to
        change.
        """
        return self._within(self._asserts)

    def _within(self, lines: Any) -> Any:
        """Whether the test is at one of these (first, last) lines."""
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code.co_filename == "test.py":
                line = frame.f_lineno
                if any(first <= line <= last for first, last in lines):
                    return True
            frame = frame.f_back
        return False

    def _called_back(self, number: Any, inputs: Any, raised: Any) -> None:
        try:
            args, kwargs = lower(inputs, self._known) if raised else inputs
            body = packed(self._callbacks[number](*args, **kwargs), self._refer)
        except BaseException as err:  # noqa: BLE001 - it goes to who called
            self._send(b"raise", encode([what(err), text_of(err)])[1:-1])
        else:
            self._send(b"ret", body)

    def _known(self, tag: Any, body: Any) -> Any:
        return self._resolve(tag, body, objects=False)

    def _resolve(self, tag: Any, body: Any, objects: Any) -> Any:
        if tag == "c":
            return self._callbacks[body]
        key = tag, body
        if key not in self.things:
            if tag != "f" and not objects:
                raise Refused("the solution returned an object of its own, which is no plain value")
            kind = STANDS[tag]
            self.things[key] = kind(self, body, objects)
        return self.things[key]

    def _refer(self, value: Any) -> Any:
        kind = type(value)
        if kind is Named:
            return ["n", value.name_]
        if kind in TAGS:
            if not self._asserting():
                self.touched.add(value.number_)
            return [TAGS[kind], value.number_]
        if kind is range:
            return ["v", list(value)]
        used = used_up(value, self._refer)
        if used is not None:
            return used
        if not callable(value):
            raise Unencodable("the test passes a value that cannot be sent: " + kind.__name__)
        self._callbacks.append(value)
        return ["c", len(self._callbacks) - 1]


def put_back(old: Any, new: Any) -> None:
    """Give the caller's own containers the contents that the call left in them."""
    if type(old) is not type(new):
        return
    if isinstance(old, (list, tuple)):
        for before, after in zip(old, new):
            put_back(before, after)
        if isinstance(old, list):
            kept = [b if _same_kind(b, a) else a for b, a in zip(old, new)]
            old[:] = kept + new[len(kept) :]
    elif isinstance(old, dict):
        for key in [key for key in old if key not in new]:
            del old[key]
        for key, after in new.items():
            if _same_kind(old.get(key), after):
                put_back(old[key], after)
            else:
                old[key] = after
    elif isinstance(old, set):
        old.clear()
        old.update(new)


def _same_kind(old: Any, new: Any) -> Any:
    return type(old) is type(new) and isinstance(old, (list, dict, set))


def serve(fd: Any = 3) -> None:
    """Run tests until the channel ends."""
    make_room()
    link = Link(fd)
    for frame in iter(link.read, None):
        test = Test(link)
        ended = test.run(decode(frame)[1:])
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        link.write(b"end\n" + encode([ended, test.seen]))
