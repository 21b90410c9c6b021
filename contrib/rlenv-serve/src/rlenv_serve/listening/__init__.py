"""Connections to the server: how many there may be, and how long a client may take for a
request.
"""

from .connections import Connections
from .files import FileLimit, raise_file_limit

__all__ = ["Connections", "FileLimit", "raise_file_limit"]
