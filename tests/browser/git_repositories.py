"""Repositories for the pages of the browser tests."""

from __future__ import annotations

from pathlib import Path

from tests.unit.git.random_repositories import run_git

LINES = [f"line {number}" for number in range(1, 61)]
LONG = 400 * 1024
"""Bytes of a diff before it is cut short (protocol-git-diff)."""


def lines_text(lines: list[str]) -> str:
    """A file of these lines."""
    return "".join(f"{line}\n" for line in lines)


def make_repository(root: Path) -> Path:
    """A repository with one commit of three files."""
    (root / "src").mkdir(parents=True)
    run_git(root, "init", "-q", "-b", "main", "--template=")
    for name in ("src/walk.py", "old.txt", "README"):
        (root / name).write_text(lines_text([f"{name} {line}" for line in LINES]))
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "first")
    return root


def make_busy_repository(root: Path) -> Path:
    """The same with everything that a page shows: a remote, commits, a stash, each kind of file."""
    make_repository(root)
    remote = root.parent / f"{root.name}.git"
    run_git(root, "init", "-q", "--bare", "-b", "main", str(remote))
    run_git(root, "remote", "add", "origin", str(remote))
    run_git(root, "push", "-q", "-u", "origin", "main")
    (root / "README").write_text("for the stash\n")
    run_git(root, "stash", "-q")
    (root / "second").write_text("second\n")
    run_git(root, "add", "second")
    run_git(root, "commit", "-qm", "A commit that is not pushed")
    run_git(root, "mv", "old.txt", "new.txt")
    walk = [f"src/walk.py {line}" for line in LINES]
    for number in range(5, 60, 10):
        walk[number] = f"changed {number}"
    (root / "src/walk.py").write_text(lines_text(walk))
    (root / "folder").mkdir()
    (root / "folder/inside").write_text("x\n")
    (root / "fresh.txt").write_text("a fresh file\n")
    return root


def make_large_repository(root: Path) -> Path:
    """Three hundred changed files, one of them with far more lines than a diff may have."""
    make_repository(root)
    for number in range(299):
        (root / f"file-{number:03}").write_text("x\n")
    run_git(root, "add", "-A")
    (root / "zz-long").write_text("a\n" * LONG)
    return root
