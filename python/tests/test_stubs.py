"""The stubs of other libraries against their sources, where these are at hand, and the adapters against the stubs.

DPACCOUNTANT_PEERS names a folder with the package opacus of Opacus 1.4.0; without it that part is left out.
"""

import ast
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "dpaccountant")
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "stubs")]

import opacus_1_4_0 as stub
from dpaccountant import dpsgd

PEERS = os.environ.get("DPACCOUNTANT_PEERS", "")
SOURCE = os.path.join(PEERS, "opacus")


def interface(node):
    """The parameters of a function, as stubs have them."""
    a = node.args
    plain = a.posonlyargs + a.args
    words = [p.arg for p in plain]
    for i in range(1, len(a.defaults) + 1):
        words[-i] += "="
    if a.vararg or a.kwonlyargs:
        words.append("*" + (a.vararg.arg if a.vararg else ""))
    words += [p.arg + ("=" if d is not None else "") for p, d in zip(a.kwonlyargs, a.kw_defaults)]
    return " ".join(words + ([f"**{a.kwarg.arg}"] if a.kwarg else []))


def functions(path, class_name=None):
    """The functions of a file, or of a class in it, by name."""
    with open(path, encoding="utf-8") as file:
        body = ast.parse(file.read()).body
    if class_name:
        body = next(n.body for n in body if isinstance(n, ast.ClassDef) and n.name == class_name)
    return {n.name: interface(n) for n in body if isinstance(n, ast.FunctionDef)}


def takes(ours, theirs):
    """What of their parameters ours do not take."""
    have = ours.replace("=", "").split()
    if any(word.startswith("**") for word in have):
        return set()
    return {word.rstrip("=") for word in theirs.split() if not word.startswith("*")} - set(have)


class Opacus(unittest.TestCase):
    @unittest.skipUnless(os.path.isdir(SOURCE), "DPACCOUNTANT_PEERS HAS NO SOURCE OF OPACUS: its stub is not compared with it")
    def test_stub_is_the_source(self):
        with open(os.path.join(SOURCE, "version.py"), encoding="utf-8") as file:
            self.assertIn('"1.4.0"', file.read())
        for names, path, class_name in (
            (stub.ACCOUNTANT, "accountants/accountant.py", "IAccountant"),
            (stub.UTILS, "accountants/utils.py", None),
            (stub.ENGINE, "privacy_engine.py", "PrivacyEngine"),
        ):
            found = functions(os.path.join(SOURCE, *path.split("/")), class_name)
            self.assertEqual(names, {name: found.get(name) for name in names})

    def test_adapters_take_every_argument(self):
        ours = functions(os.path.join(PACKAGE, "opacus.py"), "CertifiedAccountant")
        engine = functions(os.path.join(PACKAGE, "opacus.py"), "PrivacyEngine")
        noise = functions(os.path.join(PACKAGE, "dpsgd.py"))
        for found, names in ((ours, stub.ACCOUNTANT), (engine, stub.ENGINE), (noise, stub.UTILS)):
            for name, theirs in names.items():
                if name not in found and found is engine:
                    continue  # inherited
                self.assertEqual(takes(found[name], theirs), set(), name)

    def test_arguments_that_change_nothing(self):
        run = dict(target_epsilon=2.0, target_delta=1e-5, sample_rate=0.01, steps=100)
        self.assertEqual(dpsgd.get_noise_multiplier(**run), dpsgd.get_noise_multiplier(**run, accountant="rdp", epsilon_tolerance=0.1, alphas=[2]))
        text = (60000, 256, 1, 1.1, 1e-5)
        self.assertEqual(dpsgd.compute_dp_sgd_privacy_statement(*text), dpsgd.compute_dp_sgd_privacy_statement(*text, accountant_type="PLD"))

    def test_a_wrong_stub_is_noticed(self):
        node = ast.parse("def f(self, a, b=1, *, c, d=2, **e): pass").body[0]
        self.assertEqual(interface(node), "self a b= * c d= **e")
        self.assertEqual(takes("self a", "self a b="), {"b"})


if __name__ == "__main__":
    unittest.main()
