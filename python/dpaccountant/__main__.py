"""``python -m dpaccountant``: the program, with the same arguments."""

import subprocess
import sys

from ._binary import find

if __name__ == "__main__":
    try:
        sys.exit(subprocess.call([find(), *sys.argv[1:]]))
    except OSError as error:
        sys.exit(f"cannot start the accountant: {error}")
