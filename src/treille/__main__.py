"""``python -m treille`` is the command ``treille``."""

import sys

from treille.cli import main

if __name__ == "__main__":
    sys.exit(main())
