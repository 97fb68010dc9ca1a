"""Where the program ``accountant`` is."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Iterator


def _places() -> Iterator[str]:
    name = "accountant.exe" if os.name == "nt" else "accountant"
    # Inside the package, for those who put it there; then where pip puts the program of a
    # wheel: beside the interpreter of an environment, or among the user's scripts.
    yield os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    yield os.path.join(os.path.dirname(os.path.abspath(sys.executable or "")), name)
    yield os.path.join(sysconfig.get_path("scripts"), name)
    user = f"{os.name}_user"
    if user in sysconfig.get_scheme_names():
        yield os.path.join(sysconfig.get_path("scripts", user), name)


def find() -> str:
    """The program: what ACCOUNTANT names, that of this package, or the one on the path.

    The name alone when there is none, so that starting it fails and says so.
    """
    named = os.environ.get("ACCOUNTANT")
    if named:
        return named
    for place in _places():
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return place
    return shutil.which("accountant") or "accountant"
