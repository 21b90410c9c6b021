"""Settings of every test run."""

from __future__ import annotations

import os

# Test inputs are drawn from a secret; without one of its own a test run would leave a file in the user's home.
os.environ.setdefault("RLENV_SECRET", "for tests only")
