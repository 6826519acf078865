"""Build a release: the changelog, the version, a source archive and a wheel with their checksums.

Usage: C{release.py VERSION [--output FOLDER]}, or C{make release VERSION=x.y.z}. The version is in
C{tservice/__init__.py} and nowhere else. The release is committed and tagged here; nothing is
uploaded or pushed.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION_FILE = ROOT / "tservice" / "__init__.py"
CHANGELOG = ROOT / "CHANGELOG.rst"
ASSIGNMENT = re.compile(r'(?m)^__version__ = "(\d+\.\d+\.\d+)"$')


def run_command(*command: str) -> str:
    """Run a command in the project's root and return its output; end the program if it fails."""
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        sys.exit(f"release: {' '.join(command)} failed with exit status {ended.returncode}")
    return ended.stdout


def read_version() -> str:
    """Return the version that the program has now."""
    found = ASSIGNMENT.search(VERSION_FILE.read_text("utf-8"))
    if found is None:
        sys.exit(f'release: {VERSION_FILE} has no line __version__ = "x.y.z"')
    return found[1]


def write_version(version: str) -> None:
    """Write C{version} where the program has it."""
    text = VERSION_FILE.read_text("utf-8")
    VERSION_FILE.write_text(ASSIGNMENT.sub(f'__version__ = "{version}"', text), "utf-8")


def find_refusal(version: str) -> str | None:
    """Return why C{version} cannot be released from this work tree, or C{None}."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return f"VERSION: {version!r} is not of the form x.y.z"
    if run_command("git", "status", "--porcelain"):
        return "the work tree has changes: commit or remove them first"
    if run_command("git", "tag", "--list", f"v{version}"):
        return f"VERSION: v{version} is a tag already"
    if _as_numbers(version) < _as_numbers(read_version()):
        return f"VERSION: {version} is older than {read_version()}"
    if not _is_described(version) and not _fragments():
        return f"CHANGELOG.rst has no section for {version}, and newsfragments/ is empty"
    return None


def build_release(version: str, output: Path) -> list[Path]:
    """Write changelog and version, commit and tag them, and build the files into C{output}."""
    if not _is_described(version):
        run_command(sys.executable, "-m", "towncrier", "build", "--yes", "--version", version)
    write_version(version)
    run_command("git", "add", "--all")
    if run_command("git", "status", "--porcelain"):
        run_command("git", "commit", "--quiet", "--message", f"release: Publish {version}")
    # Both from the work tree: of an archive, a wheel would be for this kind of machine alone.
    run_command(sys.executable, "-m", "build", "--sdist", "--wheel", "--outdir", str(output))
    built = sorted(output.glob(f"tservice-{version}*"))
    sums = "".join(f"{_checksum(file)}  {file.name}\n" for file in built)
    (output / "SHA256SUMS").write_text(sums)
    run_command("git", "tag", "--annotate", f"v{version}", "--message", f"tservice {version}")
    return [*built, output / "SHA256SUMS"]


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _is_described(version: str) -> bool:
    return f"\ntservice {version} (" in CHANGELOG.read_text("utf-8")


def _fragments() -> list[Path]:
    return [file for file in (ROOT / "newsfragments").glob("*.*.rst") if file.name != "README.rst"]


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main(words: list[str]) -> None:
    """Release, or say on one line why not."""
    parser = argparse.ArgumentParser(description="Build a release of tservice.")
    parser.add_argument("version", help="the version, as x.y.z")
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="where the files go")
    options = parser.parse_args(words)
    if (refusal := find_refusal(options.version)) is not None:
        sys.exit(f"release: {refusal}")
    for file in build_release(options.version, options.output.resolve()):
        print(file)
    print(f"Next: git push --follow-tags, and upload the files of v{options.version}.")


if __name__ == "__main__":
    main(sys.argv[1:])
