"""Edits of files by chance: modes, links, line ends, contents that are no text, renames."""

from __future__ import annotations

import os
import random
from pathlib import Path

from tests.unit.git.random_repositories import NAMES, run_git

WORDS = [b"alpha", b"beta", b"gamma", b"", b"    return None", b"}", b"\xff\xfe", b"tab\there"]


def make_content(rng: random.Random) -> bytes:
    """A file with line ends of one kind, perhaps without the last one, perhaps binary."""
    if rng.random() < 0.06:
        return b"\0bin" + rng.randbytes(20)
    if rng.random() < 0.04:
        return b""
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n"])
    lines = [rng.choice(WORDS) + b" %d" % rng.randint(0, 9) for _ in range(rng.randint(1, 60))]
    return end.join(lines) + rng.choice([end, end, b""])


def edit_content(rng: random.Random, data: bytes) -> bytes:
    """Change some lines of a file."""
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 6)):
        at = rng.randint(0, len(lines))
        kind = rng.choice(["insert", "delete", "replace", "append"])
        if kind == "insert":
            lines[at:at] = [rng.choice(WORDS) for _ in range(rng.randint(1, 3))]
        elif kind == "delete":
            del lines[at : at + rng.randint(1, 3)]
        elif kind == "replace":
            lines[at : at + 1] = [rng.choice(WORDS) + b" new"]
        else:
            lines.append(rng.choice([b"", b"last"]))
    return b"\n".join(lines)


class RandomEditor:
    """Makes a history and changes beside it, from a seed."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self.rng = os.fsencode(root), random.Random(seed)
        self.folder = root

    def run(self) -> None:
        """Commit some files, edit and commit some of them, and leave edits of all kinds."""
        for name in self.rng.sample(NAMES, 10):
            self.write(name, make_content(self.rng))
        self.commit("first")
        for _ in range(self.rng.randint(0, 2)):
            for _ in range(self.rng.randint(1, 4)):
                self.edit_something()
            self.commit("more")
        for _ in range(self.rng.randint(1, 9)):
            self.edit_something()
            if self.rng.random() < 0.3:
                run_git(self.folder, "add", "-A")

    def commit(self, text: str) -> None:
        run_git(self.folder, "add", "-A")
        run_git(self.folder, "commit", "-q", "--allow-empty", "-m", text)

    def list_files(self) -> list[bytes]:
        found = []
        for here, folders, files in os.walk(self.root):
            if b".git" in folders:
                folders.remove(b".git")
            found += [os.path.relpath(os.path.join(here, file), self.root) for file in files]
        return sorted(found)

    def edit_something(self) -> None:
        files = self.list_files()
        path = self.rng.choice(files) if files else b"plain.txt"
        full = os.path.join(self.root, path)
        kind = self.rng.choice(["edit"] * 5 + ["mode", "remove", "rename", "add", "link", "ends"])
        if kind == "add" or not files:
            self.write(self.rng.choice(NAMES) + b".new", make_content(self.rng))
        elif kind == "remove":
            os.unlink(full)
        elif kind == "rename":
            os.rename(full, full + b".moved")
        elif kind == "link":
            os.unlink(full)
            os.symlink(b"to " + path.replace(b"/", b"_"), full)
        elif not os.path.islink(full):
            self.change_content(full, kind)

    def change_content(self, full: bytes, kind: str) -> None:
        if kind == "mode":
            os.chmod(full, self.rng.choice([0o644, 0o755]))
            return
        with open(full, "rb") as file:
            data = file.read()
        if kind == "ends":
            data = data.replace(b"\r\n", b"\n") if b"\r\n" in data else data.replace(b"\n", b"\r\n")
        else:
            data = edit_content(self.rng, data)
        with open(full, "wb") as file:
            file.write(data)

    def write(self, path: bytes, data: bytes) -> None:
        full = os.path.join(self.root, path)
        if os.path.lexists(full):
            return
        folder = os.path.dirname(full)
        if os.path.lexists(folder) and not os.path.isdir(folder):
            return
        try:
            os.makedirs(folder, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            return
        with open(full, "wb") as file:
            file.write(data)
