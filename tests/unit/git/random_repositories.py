"""Repositories made from a seed, with few processes each."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from hashlib import sha1
from pathlib import Path

from attrs import define, field

NAMES: list[bytes] = [
    b"plain.txt",
    b"with space.txt",
    b"tab\there",
    b"new\nline",
    b'quote"d',
    b"back\\slash",
    "ünï/cödé.txt".encode(),
    b"latin\xe9.txt",
    b"-dash",
    b":colon",
    b"*star?[x]",
    b"#hash",
    b"deep/er/file",
    b"deep/other",
    b" leading",
    b"trailing ",
    b"? mark",
    b"a -> b",
]

ENVIRON = {
    "PATH": os.environ["PATH"],
    "HOME": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A U Thor",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "C O Mitter",
    "GIT_COMMITTER_EMAIL": "c@example.com",
    "LC_ALL": "C",
}


def run_git(folder: Path, *words: str | bytes, stdin: bytes = b"", fails: bool = False) -> bytes:
    """What git prints; C{fails}: it may."""
    done = subprocess.run(
        ["git", "-C", str(folder), *words],
        input=stdin,
        env=ENVIRON,
        capture_output=True,
        check=False,
    )
    if done.returncode and not fails:
        raise AssertionError((words, done.stderr))
    return done.stdout


def blob_name(data: bytes) -> str:
    """The object name of a blob."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


@define
class FastImportStream:
    """A stream for C{run_git fast-import}."""

    stream: list[bytes] = field(factory=list)
    marks: int = 0
    when: int = 1_700_000_000

    def add(self, branch: str, files: dict[bytes, bytes], parent: int | None, text: bytes) -> int:
        """One commit; its mark."""
        self.marks += 1
        self.when += 60
        who = b"<c@example.com> %d +0000\n" % self.when
        self.stream += [
            b"commit refs/heads/" + branch.encode() + b"\n",
            b"mark :%d\n" % self.marks,
            "author Zoë ".encode() + who,
            b"committer C O Mitter " + who,
            b"data %d\n" % len(text) + text + b"\n",
        ]
        if parent is not None:
            self.stream.append(b"from :%d\n" % parent)
        for path, data in files.items():
            if path.startswith(b"160000 "):
                self.stream.append(b"M 160000 " + data + b" " + path[7:] + b"\n")
                continue
            quoted = b"".join(b"\\%03o" % byte for byte in path)
            self.stream.append(b'M 100644 inline "' + quoted + b'"\n')
            self.stream.append(b"data %d\n" % len(data) + data + b"\n")
        return self.marks

    def reference(self, name: str, mark: int) -> None:
        """Point C{name} to a commit."""
        self.stream.append(f"reset {name}\nfrom :{mark}\n\n".encode())


class RepositoryMaker:
    """Makes repositories below C{folder}; the same seed makes the same repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.template = folder / "template"
        self.template.mkdir()
        run_git(self.template, "init", "-q", "-b", "main", "--template=")
        self.sub = folder / "template-sub"
        shutil.copytree(self.template, self.sub, symlinks=True)
        commits = FastImportStream()
        first = commits.add("main", {b"s": b"1\n"}, None, b"one")
        commits.add("main", {b"s": b"2\n"}, first, b"two")
        run_git(self.sub, "fast-import", "--quiet", stdin=b"".join(commits.stream))
        run_git(self.sub, "reset", "-q", "--hard")
        self.sub_heads = run_git(self.sub, "rev-list", "--reverse", "HEAD").split()

    def make(self, seed: int) -> Path:
        """The folder of a new repository's working tree."""
        rng = random.Random(seed)
        root = self.folder / f"repo {seed}"
        shutil.copytree(self.template, root, symlinks=True)
        files = {name: b"%d %s\n" % (seed, name) * 8 for name in rng.sample(NAMES, 9)}
        if rng.random() < 0.08:
            _unborn(rng, root, files)
        else:
            self._history(rng, root, files)
            root = self._variant(rng, root, seed)
            _change(rng, root, files)
        return root

    def _history(self, rng: random.Random, root: Path, files: dict[bytes, bytes]) -> None:
        commits = FastImportStream()
        tree = {b".gitignore": b"*.ign\n", **files}
        submodule = rng.random() < 0.2
        if submodule:
            tree[b"160000 sub"] = self.sub_heads[0]
        marks = [commits.add("main", tree, None, b"first")]
        for number in range(rng.choice([0, 1, 3, 60])):
            text = b"change %d\n\nwith a body" % number
            marks.append(commits.add("main", {b"log": text}, marks[-1], text))
        _upstream(rng, root, commits, marks)
        run_git(root, "fast-import", "--quiet", stdin=b"".join(commits.stream))
        run_git(root, "reset", "-q", "--hard")
        if submodule:
            self._populate(rng, root)

    def _populate(self, rng: random.Random, root: Path) -> None:
        """A submodule at the recorded commit or not, perhaps dirty."""
        kind = rng.choice(["absent", "same", "moved"])
        if kind == "absent":
            return
        shutil.rmtree(root / "sub")
        shutil.copytree(self.sub, root / "sub", symlinks=True)
        if kind == "same":
            run_git(root / "sub", "reset", "-q", "--hard", self.sub_heads[0])
        if rng.random() < 0.5:
            (root / "sub" / "dirt").write_text("x")
            (root / "sub" / "s").write_text("dirty")

    def _variant(self, rng: random.Random, root: Path, seed: int) -> Path:
        draw = rng.random()
        if draw < 0.12:
            run_git(root, "checkout", "-q", "--detach")
        elif draw < 0.22:
            tree = self.folder / f"tree {seed}"
            run_git(root, "worktree", "add", "-q", "-b", "other", str(tree))
            return tree
        elif draw < 0.34:
            for number in range(rng.choice([1, 2])):
                (root / ".gitignore").write_text(f"*.ign\n{number}.x\n")
                run_git(root, "stash", "-q")
        elif draw < 0.4:
            run_git(root, "pack-refs", "--all")
        return root


def _unborn(rng: random.Random, root: Path, files: dict[bytes, bytes]) -> None:
    config = root / ".git" / "config"
    if rng.random() < 0.5:
        config.write_text(config.read_text() + '[remote "origin"]\n\turl = x\n')
    for path, data in files.items():
        _write(root, path, data)
    run_git(root, "--literal-pathspecs", "add", "--", *rng.sample(sorted(files), 3))


def _upstream(rng: random.Random, root: Path, commits: FastImportStream, marks: list[int]) -> None:
    kind = rng.choice(
        ["none", "remote", "tracked", "ahead", "diverged", "gone", "local", "elsewhere"]
    )
    config = root / ".git" / "config"
    text = config.read_text()
    remote = "." if kind == "local" else "origin"
    if kind != "none":
        text += '[remote "origin"]\n\turl = x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
    if kind not in ("none", "remote", "elsewhere"):
        merge = "refs/heads/base" if kind == "local" else "refs/heads/main"
        text += f'[branch "main"]\n\tremote = {remote}\n\tmerge = {merge}\n'
    config.write_text(text)
    at = marks[-1] if kind == "tracked" else rng.choice(marks)
    if kind in ("tracked", "ahead"):
        commits.reference("refs/remotes/origin/main", at)
    elif kind == "local":
        commits.reference("refs/heads/base", at)
    elif kind in ("gone", "elsewhere") and rng.random() < 0.6:
        commits.reference("refs/remotes/origin/topic", at)
    elif kind == "diverged":
        mark = commits.add("side", {b"side": b"x"}, at, b"theirs")
        commits.reference("refs/remotes/origin/main", mark)


def _change(rng: random.Random, root: Path, files: dict[bytes, bytes]) -> None:
    """Staged, unstaged, both, renamed, removed, conflicted, untracked, ignored."""
    paths = rng.sample(sorted(files), len(files))
    staged = []
    if rng.random() < 0.7:
        _write(root, paths[0], b"staged\n")
        os.unlink(os.path.join(os.fsencode(root), paths[1]))
        moved = b"moved to\n" + paths[2].replace(b"/", b"_")
        os.rename(os.path.join(os.fsencode(root), paths[2]), os.path.join(os.fsencode(root), moved))
        _write(root, b"fresh", b"brand new\n")
        staged = [paths[0], paths[1], paths[2], moved, b"fresh"]
        run_git(root, "--literal-pathspecs", "add", "-A", "--", *staged)
        _write(root, rng.choice([paths[0], moved]), b"and changed again\n")
    if rng.random() < 0.3:
        run_git(root, "--literal-pathspecs", "rm", "-q", "--cached", "--", paths[3])
    _conflict(rng, root, paths[4:6], files)
    if rng.random() < 0.6:
        _write(root, paths[6], b"unstaged\n")
        os.unlink(os.path.join(os.fsencode(root), paths[7]))
    for name in rng.sample([b"un tracked", b"ud/one", b"ud/two", b"x.ign", b"odd\xff\n"], 3):
        _write(root, name, b"u")


def _conflict(
    rng: random.Random, root: Path, paths: list[bytes], files: dict[bytes, bytes]
) -> None:
    if rng.random() > 0.3:
        return
    lines = []
    for path in paths:
        name = blob_name(files[path]).encode()
        lines.append(b"0 " + b"0" * 40 + b"\t" + path)
        for stage in rng.choice([(1, 2, 3), (2, 3), (1, 3)]):
            lines.append(b"100644 %s %d\t%s" % (name, stage, path))
    run_git(root, "update-index", "-z", "--index-info", stdin=b"\0".join(lines) + b"\0")


def _write(root: Path, path: bytes, data: bytes) -> None:
    full = os.path.join(os.fsencode(root), path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(data)


def make_bare_minimum(root: Path) -> Path:
    """As much of a repository as makes one."""
    for folder in ("objects", "refs"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return root
