"""What git says of a repository, by other commands than the service uses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.git.random_repositories import run_git
from tservice.git.model import to_display_text

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def output_words(output: bytes) -> list[bytes]:
    return output.split(b"\0")[:-1]


def changed_paths(output: bytes) -> dict[bytes, tuple[str, bytes | None]]:
    """C{--name-status -z}: path to letter and old path."""
    found: dict[bytes, tuple[str, bytes | None]] = {}
    rest = iter(output_words(output))
    for letter in rest:
        path = next(rest)
        if letter[:1] in b"RC":
            found[next(rest)] = (letter[:1].decode(), path)
        else:
            found[path] = (letter.decode(), None)
    return found


def ask_status(root: Path) -> dict[str, Any]:
    """The status, in the service's form less C{files} letters of the other side."""
    conflicted = {
        line.split(b"\t", 1)[1] for line in output_words(run_git(root, "ls-files", "-uz"))
    }
    head = run_git(root, "rev-parse", "-q", "--verify", "HEAD", fails=True).strip()
    base = head.decode() or EMPTY_TREE
    quiet = ("--name-status", "-z", "--ignore-submodules=dirty")
    staged = changed_paths(run_git(root, "diff-index", "--cached", "-M", *quiet, base))
    run_git(root, "update-index", "-q", "--refresh", fails=True)
    unstaged = changed_paths(run_git(root, "diff-files", *quiet))
    others = ("--others", "--exclude-standard", "--directory", "--no-empty-directory")
    untracked = set(output_words(run_git(root, "ls-files", "-z", *others)))
    staged = {path: how for path, how in staged.items() if path not in conflicted}
    unstaged = {path: how for path, how in unstaged.items() if path not in conflicted}
    rows = [(path, "staged", *how) for path, how in staged.items()]
    rows += [(path, "unstaged", *how) for path, how in unstaged.items()]
    rows += [(path, "untracked", "?", None) for path in untracked]
    rows += [(path, "conflicted", "", None) for path in conflicted]
    return {
        "rows": sorted(
            (to_display_text(p), k, how, old and to_display_text(old)) for p, k, how, old in rows
        ),
        "counts": {
            "staged": len(staged),
            "unstaged": len(unstaged),
            "untracked": len(untracked),
            "conflicted": len(conflicted),
            "uncommitted": len({path for path, *_ in rows}),
            "stashes": len(run_git(root, "stash", "list").splitlines()),
        },
        **branch_state(root, born=bool(head)),
    }


def branch_state(root: Path, *, born: bool) -> dict[str, Any]:
    """Branch, upstream, distance, and what was not pushed."""
    name = run_git(root, "symbolic-ref", "-q", "--short", "HEAD", fails=True).decode().strip()
    remote = bool(run_git(root, "remote").strip())
    form = "--format=%(upstream:short)%00%(upstream)%00%(upstream:track)"
    line = run_git(root, "for-each-ref", form, f"refs/heads/{name}") if name and born else b""
    upstream, full, track = (line.decode().strip("\n") or "\0\0").split("\0")
    gone = track == "[gone]"
    ahead = behind = 0
    if upstream and not gone:
        sides = run_git(root, "rev-list", "--left-right", "--count", f"{full}...HEAD").split()
        behind, ahead = map(int, sides)
    which = (f"^{full}", "HEAD") if upstream and not gone else ("HEAD", "--not", "--remotes")
    form = "--format=%H%x00%an%x00%ct%x00%s"
    lines = run_git(root, "log", form, *which).splitlines() if born and remote else []
    commits = [line.decode().split("\0") for line in lines]
    return {
        "branch": name or None,
        "detached": not name,
        "commit": run_git(root, "rev-parse", "HEAD").decode().strip() if born else None,
        "upstream": upstream or None,
        "ahead": ahead,
        "behind": behind,
        "hasRemote": remote,
        "upstreamGone": gone,
        "unpushedCount": len(commits),
        "unpushed": [
            {"hash": h, "author": a, "time": int(t), "subject": s} for h, a, t, s in commits[:50]
        ],
    }
