"""Nothing outside of a workspace is read or written while its paths are swapped under the reader.

A second process exchanges folders, files and links of the workspace as fast as it can, always for
ones that lead outside, while every way of using a path is tried again and again.  Outside there are
files of the same names, whose content is known and must never be seen or changed.  The same
swaps do get through where a path is checked first and used then, which is tried as well.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from tests.stress.command import report
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.files.confined_path import AccessRules, ConfinedFolder
from tservice.files.reading.archive import pack_folder
from tservice.files.reading.file_tree import TreeRequest as WantedTree
from tservice.files.reading.file_tree import list_tree
from tservice.files.reading.tail import FileTail
from tservice.files.reading.text_content import TextRequest, describe_file
from tservice.files.uploads.upload_forms import open_uploads_folder
from tservice.files.uploads.upload_removal import remove_old_workspace_uploads
from tservice.files.writing import FileEdit, save_edit

ROUNDS = 100_000
MOST = 100
"""Times that many, where the swaps are slow to meet a try."""
CONTROL = 1_000_000
OUTSIDE = b"OUTSIDE"
NOTHING = AccessRules()
OLD_UPLOAD = "paste-1795343126502-5387500d.png"


class FileRaceScene:
    """A workspace, and the same names outside of it."""

    def __init__(self, folder: Path) -> None:
        self.inside, self.outside = folder / "ws", folder / "outside"
        for top, content in ((self.inside, b"inside"), (self.outside, OUTSIDE)):
            (top / "a/b").mkdir(parents=True)
            (top / ".service-uploads").mkdir()
            for name in ("file", "a/file", "a/b/file", f".service-uploads/{OLD_UPLOAD}"):
                (top / name).write_bytes(content)
            os.utime(top / f".service-uploads/{OLD_UPLOAD}", (0, 0))
        (self.inside / "up").symlink_to("a/b")

    def state(self) -> dict[str, bytes]:
        """Everything outside, with its content."""
        return {
            str(each.relative_to(self.outside)): each.read_bytes() if each.is_file() else b""
            for each in sorted(self.outside.rglob("*"))
        }


def swap_links(scene: FileRaceScene, seed: int, stop: multiprocessing.synchronize.Event) -> None:
    """Exchange what is inside for links that lead out, and back, until C{stop}."""
    chosen = random.Random(seed)
    names = ("a", "a/b", "file", "a/file", "a/b/file", "up", ".service-uploads")
    while not stop.is_set():
        name = chosen.choice(names)
        inside, aside = scene.inside / name, scene.inside / f"{name}.aside"
        near = "../" * (name.count("/") + 1) + f"outside/{name}"
        target = chosen.choice((str(scene.outside / name), near, "..", "/"))
        with suppress(OSError):
            inside.rename(aside)
            inside.symlink_to(target)
            inside.unlink()
        with suppress(OSError):
            if not os.path.lexists(inside):
                aside.rename(inside)


def try_every_use(scene: FileRaceScene) -> dict[str, Callable[[], bytes]]:
    """Every way of using a path; what it gave."""
    folder = str(scene.inside)

    def read(path: str) -> bytes:
        with ConfinedFolder(folder) as beneath, beneath.resolve_path(path) as spot:
            descriptor = spot.open_file()
            try:
                return os.read(descriptor, 100)
            finally:
                os.close(descriptor)

    def write() -> bytes:
        edit = FileEdit(path="a/b/file", content=b"inside", base_hash=None, force=True)
        save_edit(folder, edit, NOTHING)
        return b""

    def archive() -> bytes:
        with ConfinedFolder(folder) as beneath, beneath.resolve_path("a") as spot:
            packed = b"".join(pack_folder(spot, "a", NOTHING))
        return zlib.decompress(packed, 31)

    def follow() -> bytes:
        with ExitStack() as held:
            tail = FileTail(folder, "a/b/file", NOTHING)
            found = tail.open_at_lines(held, 10).text + tail.read_news().text
        return found.encode()

    def upload() -> bytes:
        with ConfinedFolder(folder) as beneath, beneath.resolve_path(".") as spot:
            uploads = open_uploads_folder(spot.folder, ".service-uploads")
            try:
                return b"".join(map(os.fsencode, os.listdir(uploads)))
            finally:
                os.close(uploads)

    def sweep() -> bytes:
        remove_old_workspace_uploads(folder, 2e9)
        return b""

    return {
        "read": lambda: read("a/b/file"),
        "read by a link": lambda: read("up/file"),
        "read by steps up": lambda: read("a/b/../../a/file"),
        "read a file": lambda: read("file"),
        "text": lambda: str(describe_file(folder, TextRequest(path="a/file"), NOTHING)).encode(),
        "tree": lambda: str(list_tree(folder, WantedTree(path="a"), NOTHING)).encode(),
        "write": write,
        "archive": archive,
        "follow": follow,
        "upload": upload,
        "sweep": sweep,
    }


def run(rounds: int = ROUNDS, seed: int = 1) -> dict[str, object]:
    """Try so often.

    @return: figures.
    @raise AssertionError: something outside was read or written.
    """
    folder = Path(tempfile.mkdtemp(prefix="tsraces"))
    scene = FileRaceScene(folder)
    before = scene.state()
    stop = multiprocessing.get_context("spawn").Event()
    swapping = multiprocessing.get_context("spawn").Process(
        target=swap_links, args=(scene, seed, stop)
    )
    swapping.start()
    try:
        careless = count_control_tries(scene)
        outcomes = run_attack(scene, rounds, random.Random(seed))
    finally:
        stop.set()
        swapping.join()
        after = scene.state()
        shutil.rmtree(folder)
    if before != after:
        raise AssertionError(f"outside was changed: {before} became {after}")
    return {"rounds": rounds, "outside": 0, "careless one caught after": careless, **outcomes}


def run_attack(scene: FileRaceScene, rounds: int, chosen: random.Random) -> Counter[str]:
    """The tries; how they ended."""
    ways = try_every_use(scene)
    names = sorted(ways)
    outcomes: Counter[str] = Counter()
    # A process that got no turn has swapped nothing: then it takes more of them, within a bound.
    while outcomes.total() < (rounds if has_met_swaps(outcomes) else MOST * rounds):
        name = chosen.choice(names)
        try:
            found = ways[name]()
        except ServiceError as error:
            outcomes[error.code.value] += 1
        except OSError as error:
            outcomes[type(error).__name__] += 1
        else:
            outcomes["went through"] += 1
            if OUTSIDE in found:
                raise AssertionError(f"{name} gave what is outside: {found[:200]!r}")
    return outcomes


def has_met_swaps(outcomes: Counter[str]) -> bool:
    """Whether some tries met a swap, and some did not."""
    return outcomes[ErrorCode.FORBIDDEN.value] > 0 and outcomes["went through"] > 100


def count_control_tries(scene: FileRaceScene) -> int:
    """How many tries it takes to get outside where a path is checked first and used then.

    @raise AssertionError: none does, so that the attack would show nothing.
    """
    path = scene.inside / "a/b/file"
    for count in range(1, CONTROL + 1):
        with suppress(OSError):
            if os.path.realpath(path).startswith(f"{scene.inside}/") and (
                path.read_bytes() == OUTSIDE
            ):
                return count
    raise AssertionError("the swaps do not get in between a check and a use")


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "rounds", ROUNDS))
