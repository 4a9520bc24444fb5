"""`python -m platewright` is the command line."""

from __future__ import annotations

import sys

from platewright.cli import main

if __name__ == "__main__":
    sys.exit(main())
