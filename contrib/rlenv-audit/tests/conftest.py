"""Puts the zoo where tests, and the targets of the audits that they make, can import it."""

import sys
from pathlib import Path

ZOO = str(Path(__file__).parent / "zoo")
if ZOO not in sys.path:
    sys.path.append(ZOO)
