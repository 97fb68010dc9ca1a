"""Asks requests of standard input, an operation and its keys as JSON on each line, by the methods of dpaccountant."""

import json
import sys

from dpaccountant import Accountant, AccountantError


class Recorded(Accountant):
    """Keeps what came last."""

    def request(self, op, **arguments):
        self.came = super().request(op, **arguments)
        return self.came


with Recorded() as accountant:
    for line in sys.stdin:
        op, request = line.split(" ", 1)
        name = op.replace("-", "_")
        method = getattr(accountant, "_" + name, None) or getattr(accountant, name)
        keys = {k.replace("-", "_") + ("_" if k in ("from", "max", "in") else ""): v for k, v in json.loads(request).items()}
        try:
            method(**keys)
            print(json.dumps({"Result": accountant.came}))
        except AccountantError as error:
            print(json.dumps({"Error": {"Message": str(error)}}))
