"""``python -m treille.cli`` is the command ``treille``."""

import sys

from treille.cli import main

sys.exit(main())
