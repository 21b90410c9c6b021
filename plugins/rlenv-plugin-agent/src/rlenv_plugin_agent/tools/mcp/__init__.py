"""Tools of MCP servers: ``[mcp]`` names them, an episode opens them, and their listings are
pinned.
"""
