"""For every test of the house: a secret of its own, so that no test touches the user's state folder."""

import os

os.environ.setdefault("RLENV_SECRET", "the secret of the tests")
