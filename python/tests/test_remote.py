"""Tests of dpaccountant.remote against the server of the program that ACCOUNTANT names."""

import contextlib
import hashlib
import json
import math
import multiprocessing
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from dpaccountant import (
    Accountant, AccountantError, BudgetError, InfeasibleError, InputError, NoAnswerError, _binary,
)
from dpaccountant.remote import RemoteAccountant


def pure(epsilon, count=1):
    return {
        "neighbors": "add-remove",
        "steps": [{"mechanism": {"pure": {"epsilon": epsilon}}, "count": count}],
    }


BUDGET = dict(neighbors="add-remove", epsilon=1, delta=0, mode="planned")


class Proxy:
    """Passes connections on to a server, and spoils the first of them, as a list says of each.

    "answer": the request goes through and its answer is lost; "busy": a balancer answers 503;
    "refuse": the connection is closed unread; "other": a page of something else answers 200.
    """

    def __init__(self, port, spoil):
        self._to, self._spoil = port, list(spoil)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.seen = 0
        threading.Thread(target=self._run, daemon=True).start()

    def close(self):
        self._listener.close()

    def _run(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.seen += 1
            how = self._spoil.pop(0) if self._spoil else None
            with client:
                if how != "refuse":
                    self._pass(client, how)

    def _pass(self, client, how):
        request = self._read(client)
        if how == "busy":
            client.sendall(b"HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        if how == "other":
            client.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\nConnection: close\r\n\r\n{"status":"up"}')
            return
        with socket.create_connection(("127.0.0.1", self._to)) as server:
            server.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            answer = b"".join(iter(lambda: server.recv(1 << 16), b""))
        if how is None:
            client.sendall(answer)

    @staticmethod
    def _read(client):
        text = b""
        while b"\r\n\r\n" not in text:
            text += client.recv(1 << 16)
        head, _, body = text.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(body) < length:
            body += client.recv(1 << 16)
        return head + b"\r\n\r\n" + body


class Tests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.ledgers = os.path.join(self.folder, "ledgers")
        os.mkdir(self.ledgers)

    def serve(self, *flags):
        """The port of a new server."""
        server = subprocess.Popen(
            [_binary.find(), "serve", "--http", "0", "--ledgers", self.ledgers, *flags],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )
        self.addCleanup(server.stderr.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        for line in server.stderr:
            said = json.loads(line)
            if said["msg"] == "listening":
                threading.Thread(target=server.stderr.read, daemon=True).start()
                return int(said["address"].rpartition(":")[2])
        self.fail("the server does not listen")

    def remote(self, port, **options):
        accountant = RemoteAccountant(f"http://127.0.0.1:{port}", **options)
        self.addCleanup(accountant.close)
        return accountant

    def test_answers_are_those_of_the_program(self):
        with Accountant() as local:
            remote = self.remote(self.serve())
            for ask in (
                lambda a: a.version(),
                lambda a: a.epsilon(pure(0.5, 3), delta=1e-6),
                lambda a: a.risk(pure(1)),
                lambda a: a.dpsgd(sampling_rate=0.01, steps=100, noise_multiplier=1, delta=[1e-5, 1e-6]),
                lambda a: a.calibrate(pure(0.1, 4), epsilon=2, delta=0, solve="count"),
            ):
                self.assertEqual(ask(remote), ask(local))
            for kind, ask in (
                (InputError, lambda a: a.epsilon(pure(-1), delta=0)),
                (InputError, lambda a: a.epsilon(pure(math.nan), delta=0)),
                (InfeasibleError, lambda a: a.calibrate(pure(1), epsilon=0.5, delta=0, solve="count")),
                (NoAnswerError, lambda a: a.request("risk", plan=pure(1, 10**6), timeout=1e-9)),
            ):
                with self.subTest(kind):
                    with self.assertRaises(kind) as one:
                        ask(local)
                    with self.assertRaises(kind) as two:
                        ask(remote)
                    self.assertEqual(str(one.exception), str(two.exception))

    def test_ledger(self):
        remote = self.remote(self.serve())
        with self.assertRaises(InputError):
            remote.open_ledger("a.ledger")
        ledger = remote.create_ledger("a.ledger", **BUDGET)
        with self.assertRaises(InputError):
            remote.create_ledger("a.ledger", **BUDGET)
        self.assertEqual(ledger.fits(pure(0.4)), 2)
        ledger.spend(pure(0.4), note="first", key="run-1")
        ledger.spend(pure(0.4), note="first", key="run-1")
        with self.assertRaises(InputError):
            ledger.spend(pure(0.3), key="run-1")
        ledger.spend(pure(0.4))
        with self.assertRaises(BudgetError):
            ledger.spend(pure(0.4))
        self.assertEqual(ledger.status().entries, 2)
        self.assertEqual([e.get("note") for e in remote.log_ledger("a.ledger")], ["first", None])
        self.assertEqual(remote.check_ledger("a.ledger", ledger.status().head).entries, 2)
        ledger.close()
        self.assertEqual(remote.open_ledger("a.ledger").status().entries, 2)
        with self.assertRaises(InputError):
            remote.open_ledger("../a.ledger")
        remote.close()
        with self.assertRaisesRegex(AccountantError, "is closed"):
            ledger.status()

    def test_a_repeated_spend_is_granted_once(self):
        """Answers are lost, and connections, on the way; each spend is in the ledger once."""
        port = self.serve()
        self.remote(port).create_ledger("a.ledger", **BUDGET)
        proxy = Proxy(port, ["answer", "busy", "refuse", None, "answer"])
        self.addCleanup(proxy.close)
        ledger = self.remote(proxy.port).open_ledger("a.ledger")
        self.assertEqual(proxy.seen, 4)  # open_ledger looks at it, and is repeated too
        ledger.spend(pure(0.3))
        self.assertEqual(proxy.seen, 6)
        status = ledger.status()
        self.assertEqual((status.entries, status.runs), (1, 1))
        # Nothing but the key tells a repeated spend from a second one.
        with open(os.path.join(self.ledgers, "a.ledger"), encoding="utf-8") as file:
            self.assertEqual(file.read().count('"key"'), 1)

    def test_in_doubt(self):
        """Where no answer comes the caller hears with which key to ask again."""
        port = self.serve()
        self.remote(port).create_ledger("a.ledger", **BUDGET)
        proxy = Proxy(port, [None, "answer", "answer", None, "answer", "answer"])
        self.addCleanup(proxy.close)
        remote = self.remote(proxy.port, retries=1)
        ledger = remote.open_ledger("a.ledger")
        with self.assertRaisesRegex(AccountantError, "not known: ask again with the key '[0-9a-f]{32}'") as caught:
            ledger.spend(pure(0.3))
        ledger.spend(pure(0.3), key=str(caught.exception).rpartition("key ")[2].strip("'"))
        self.assertEqual(self.remote(port).open_ledger("a.ledger").status().entries, 1)
        # What makes a file is asked once.
        with self.assertRaisesRegex(AccountantError, "whether it was done is not known"):
            remote.create_ledger("b.ledger", **BUDGET)
        self.assertEqual(proxy.seen, 5)
        proxy.close()
        with self.assertRaises(AccountantError) as caught:
            self.remote(1, retries=0).open_ledger("a.ledger")
        self.assertNotIn("not known", str(caught.exception))

    def test_another_answer_grants_nothing(self):
        port = self.serve()
        self.remote(port).create_ledger("a.ledger", **BUDGET)
        proxy = Proxy(port, [None, "other"])
        self.addCleanup(proxy.close)
        ledger = self.remote(proxy.port).open_ledger("a.ledger")
        with self.assertRaisesRegex(AccountantError, "must not run"):
            ledger.spend(pure(0.3))
        self.assertEqual(ledger.status().entries, 0)

    def test_tokens(self):
        clients = os.path.join(self.folder, "clients.json")
        reads, spends = "r" * 40, "s" * 40

        def client(name, token, *scopes):
            return {"name": name, "token-sha256": hashlib.sha256(token.encode()).hexdigest(), "scopes": scopes}

        with open(clients, "w", encoding="utf-8") as file:
            json.dump({"clients": [client("r", reads, "read"), client("s", spends, "read", "spend", "create")]}, file)
        os.chmod(clients, 0o600)
        port = self.serve("--clients", clients)
        self.remote(port, token=spends).create_ledger("a.ledger", **BUDGET).spend(pure(0.1))
        reader = self.remote(port, token=reads).open_ledger("a.ledger")
        self.assertEqual(reader.status().entries, 1)
        stranger = self.remote(port, token="x" * 40)
        for ask in (lambda: reader.spend(pure(0.1)), stranger.version):
            with self.assertRaises(AccountantError) as caught:
                ask()
            self.assertNotIsInstance(caught.exception, BudgetError)
        with self.assertRaisesRegex(ValueError, "plain text"):
            RemoteAccountant("http://budget.example.org", token=reads)
        RemoteAccountant("http://budget.example.org", token=reads, plaintext=True)
        for url in ("budget.example.org", "ftp://x", "https://", "https://me:secret@x", "https://x?y"):
            with self.assertRaisesRegex(ValueError, "url: "):
                RemoteAccountant(url)

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl: certificates are not tested")
    def test_certificates(self):
        def path(name):
            return os.path.join(self.folder, name)

        def made(name, *extension):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                 "-keyout", path(name + ".key"), "-out", path(name + ".pem"), *extension],
                check=True, capture_output=True,
            )

        made("server", "-addext", "subjectAltName=IP:127.0.0.1")
        made("client")
        port = self.serve(
            "--tls-cert", path("server.pem"), "--tls-key", path("server.key"), "--client-ca", path("client.pem")
        )
        url = f"https://127.0.0.1:{port}"
        mine = dict(certificate=path("client.pem"), key=path("client.key"))
        with RemoteAccountant(url, ca=path("server.pem"), **mine) as remote:
            self.assertAlmostEqual(remote.epsilon(pure(0.5), delta=0).upper, 0.5, places=9)
        with RemoteAccountant(url, ca=path("server.pem"), retries=0) as nobody, self.assertRaises(AccountantError):
            nobody.epsilon(pure(0.5), delta=0)
        with RemoteAccountant(url, **mine) as unknown, self.assertRaisesRegex(AccountantError, "certificate verify failed"):
            unknown.version()

    def test_threads_and_forks(self):
        """Each thread and each child gets the answers to its own requests."""
        remote = self.remote(self.serve())
        self.assertEqual(remote.epsilon(pure(9), delta=0).estimate, 9)
        wrong = []

        def ask(i, wrong):
            for _ in range(20):
                answer = remote.epsilon(pure(i), delta=0).estimate
                if abs(answer - i) > 1e-6:
                    wrong.append((i, answer))

        def child(i):
            wrong = []
            ask(i, wrong)
            os._exit(len(wrong))

        with contextlib.ExitStack() as stack:
            children = []
            if hasattr(os, "fork"):
                context = multiprocessing.get_context("fork")
                children = [context.Process(target=child, args=(i,)) for i in (1, 2)]
            for c in children:
                c.start()
                stack.callback(c.join)
            threads = [threading.Thread(target=ask, args=(i, wrong)) for i in (3, 4, 5)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(wrong, [])
        self.assertEqual([c.exitcode for c in children], [0] * len(children))


if __name__ == "__main__":
    unittest.main()
