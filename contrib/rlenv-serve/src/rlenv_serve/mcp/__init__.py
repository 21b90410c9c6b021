"""The Model Context Protocol: tools of environments for agents, over streamable HTTP."""
