"""Settings of every test run."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Test inputs are drawn from a secret; without one of its own a test run would leave a file in the user's home.
os.environ.setdefault("RLENV_SECRET", "for tests only")

# Neither the load of the machine nor the luck of a draw decides; `--hypothesis-profile=default` draws anew.
PATIENT = [*settings().suppress_health_check, HealthCheck.too_slow]
settings.register_profile(
    "house",
    settings(),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=PATIENT,
)
settings.load_profile("house")
