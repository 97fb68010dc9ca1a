"""One accountant for a whole process, for those who want to ask and not to manage."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Optional

from .client import Accountant

_lock = threading.Lock()
_accountant: Optional[Accountant] = None


def shared() -> Accountant:
    """The accountant of this process, started when it is first asked for.

    It is closed when the interpreter ends. A forked child gets one of its own, and so does
    whoever asks after it was closed or has died. The adapters of this package use it.
    """
    global _accountant
    with _lock:
        if _accountant is None or not _accountant.alive():
            if _accountant is not None:
                _accountant.close()
            _accountant = Accountant()
        return _accountant


class Asking:
    """What asks the accountant ``_accountant``, or where that is None the one of the process."""

    _accountant: Optional[Accountant]

    def _ask(self) -> Accountant:
        return self._accountant or shared()


def _end() -> None:
    global _accountant
    if _accountant is not None:
        _accountant.close()
        _accountant = None


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # a thread of the parent may have held it


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
