"""Every public method, class and function says what it does and has an example, and every example runs."""

import inspect
import os
import re
import sys
import tempfile
import textwrap
import types
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..")]

import dpaccountant
from dpaccountant import callbacks, dpsgd, events, flower

MENU = {"neighbors": "add-remove", "budget": {"units": 4}, "menu": [{"name": "a", "cost": 1, "steps": [dict(dpaccountant.Gaussian(4))]}]}
NUMPY = re.compile("numpy|pandas")


def example(text):
    """What of a text is indented after an empty line, as a program; "" without one. The last line has the indent of the text."""
    lines = (text or "").expandtabs().split("\n")
    base, block = len(lines[-1]) if not lines[-1].strip() else 0, []
    for before, line in zip(lines, lines[1:]):
        if line[base:].startswith("    ") and (not before.strip() or before[base:].startswith("    ")):
            block.append(line)
    return textwrap.dedent("\n".join(block))


def documented():
    """Each name and its text."""
    for name, method in inspect.getmembers(dpaccountant.Accountant, inspect.isfunction):
        if not name.startswith("_"):
            yield f"Accountant.{name}", method.__doc__
    for name in dpaccountant.__all__:
        found = getattr(dpaccountant, name)
        if inspect.isfunction(found) or inspect.isclass(found) and not issubclass(found, (Exception, dpaccountant.Answer)):
            if name not in ("Found", "NoiseStream", "AdaptiveSearch", "Plan") or example(found.__doc__):  # what methods return
                yield name, found.__doc__
    for module, names in ((dpsgd, dpsgd.__all__), (callbacks, ["TrainingBudget"]), (events, ["PrivacyAccountant"]), (flower, ["CertifiedAccountant"])):
        for name in names:
            yield f"{module.__name__}.{name}", getattr(module, name).__doc__


class Docstrings(unittest.TestCase):
    def test_examples_run(self):
        tried = set()
        with tempfile.TemporaryDirectory() as folder, dpaccountant.Accountant() as accountant:
            before = os.getcwd()
            os.chdir(folder)
            try:
                with open("visits.csv", "w", encoding="utf-8") as file:
                    file.write("page\n" + "home\n" * 100)
                known = {**{name: getattr(dpaccountant, name) for name in dpaccountant.__all__}, **vars(types)}
                known.update(
                    accountant=accountant, dpsgd=dpsgd, callbacks=callbacks, events=events, plans=dpaccountant.plans, Matrix=dpaccountant.Matrix,
                    CertifiedAccountant=flower.CertifiedAccountant, plan=dpaccountant.Plan(dpaccountant.Gaussian(2) * 3), menu=accountant.filter(MENU),
                    ledger=accountant.create_ledger(neighbors="add-remove", epsilon=2, delta=1e-6, mode="planned"))
                # A ledger is made before it is opened.
                for name, text in sorted(documented(), key=lambda pair: pair[0] != "Accountant.create_ledger"):
                    program = example(text)
                    self.assertTrue(program, f"{name} has no example")
                    try:
                        exec(compile(program, name, "exec"), dict(known))
                    except ModuleNotFoundError as error:
                        self.assertRegex(str(error), NUMPY, name)
                        print(f"{name}: NOT RUN: {error}", file=sys.stderr)
                    except Exception as error:
                        self.fail(f"{name}: {program}\n{error!r}")
                    tried.add(name)
            finally:
                os.chdir(before)
        self.assertGreater(len(tried), 75)

    def test_no_example_is_noticed(self):
        self.assertEqual(example("Returns x.\n\nMore of it.\n"), "")
        self.assertEqual(example("Returns x.\n\n        f(\n            1)\n    "), "f(\n    1)")


if __name__ == "__main__":
    unittest.main()
