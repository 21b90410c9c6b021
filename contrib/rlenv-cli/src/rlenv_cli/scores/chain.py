"""The chain of a score file: each row has an HMAC over itself and the row before it.

It is there when RLENV_SECRET is set, and then a row that was edited, removed, swapped or inserted
afterwards is an error.  Rows that are missing at the end are no error, since a run that was
interrupted leaves such a file; the header, which the first row's code covers, says how many there
are to be, so whoever reads the file warns of them.
"""

from __future__ import annotations

import hmac
import os

from rlenv.identity.secret import key_id
from rlenv.model.errors import InputError

from rlenv_cli.console import visible

SECRET = "RLENV_SECRET"  # noqa: S105 - the name of a variable
_OPENING = b', "mac": "'
_CLOSING = b'"}\n'
_DIGITS = 32
_TAIL = len(_OPENING) + _DIGITS + len(_CLOSING)


def chain_id() -> str | None:
    """What names the secret in the header of a file; None where RLENV_SECRET is not set."""
    return key_id() if os.environ.get(SECRET) else None


class Chain:
    """The state of a chain after some lines of a file.

    Args:
        header: the first line of the file.
        named: whether the header names a chain; where it does not, lines are written as they are.
    """

    def __init__(self, header: bytes, *, named: bool) -> None:
        secret = os.environ.get(SECRET)
        self._last = header
        self._active = named and bool(secret)
        key = os.fsencode(f"rlenv scores\0{secret}")
        self._empty = hmac.new(key, digestmod="sha256")  # copied for each row, which is faster

    def link(self, line: bytes) -> bytes:
        """The line of a row with its code, which goes on from the line before."""
        if not self._active:
            return line
        mac = self._mac(line)
        self._last = mac
        return line[:-2] + _OPENING + mac + _CLOSING

    def accepts(self, line: bytes) -> bool:
        """Whether this is the line that a run wrote after those before it; always where there is no
        chain.
        """
        if not self._active:
            return True
        mac = line[-_DIGITS - len(_CLOSING) : -len(_CLOSING)]
        if not is_linked(line) or not hmac.compare_digest(mac, self._mac(unlinked(line))):
            return False
        self._last = mac
        return True

    def _mac(self, line: bytes) -> bytes:
        code = self._empty.copy()
        code.update(self._last)
        code.update(line)
        return code.hexdigest()[:_DIGITS].encode()


def is_linked(line: bytes) -> bool:
    """Whether the line of a row ends with a code."""
    return line.endswith(_CLOSING) and line[-_TAIL:].startswith(_OPENING)


def unlinked(line: bytes) -> bytes:
    """The line of a row without its code."""
    return line[:-_TAIL] + b"}\n" if is_linked(line) else line


def check_secret(shown: str, found: str | None, *, reading: bool) -> None:
    """Compare the secret that chained a file with that of this process.

    Args:
        shown: the name of the file.
        found: what its header says of the secret; None where its rows have no chain.
        reading: the file is only read: then a chain is left unchecked where no secret is set.

    Raises:
        InputError: when they differ, with what to do.
    """
    own = chain_id()
    if found == own or (own is None and reading):
        return
    if own is None:
        what = f"its rows are chained with a secret (id {visible(found or '')[:8]})"
        remedy = f"set {SECRET} to the one that the file was begun with"
    elif found is None:
        what = (
            f"its rows have no chain, although {SECRET} is set, so edited rows would not be found"
        )
        remedy = (
            f"score the responses again, or unset {SECRET} (env -u {SECRET} rlenv ...) to trust the"
            " file"
        )
    else:
        what = (
            f"its rows are chained with another {SECRET} (id {visible(found)[:8]} there, {own} now)"
        )
        remedy = f"set {SECRET} to the one that the file was begun with"
        if reading:
            remedy += ", or unset it to read the rows unchecked"
    raise InputError(f"{shown}: {what}; {remedy}")
