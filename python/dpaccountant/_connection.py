"""A running program: requests go to it and answers come back, a line each."""

from __future__ import annotations

import json
import numbers
import os
import subprocess
import threading
import weakref
from typing import Any, Dict, Iterable, Mapping, Optional, Tuple, Type, TypeVar, Union

from ._binary import find
from ._errors import AccountantError, BudgetError, InfeasibleError, InputError, NoAnswerError

_Self = TypeVar("_Self", bound="Connection")

# The connections of this process. A forked child has copies of their pipes; as
# long as it holds them, the parent cannot end the program by closing its own.
_running: "weakref.WeakSet[Connection]" = weakref.WeakSet()


def _after_fork() -> None:
    for connection in list(_running):
        connection._forget()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def plain(value: Any) -> Any:
    """A number, or a list, of another library as JSON's, and a step or a plan as a dictionary."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if hasattr(value, "tolist"):  # arrays and scalars of numpy
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


def _answer(line: bytes, number: str) -> Dict[str, Any]:
    """The answer on a line, which must be that to the request of this number."""
    try:
        answer = json.loads(line)
    except ValueError as error:
        raise AccountantError(f"not an answer of the accountant: {line[:80]!r}") from error
    # A request that is not understood is answered without its id.
    if not isinstance(answer, dict) or not (
        answer.get("id") == number or (answer.get("id") is None and "error" in answer)
    ):
        raise AccountantError("the answer is to another request")
    return answer


def text_of(op: str, request: Mapping[str, Any]) -> str:
    """A request as JSON."""
    try:
        return _json(request)
    except (TypeError, ValueError) as error:
        name, value = _unwritten(request)
        raise InputError(f"{op}: {name}: {value!r:.80} is not what JSON has: a finite number, text, or a list or mapping of these") from error


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, default=plain)


def _unwritten(value: Any, path: Tuple[str, ...] = ()) -> Tuple[str, Any]:
    """Where in a value something is that JSON does not have, and what."""
    inside: Iterable[Tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        inside = value.items()
    elif isinstance(value, (list, tuple)):
        inside = enumerate(value)
    for key, x in inside if len(path) < 20 else ():  # a list may hold itself
        try:
            _json(x)
        except (TypeError, ValueError):
            return _unwritten(x, (*path, str(key)))
    return ".".join(path), value


def problem_of(error: Mapping[str, Any]) -> AccountantError:
    """The exception of an error that the accountant has answered."""
    kind: Type[AccountantError] = {
        "input": InputError,
        "budget": BudgetError,
        "infeasible": InfeasibleError,
        "timeout": NoAnswerError,
    }.get(error["kind"], AccountantError)
    return kind(error["message"])


class Connection:
    """A running ``accountant serve --stdio`` and its pipes. Accountant says how it is used.

    It belongs to the process that made it (``_owner``): no other process writes to its pipes
    or reads from them. One request is under way at a time, under ``_lock``; an answer is
    taken only if it has the id of the request.
    """

    def __init__(self, binary: Optional[str] = None, *, timeout: Optional[float] = None) -> None:
        program = binary or find()
        try:
            # Without buffers: a fork would copy what is in them.
            self._process = subprocess.Popen(
                [program, "serve", "--stdio"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
            )
        except OSError as error:
            raise AccountantError(
                f"cannot start {program}: {error}; the program is in a wheel of a release, or made by"
                " `go build ./cmd/accountant` in a clone, and then named by ACCOUNTANT=./accountant"
            ) from error
        self._lock = threading.Lock()
        self._last_id = 0
        self._rest = b""  # what was read after the latest answer
        self._timeout = timeout
        self._owner = os.getpid()
        _running.add(self)

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process. Ledgers in memory end with it.

        In a forked child this does nothing: the process is the parent's.
        """
        if os.getpid() != self._owner:
            return
        with self._lock:
            self._close_pipes()
            # The end of its input ends it, unless another process still holds a
            # copy of the pipe. It has answered everything that it was asked, so
            # that ending it loses nothing.
            for end in (lambda: None, self._process.terminate, self._process.kill):
                end()
                try:
                    self._process.wait(timeout=0.5)
                    return
                except subprocess.TimeoutExpired:
                    pass
            self._process.wait()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass  # the process ended by itself

    def _forget(self) -> None:
        """In a forked child: let go of the parent's process and its pipes."""
        self._close_pipes()
        self._process.returncode = 0  # not a child of this process: nothing to wait for

    def alive(self) -> bool:
        """Whether this process can still ask: it is the owner, nothing is closed, the program runs."""
        return (
            os.getpid() == self._owner
            and self._process.stdin is not None
            and not self._process.stdin.closed
            and self._process.poll() is None
        )

    def request(self, op: str, **arguments: Any) -> Any:
        """Send one request of docs/reference/cli.md and return its result."""
        if self._timeout is not None:
            arguments.setdefault("timeout", self._timeout)
        # Before the lock, which a thread of the parent may have held at the fork.
        if os.getpid() != self._owner:
            raise AccountantError(
                "the accountant belongs to another process: make a new Accountant after a fork"
            )
        with self._lock:
            stdin, stdout = self._process.stdin, self._process.stdout
            if stdin is None or stdout is None or stdin.closed:
                raise AccountantError("the accountant is closed")
            self._last_id += 1
            number = f"{self._owner}-{self._last_id}"
            text = text_of(op, {"id": number, "op": op, **arguments})
            try:
                data = memoryview(text.encode("utf-8") + b"\n")
                while data:
                    data = data[stdin.write(data) or 0 :]
                line = self._read_line(stdout)
                answer = _answer(line, number)
            except BaseException as error:
                # The answer may still come, and must not be taken for that of a
                # later request.
                self._process.kill()
                self._close_pipes()
                self._process.wait()
                if isinstance(error, OSError):
                    raise AccountantError("the accountant has ended") from error
                raise
        if "error" in answer:
            raise problem_of(answer["error"])
        return answer["result"]

    def _path(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """The name of a file in a request; the program may run in another folder."""
        return os.path.abspath(os.fspath(path))

    def _read_line(self, pipe: Any) -> bytes:
        parts = [self._rest]
        while b"\n" not in parts[-1]:
            part = pipe.read(1 << 16)
            if not part:
                raise AccountantError("the accountant has ended")
            parts.append(part)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line
