"""The accountant of a server: ``accountant serve --http``, asked over the network.

    from dpaccountant.remote import RemoteAccountant

    with RemoteAccountant("https://budget.example.org:8443", token=os.environ["TOKEN"]) as accountant:
        ledger = accountant.open_ledger("team-a/2026.ledger")
        ledger.spend(plan, key="run-17")

It has the methods of Accountant. Ledgers are named by their path in the folder of the server.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import os
import random
import ssl
import threading
import time
import urllib.parse
import uuid
from typing import Any, List, Optional, Tuple, Union

from ._connection import problem_of, text_of
from ._errors import AccountantError
from .client import Accountant

__all__ = ["RemoteAccountant"]

# What must not be asked twice when nobody knows whether it was done: each call makes or publishes anew.
_ONCE = ("ledger-create", "pate-publish", "pate-smooth")

# Too many requests, or a server that is not there for a moment: nothing was done.
_AGAIN = (429, 502, 503, 504)


class RemoteAccountant(Accountant):
    """An accountant behind HTTP, with the methods of Accountant.

    ``url`` begins with https, or with http where nobody can listen: a ``token`` goes over http to
    this machine only, unless ``plaintext`` says that something in between encrypts. ``ca`` is a file with
    the certificates to trust in the place of the system's, ``certificate`` and ``key`` are files with
    the client's own.

    When no answer comes, or the server has too much to do, a request is repeated up to ``retries``
    times, at growing intervals. A spend always has a key, a random one if it is given none, so that it
    is spent once however often it is repeated. If there is still no answer, AccountantError has the key:
    whether it was spent is known by asking again with it. What makes a file or publishes is not repeated.

    ``timeout`` is how many seconds an answer may take at the server, ``patience`` after how
    many a request counts as one without an answer. Threads ask at the same time; a forked child has
    connections of its own.
    """

    def __init__(
        self,
        url: str,
        *,
        token: Optional[str] = None,
        ca: Optional[str] = None,
        certificate: Optional[str] = None,
        key: Optional[str] = None,
        plaintext: bool = False,
        timeout: Optional[float] = None,
        patience: float = 120,
        retries: int = 4,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
            raise ValueError(f"url: {url!r} is not like https://budget.example.org:8443")
        if parts.scheme == "http" and (ca or certificate or key):
            raise ValueError("url: certificates are for https")
        if parts.scheme == "http" and token and not plaintext and not _is_here(parts.hostname):
            raise ValueError(f"token: would go to {parts.hostname} in plain text: use https")
        if retries < 0:
            raise ValueError(f"retries: {retries} is not in [0, ∞)")
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._tls: Optional[ssl.SSLContext] = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=ca)
            if certificate:
                self._tls.load_cert_chain(certificate, key)
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout, self._patience, self._retries = timeout, patience, retries
        self._closed = False
        self._disown()

    def _disown(self) -> None:
        """Have no connections yet, for this process."""
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []

    def close(self) -> None:
        """Close the connections. Ledgers stay as they are."""
        self._closed = True
        self._mine()
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def alive(self) -> bool:
        """Whether it can still ask: it is not closed."""
        return not self._closed

    def request(self, op: str, **arguments: Any) -> Any:
        """Send one request of docs/reference/server.md and return its result."""
        if self._closed:
            raise AccountantError("the accountant is closed")
        if op == "ledger-close":  # the server's, not the client's
            return {}
        if op == "ledger-open":
            self.request("ledger-status", ledger=arguments["path"])
            return {"ledger": arguments["path"]}
        if self._timeout is not None:
            arguments.setdefault("timeout", self._timeout)
        if op == "ledger-spend" and not arguments.get("key"):
            arguments["key"] = uuid.uuid4().hex
        body = text_of(op, arguments).encode("utf-8")
        wait, unknown = 0.0, False  # whether it is not known that nothing was done
        problem = AccountantError("")
        for attempt in range(self._retries + 1):
            if attempt:
                time.sleep(wait * random.uniform(0.5, 1))
            wait = 0.1 * 2.0**attempt
            try:
                status, after, text = self._post(op, body)
            except _NoAnswer as error:
                unknown = unknown or error.sent
                problem = AccountantError(f"{self._host}: {op}: {error.cause}")
                problem.__cause__ = error.cause
            else:
                answer = _json(text)
                if status == 200 and answer is not None:
                    return answer
                unknown = unknown or status in (500, 502, 504)
                error_of = answer.get("error") if isinstance(answer, dict) else None
                if isinstance(error_of, dict) and "kind" in error_of and "message" in error_of:
                    problem = problem_of(error_of)
                else:
                    problem = AccountantError(f"{self._host}: {op}: status {status}, and no answer of an accountant")
                if status not in _AGAIN:
                    break
                wait = max(wait, after)
            if unknown and op in _ONCE:
                break
        if unknown and op == "ledger-spend":
            problem.args = (f"{problem}; whether it was spent is not known: ask again with the key {arguments['key']!r}",)
        elif unknown and op in _ONCE:
            problem.args = (f"{problem}; whether it was done is not known",)
        raise problem

    def _post(self, op: str, body: bytes) -> Tuple[int, float, bytes]:
        """The status of one request, after how many seconds to repeat it, and its text."""
        connection = self._connection()
        if op in _ONCE:
            connection.close()  # a server may just now give up what was idle
        sent = False
        try:
            if connection.sock is None:
                connection.connect()
            sent = True
            connection.request("POST", f"{self._base}/v1/{op}", body, self._headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if isinstance(error, ssl.SSLCertVerificationError):
                raise AccountantError(f"{self._host}: {error}") from error
            raise _NoAnswer(error, sent) from error
        except BaseException:
            connection.close()  # its answer may still come, and is not that to the next request
            raise
        with self._lock:
            self._idle.append(connection)
        if self._closed:
            self.close()
        after = response.getheader("Retry-After") or ""
        return response.status, min(float(after), 30) if after.isdigit() else 0, text

    def _mine(self) -> None:
        """In a forked child: let go of the parent's connections, whose answers are the parent's."""
        if self._owner != os.getpid():
            theirs = self._idle
            self._disown()
            for connection in theirs:
                connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        """A connection that no other thread uses."""
        self._mine()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._patience)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._patience, context=self._tls)

    def _path(self, path: Union[str, "os.PathLike[str]"]) -> str:
        return os.fspath(path)


class _NoAnswer(Exception):
    """No answer came, though the request may have been read if it was ``sent``."""

    def __init__(self, cause: Exception, sent: bool) -> None:
        super().__init__(cause)
        self.cause, self.sent = cause, sent


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_here(host: str) -> bool:
    """Whether a name is this machine's."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
