"""Episodes in memory, bound to their tenants, and brought back from the journal where they are
not.
"""

from .actions import Action
from .answers import Answer
from .session import Session
from .sessions import Sessions

__all__ = ["Action", "Answer", "Session", "Sessions"]
