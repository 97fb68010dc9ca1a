"""Builds wheels: the package dpaccountant with the program accountant among its scripts.

    python3 python/wheel.py                       a wheel for this machine, in dist/
    python3 python/wheel.py --platform all        one for each platform

It needs Python 3.8, Go, and the modules of go.mod. The bytes of a wheel depend on the sources, the version, the commit, its
date, Go and zlib, and on no path or clock.
"""

import argparse
import base64
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The programs are static, so that any Linux of the last ten years runs them; macOS 12 is the oldest that Go supports.
TAGS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
    "windows/arm64": "win_arm64",
}
VERSION = re.compile(r"v?((?:0|[1-9][0-9]*)(?:\.(?:0|[1-9][0-9]*)){2})(?:-(alpha|beta|rc)\.([0-9]+))?")


def output(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout.strip()


def python_version(version):
    """The version as PEP 440 writes it: 1.2.0-rc.1 is 1.2.0rc1."""
    match = VERSION.fullmatch(version)
    if not match:
        raise SystemExit(f"--version: {version!r} is not like 1.2.0 or 1.2.0-rc.1 (alpha, beta, rc)")
    numbers, stage, count = match.groups()
    return numbers + ({"alpha": "a", "beta": "b", "rc": "rc"}[stage] + count if stage else "")


def build(platform, version, commit, date):
    """The program, with the flags of .goreleaser.yaml."""
    system, architecture = platform.split("/")
    service = "github.com/dpaccountant/accountant/cmd/service"
    flags = f"-s -w -buildid= -X {service}.releaseVersion={version} -X {service}.releaseCommit={commit} -X {service}.releaseDate={date}"
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "accountant")
        # What the user set for other projects must not change this one: a workspace, flags.
        environment = dict(os.environ, CGO_ENABLED="0", GOOS=system, GOARCH=architecture, GOWORK="", GOFLAGS="")
        command = ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", str(program), "./cmd/accountant"]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, encoding="utf-8")
        except FileNotFoundError:
            raise SystemExit("wheel.py: there is no program go: install Go, https://go.dev/dl") from None
        sys.stderr.write(done.stderr)
        if done.returncode:
            off = "GOPROXY=off" in done.stderr
            raise SystemExit("wheel.py: go build failed" + (
                ": GOPROXY is off, and the modules are not here. GOPROXY=https://proxy.golang.org before the command fetches them" if off else ""))
        return program.read_bytes()


def wheel(platform, version, program, date):
    """A wheel (PEP 427): its name and its bytes. pip puts scripts beside the interpreter."""
    text = (ROOT / "python/pyproject.toml").read_text("utf-8")
    project = dict(re.findall(r'^(name|description|requires-python) = "(.*)"$', text, re.M))
    info, tags = f"dpaccountant-{version}", TAGS[platform]
    script = "accountant.exe" if platform.startswith("windows") else "accountant"
    files = {f"dpaccountant/{path.name}": path.read_bytes() for path in (ROOT / "python/dpaccountant").iterdir() if path.suffix == ".py" or path.name == "py.typed"}
    files["dpaccountant/_version.py"] = f'"""The version of the package."""\n\n__version__ = "{version}"\n'.encode()
    files[f"{info}.data/scripts/{script}"] = program
    for name in "LICENSE", "NOTICE":
        files[f"{info}.dist-info/licenses/{name}"] = (ROOT / name).read_bytes()
    files[f"{info}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\nSummary: {project['description']}\nLicense: Apache-2.0\n"
        f"Requires-Python: {project['requires-python']}\nClassifier: Typing :: Typed\nDescription-Content-Type: text/markdown\n\n"
    ).encode() + (ROOT / "python/README.md").read_bytes()
    files[f"{info}.dist-info/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: accountant\nRoot-Is-Purelib: false\n" + "".join(f"Tag: py3-none-{tag}\n" for tag in tags.split("."))
    ).encode()
    record = ""
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(content)}\n"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for name, content in [*sorted(files.items()), (f"{info}.dist-info/RECORD", f"{record}{info}.dist-info/RECORD,,\n".encode())]:
            entry = zipfile.ZipInfo(name, date)
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED  # 3: Unix, whose modes follow
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            z.writestr(entry, content)
    return f"{info}-py3-none-{tags}.whl", archive.getvalue()


def main():
    parser = argparse.ArgumentParser(description="Builds wheels that carry the program.")
    parser.add_argument("--out", default="dist", help="the folder (default: dist)")
    parser.add_argument("--platform", default=f"{output('go', 'env', 'GOOS')}/{output('go', 'env', 'GOARCH')}", help=f"all, or some of {', '.join(TAGS)} with commas between (default: this machine)")
    parser.add_argument("--version", help="such as 1.2.0 or 1.2.0-rc.1 (default: the tag of the commit, or 0.0.0)")
    options = parser.parse_args()
    version = options.version or output("git", "tag", "--points-at", "HEAD", "v*").split("\n")[0] or "0.0.0"
    python, version = python_version(version), version.lstrip("v")
    commit = output("git", "rev-parse", "HEAD") + ("+changes" if output("git", "status", "--porcelain") else "")
    date = time.gmtime(int(output("git", "log", "-1", "--format=%ct")))
    for platform in TAGS if options.platform == "all" else options.platform.split(","):
        if platform not in TAGS:
            parser.error(f"--platform: {platform!r} is not all or one of {', '.join(TAGS)}")
        name, content = wheel(platform, python, build(platform, version, commit, time.strftime("%Y-%m-%dT%H:%M:%SZ", date)), date[:6])
        Path(options.out).mkdir(parents=True, exist_ok=True)
        Path(options.out, name).write_bytes(content)
        print(f"{len(content) / 1e6:.2f} MB  {Path(options.out, name)}")


if __name__ == "__main__":
    sys.exit(main())
