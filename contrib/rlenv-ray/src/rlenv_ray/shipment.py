"""How an environment gets to an actor, and what must be equal there."""

from __future__ import annotations

import hashlib
import pickle
import sys
from collections.abc import Mapping
from os import PathLike, fspath
from typing import TypeAlias

from attrs import frozen
from rlenv import Composite, ConfigError, Environment
from rlenv.authoring import code_of, key_id, pickled

Source: TypeAlias = str | PathLike[str] | Mapping[str, object] | None
Code: TypeAlias = dict[str, tuple[str | None, str]]  # package → version, hash of its content


@frozen
class Shipment:
    """An environment on its way to actors.

    Args:
        key: names it.
        what: pickled: a name or path, a mapping, or the arguments of ``Environment``.
        named: the actors load it by themselves.
        fingerprint: of the caller's environment.
        code: of the caller's packages.
        secret: the id of the caller's secret where a stage draws random inputs, else None.
    """

    key: str
    what: bytes
    named: bool
    fingerprint: str
    code: Code
    secret: str | None

    @classmethod
    def of(cls, env: Environment, source: Source = None) -> Shipment:
        """Prepare an environment, or what describes it: a name, a path or a mapping that the actors
        load.

        Raises:
            ConfigError: a stage can be neither imported nor pickled there, or is larger than 10 MB.
        """
        if source is None:
            for stage in _leaves(env):
                pickled(stage)  # one by one, so that a message names the variable
            what = pickle.dumps((pickled(env.root), _settings(env)))
        else:
            what = pickle.dumps(dict(source) if isinstance(source, Mapping) else fspath(source))
        secret = key_id() if any(getattr(stage, "draws", False) for stage in _leaves(env)) else None
        rest = env.fingerprint, _code(env), secret
        key = hashlib.sha256(what + repr(rest).encode()).hexdigest()
        return cls(key, what, source is not None, *rest)


def _settings(env: Environment) -> dict[str, object]:
    kept = ("name", "pass_mark", "thinking", "tables", "memory_mb")
    return {name: getattr(env, name) for name in kept}


def opened(what: bytes) -> Environment:
    """In an actor: the environment; the bytes are the caller's."""
    found = pickle.loads(what)  # noqa: S301 - our caller's bytes
    if isinstance(found, str):
        return Environment.load(found)
    if isinstance(found, dict):
        return Environment.from_dict(found)
    root, settings = found
    return Environment(settings.pop("name"), pickle.loads(root), **settings)  # noqa: S301 - as above


def differences(sent: Shipment, env: Environment) -> list[str]:
    """In an actor: what its environment is made of where that differs from the caller's, both
    named.

    A package that this process has not imported defined what came by value, and so is the same.
    """
    code = _code(env)
    lines = []
    for package in sorted((sent.code.keys() | code.keys()) & sys.modules.keys()):
        here = sent.code.get(package)
        there = code.get(package)
        if here != there:
            lines.append(f"{package} is {_named(there)} there, and {_named(here)} here")
    if sent.secret is not None and (own := key_id()) != sent.secret:
        remedy = "set RLENV_SECRET to one value on every node, before `ray start`, and here"
        lines.append(f"the secret's key is {own} there, and {sent.secret} here: {remedy}")
    if sent.named and not lines and env.fingerprint != sent.fingerprint:
        lines.append(f"the fingerprint is {env.fingerprint} there, and {sent.fingerprint} here")
    return lines


def _named(code: tuple[str | None, str] | None) -> str:
    return "not part of it" if code is None else f"{code[0] or 'unversioned'} ({code[1][:8]})"


def _code(env: Environment) -> Code:
    found = code_of([*_leaves(env), *env.tables.values()])
    return {name: code for name, code in found.items() if name != "__main__"}  # it comes by value


def _leaves(env: Environment) -> list[object]:
    return [slot.stage for slot in env.stages.values() if not isinstance(slot.stage, Composite)]


def check_source(source: Source) -> None:
    """Reject what is no description of an environment.

    Raises:
        ConfigError: for an Environment, or anything but a name, a path and a mapping.
    """
    if source is not None and not isinstance(source, (str, PathLike, Mapping)):
        kind = type(source).__name__
        raise ConfigError(f"environment is a name, a path or a mapping, not {kind}; None sends it")
