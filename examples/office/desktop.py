"""The tools of the desktop: mail, calendar and files, all of them tables."""

from __future__ import annotations

from typing import Literal

from rlenv_plugin_agent import Database, ToolContext, ToolError

Folder = Literal["inbox", "archive", "invoices"]


def rows(context: ToolContext, sql: str, *parameters: str | int) -> list[dict[str, object]]:
    return context.get(Database).query(sql, parameters, role=context.role).records()


def only(found: list[dict[str, object]], what: str) -> dict[str, object]:
    """The one row.

    Raises:
        ToolError: there is none.
    """
    if not found:
        raise ToolError(f"there is no {what}")
    return found[0]


def inbox(context: ToolContext) -> list[dict[str, object]]:
    """The mails in the inbox: id, sender and subject."""
    return rows(context, "SELECT id, sender, subject FROM mails WHERE folder = 'inbox' ORDER BY id")


def read_mail(context: ToolContext, mail: int) -> dict[str, object]:
    """Read a mail.

    Args:
        mail: its id.
    """
    return only(rows(context, "SELECT * FROM mails WHERE id = ?", mail), f"mail {mail}")


def send_mail(context: ToolContext, to: str, subject: str, body: str) -> str:
    """Send a mail.

    Args:
        to: one address.
        subject: the subject.
        body: the text.
    """
    rows(
        context,
        "INSERT INTO mails(sender, receiver, subject, body, folder) VALUES ('me@office.example', ?,"
        " ?, ?, 'sent')",
        to,
        subject,
        body,
    )
    return f"sent to {to}"


def move_mail(context: ToolContext, mail: int, folder: Folder) -> str:
    """Move a mail.

    Args:
        mail: its id.
        folder: where to.
    """
    only(rows(context, "SELECT id FROM mails WHERE id = ?", mail), f"mail {mail}")
    rows(context, "UPDATE mails SET folder = ? WHERE id = ?", folder, mail)
    return f"mail {mail} is in {folder}"


def calendar(context: ToolContext, day: int) -> list[dict[str, object]]:
    """The events of a day, by the hours in which they begin and end.

    Args:
        day: of the month.
    """
    return rows(context, "SELECT * FROM events WHERE day = ? ORDER BY begins", day)


def add_event(context: ToolContext, day: int, begins: int, ends: int, title: str) -> str:
    """Add an event to the calendar.

    Args:
        day: of the month.
        begins: an hour.
        ends: an hour.
        title: what it is, with whom.
    """
    if not (1 <= day <= 31 and 0 <= begins < ends <= 24):
        raise ToolError("day is 1 to 31, and the hours are in order, from 0 to 24")
    rows(
        context,
        "INSERT INTO events(day, begins, ends, title) VALUES (?, ?, ?, ?)",
        day,
        begins,
        ends,
        title,
    )
    return f"added {title} on day {day}"


def read_file(context: ToolContext, path: str) -> str:
    """Read a file.

    Args:
        path: its name.
    """
    return str(
        only(rows(context, "SELECT text FROM files WHERE path = ?", path), "such file")["text"]
    )


def write_file(context: ToolContext, path: str, text: str) -> str:
    """Make a file, or replace it.

    Args:
        path: its name.
        text: the whole text.
    """
    rows(context, "INSERT OR REPLACE INTO files VALUES (?, ?)", path, text)
    return f"wrote {path}"
