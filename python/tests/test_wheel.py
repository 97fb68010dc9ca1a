"""Wheels, with a script for the program: what pip reads, and the same bytes each time."""

import base64
import hashlib
import io
import os
import shutil
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parent.parent))
import wheel

PROGRAM = b"#!/bin/sh\necho a script\n"
DATE = (2026, 11, 22, 12, 0, 0)


class WheelTest(unittest.TestCase):
    def test_version(self):
        for text, want in {"1.2.3": "1.2.3", "v1.2.3-rc.4": "1.2.3rc4", "0.10.0-alpha.1": "0.10.0a1", "1.0.0-beta.11": "1.0.0b11"}.items():
            self.assertEqual(wheel.python_version(text), want)
        for text in "", "1.2", "01.2.3", "1.2.3-x", "1.2.3 ", "1.2.3\n", "1.2.3-rc.1 -X main.evil=1":
            with self.assertRaises(SystemExit):
                wheel.python_version(text)

    def test_contents(self):
        for platform, tags in wheel.TAGS.items():
            name, content = wheel.wheel(platform, "1.2.0rc3", PROGRAM, DATE)
            self.assertEqual((name, content), wheel.wheel(platform, "1.2.0rc3", PROGRAM, DATE))
            self.assertEqual(name, f"dpaccountant-1.2.0rc3-py3-none-{tags}.whl")
            with zipfile.ZipFile(io.BytesIO(content)) as z:
                modes = {entry.filename: entry.external_attr >> 16 for entry in z.infolist()}
                files = {entry: z.read(entry) for entry in z.namelist()}
            script = "dpaccountant-1.2.0rc3.data/scripts/accountant" + (".exe" if "windows" in platform else "")
            self.assertEqual((files[script], modes[script]), (PROGRAM, 0o100755))
            for module in "__init__.py", "client.py", "py.typed", "opacus.py":
                self.assertIn(f"dpaccountant/{module}", files)
            self.assertIn(b'__version__ = "1.2.0rc3"', files["dpaccountant/_version.py"])
            info = "dpaccountant-1.2.0rc3.dist-info/"
            self.assertEqual(files[info + "WHEEL"].decode().count("Tag: py3-none-"), tags.count(".") + 1)
            self.assertTrue(files[info + "METADATA"].startswith(b"Metadata-Version: 2.1\nName: dpaccountant\nVersion: 1.2.0rc3\n"))
            self.assertIn(b"\nRequires-Python: >=3.8\n", files[info + "METADATA"])
            self.assertNotIn(b"Requires-Dist", files[info + "METADATA"].split(b"\n\n")[0])
            self.assertIn(info + "licenses/NOTICE", files)
            rows = dict(line.split(",", 1) for line in files[info + "RECORD"].decode().splitlines())
            self.assertEqual(rows.pop(info + "RECORD"), ",")
            del files[info + "RECORD"]
            for path, text in files.items():
                digest = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
                self.assertEqual(rows.pop(path), f"sha256={digest},{len(text)}")
            self.assertEqual(rows, {})

    def test_go(self):
        """A user's settings for Go do not disturb the build, and what is missing is named with its remedy."""
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}):
            with self.assertRaisesRegex(SystemExit, "no program go"):
                wheel.build("linux/amd64", "1.2.0", "c0ffee", "2026-11-22")
        if not shutil.which("go"):
            self.skipTest("THE BUILD OF WHEELS IS NOT TESTED: there is no go")
        with tempfile.TemporaryDirectory() as empty:
            settings = {"GOMODCACHE": empty, "GOPROXY": "off", "GOWORK": "off", "GOFLAGS": "-mod=mod"}
            with mock.patch.dict(os.environ, settings), self.assertRaisesRegex(SystemExit, "GOPROXY is off.* fetches them"):
                wheel.build("linux/amd64", "1.2.0", "c0ffee", "2026-11-22")


if __name__ == "__main__":
    unittest.main()
