"""Asks requests of standard input, an operation and its keys as JSON on each line, by the methods of dpaccountant."""

import json
import sys

from dpaccountant import Accountant, AccountantError


class Recorded(Accountant):
    """Keeps what came: an answer, or one for each value of a list."""

    came = []

    def request(self, op, **arguments):
        self.came.append(super().request(op, **arguments))
        return self.came[-1]


with Recorded() as accountant:
    for line in sys.stdin:
        op, request = line.split(" ", 1)
        name = op.replace("-", "_")
        method = getattr(accountant, "_" + name, None) or getattr(accountant, name)
        keys = {k.replace("-", "_") + ("_" if k in ("from", "max", "in") else ""): v for k, v in json.loads(request).items()}
        accountant.came.clear()
        try:
            method(**keys)
            came = accountant.came
            print(json.dumps({"Result": came[0] if len(came) == 1 else {"results": [x for a in came for x in a["results"]]}}))
        except AccountantError as error:
            print(json.dumps({"Error": {"Message": str(error)}}))
