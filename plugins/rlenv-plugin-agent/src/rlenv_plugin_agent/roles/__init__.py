"""Several roles in one task, each with messages, tokens and a reward of its own: critics, debaters,
simulated users.
"""

from __future__ import annotations

from .critic import criticize
from .debate import debate
from .simulated_user import simulate_user
from .speaker import Part, Speaker

__all__ = ["Part", "Speaker", "criticize", "debate", "simulate_user"]
