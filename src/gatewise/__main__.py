"""`python -m gatewise` is the command `gatewise`."""

import sys

from gatewise.cli import main

if __name__ == "__main__":
    sys.exit(main())
