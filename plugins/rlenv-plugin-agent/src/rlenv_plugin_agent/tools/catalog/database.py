"""``sqlite``: statements on the tables of the episode, with the rights of the role that calls."""

from __future__ import annotations

from rlenv_plugin_agent.state.database import Database
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import tool


@tool(category="data", deterministic=True)
def sqlite(context: ToolContext, statement: str) -> dict[str, object]:
    """Execute one SQL statement of SQLite on the database of the task.

    Args:
        context: of the episode; the policy does not give it.
        statement: one that reads or, where you have the right to, changes rows.
    """
    found = context.get(Database).query(statement, role=context.role)
    return {"rows": found.records()} if found.columns else {"changed": found.changed}
