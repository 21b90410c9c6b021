"""The tools of the support desk.  They do what they are asked; the rules are the policy's to
follow, and the rows SQLite's to guard.
"""

from __future__ import annotations

from typing import Literal

from rlenv_plugin_agent import Database, ToolContext, ToolError

Resolution = Literal[
    "refunded",
    "cancelled",
    "changed",
    "too_late",
    "not_broken",
    "already_shipped",
    "not_their_order",
]


def seen(context: ToolContext, sql: str, *parameters: int) -> list[dict[str, object]]:
    """What the policy may see: with the rights of whoever calls the tool."""
    return context.get(Database).query(sql, parameters, role=context.role).records()


def write(context: ToolContext, sql: str, *parameters: str | float) -> int:
    """Change rows that the policy may not change itself; how many."""
    return context.get(Database).query(sql, parameters, role=None).changed


def own(context: ToolContext, order: int) -> int:
    """The customer whose order it is.

    Raises:
        ToolError: it is not an order of the customer who wrote.
    """
    if not (found := seen(context, "SELECT customer FROM orders WHERE id = ?", order)):
        raise ToolError(f"this customer has no order {order}")
    return int(str(found[0]["customer"]))


def customer(context: ToolContext) -> list[dict[str, object]]:
    """Who wrote the ticket: name and tier."""
    return seen(context, "SELECT id, name, tier FROM customers")


def orders(context: ToolContext) -> list[dict[str, object]]:
    """The orders of the customer: item, price, the day on which they were delivered, state and
    address.
    """
    return seen(context, "SELECT * FROM orders ORDER BY id")


def refund(context: ToolContext, order: int, amount: float) -> str:
    """Pay money back for an order.

    Args:
        order: its id.
        amount: how much.
    """
    payee = own(context, order)
    write(
        context,
        "INSERT INTO refunds(order_id, customer, amount) VALUES (?, ?, ?)",
        order,
        payee,
        amount,
    )
    write(context, "UPDATE orders SET state = 'refunded' WHERE id = ?", order)
    return f"refunded {amount} for order {order}"


def cancel(context: ToolContext, order: int) -> str:
    """Cancel an order.

    Args:
        order: its id.
    """
    own(context, order)
    write(context, "UPDATE orders SET state = 'cancelled' WHERE id = ?", order)
    return f"cancelled order {order}"


def change_address(context: ToolContext, order: int, address: str) -> str:
    """Send an order to another address.

    Args:
        order: its id.
        address: the whole new address.
    """
    own(context, order)
    write(context, "UPDATE orders SET address = ? WHERE id = ?", address, order)
    return f"order {order} goes to {address}"


def close_ticket(context: ToolContext, order: int, resolution: Resolution) -> str:
    """Close the ticket, once.

    Args:
        order: the id that the ticket names.
        resolution: what was done, or why it was declined.
    """
    closing = "UPDATE tickets SET order_id = ?, resolution = ? WHERE resolution = 'open'"
    if not write(context, closing, order, resolution):
        raise ToolError("the ticket is closed already")
    return f"closed as {resolution}"
