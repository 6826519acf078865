"""Repositories for the pages of the browser tests."""

from __future__ import annotations

from pathlib import Path

from tests.unit.git.repos import git

LINES = [f"line {number}" for number in range(1, 61)]
LONG = 400 * 1024
"""Bytes of a diff before it is cut short (protocol-git-diff)."""


def text(lines: list[str]) -> str:
    """A file of these lines."""
    return "".join(f"{line}\n" for line in lines)


def repository(root: Path) -> Path:
    """A repository with one commit of three files."""
    (root / "src").mkdir(parents=True)
    git(root, "init", "-q", "-b", "main", "--template=")
    for name in ("src/walk.py", "old.txt", "README"):
        (root / name).write_text(text([f"{name} {line}" for line in LINES]))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def busy(root: Path) -> Path:
    """The same with everything that a page shows: a remote, commits, a stash, each kind of file."""
    repository(root)
    remote = root.parent / f"{root.name}.git"
    git(root, "init", "-q", "--bare", "-b", "main", str(remote))
    git(root, "remote", "add", "origin", str(remote))
    git(root, "push", "-q", "-u", "origin", "main")
    (root / "README").write_text("for the stash\n")
    git(root, "stash", "-q")
    (root / "second").write_text("second\n")
    git(root, "add", "second")
    git(root, "commit", "-qm", "A commit that is not pushed")
    git(root, "mv", "old.txt", "new.txt")
    walk = [f"src/walk.py {line}" for line in LINES]
    for number in range(5, 60, 10):
        walk[number] = f"changed {number}"
    (root / "src/walk.py").write_text(text(walk))
    (root / "folder").mkdir()
    (root / "folder/inside").write_text("x\n")
    (root / "fresh.txt").write_text("a fresh file\n")
    return root


def large(root: Path) -> Path:
    """Three hundred changed files, one of them with far more lines than a diff may have."""
    repository(root)
    for number in range(299):
        (root / f"file-{number:03}").write_text("x\n")
    git(root, "add", "-A")
    (root / "zz-long").write_text("a\n" * LONG)
    return root
