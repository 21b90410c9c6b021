"""Puts the stages of these tests where other processes can import them."""

import sys
from pathlib import Path

HELPERS = str(Path(__file__).parent / "helpers")
if HELPERS not in sys.path:
    sys.path.append(HELPERS)
