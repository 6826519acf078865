"""Git status through the service against bare git, on a repository of 100,000 files."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet import reactor as global_reactor
from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread

from bench.report import Row
from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.model import GitOptions
from tservice.git.process.runner import GitRunner
from tservice.git.service import GitService, GitWorkspace
from tservice.git.status.inspector import RepositoryInspector

FILES, SMALL = 100_000, 12
CACHED_LIMIT, STATUS_RATIO = 2.0, 1.3
"""Milliseconds of a cached answer; how much slower than bare git a reading may be."""
ROUNDS = 7

_ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
_BARE = (
    "git",
    "--no-optional-locks",
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--show-stash",
    "--untracked-files=normal",
    "--ignore-submodules=dirty",
)
_T = TypeVar("_T")
reactor: Any = global_reactor


def make_repository(root: Path, files: int) -> None:
    """One commit of that many files, all checked out, a hundred of them changed."""
    root.mkdir(parents=True)
    _git(root, "init", "-q", "-b", "main", "--template=")
    stream = [b"commit refs/heads/main\ncommitter A <a@x> 1700000000 +0000\ndata 1\nx\n"]
    for number in range(files):
        stream.append(b"M 100644 inline d%d/f%d\ndata 2\nx\n\n" % (number // 100, number))
    _git(root, "fast-import", "--quiet", stdin=b"".join(stream))
    _git(root, "reset", "-q", "--hard")
    for number in range(0, files, max(1, files // 100)):
        (root / f"d{number // 100}" / f"f{number}").write_text("y\n")
    time.sleep(1.1)  # else every file is as new as the index, and git reads them all
    _git(root, "update-index", "-q", "--refresh", check=False)


def _git(root: Path, *words: str, stdin: bytes = b"", check: bool = True) -> None:
    subprocess.run(
        ["git", "-C", str(root), *words],
        input=stdin,
        env={**_ENVIRON, "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@x"},
        check=check,
        stdout=subprocess.DEVNULL,
    )


def bare(roots: list[Path]) -> float:
    """Seconds that git needs for these, four at a time."""
    began = time.perf_counter()
    waiting, running = list(roots), list[subprocess.Popen[bytes]]()
    while waiting or running:
        while waiting and len(running) < 4:
            root = waiting.pop(0)
            running.append(
                subprocess.Popen(_BARE, cwd=root, env=_ENVIRON, stdout=subprocess.DEVNULL)
            )
        running.pop(0).wait()
    return time.perf_counter() - began


def make_service(home: Path) -> GitService:
    """The service over the real reactor."""
    environ = {"PATH": os.environ["PATH"]}
    runner = GitRunner(
        children=ChildRunner(reactor, reactor, find_child_tools(os.environ["PATH"])),
        threads=SynchronousThreads(),
        environ=environ,
        redactor=SecretRedactor(),
    )
    inspector = RepositoryInspector(
        inside=lambda: ANYWHERE,
        clock=reactor,
        runner=runner,
        in_thread=lambda work, at: deferToThread(work),
        environ=environ,
        home=home,
        euid=os.geteuid(),
    )
    return GitService(
        clock=reactor,
        inspector=inspector,
        in_thread=lambda work, at: deferToThread(work),
        home=home,
        containers=tuple,
    )


async def measure(service: GitService, folder: Path, options: GitOptions) -> float:
    """Seconds of one answer.

    @raise RuntimeError: it is no good answer.
    """
    began = time.perf_counter()
    answer = await service.get_status(GitWorkspace(inside=ANYWHERE, folder=str(folder)), options)
    took = time.perf_counter() - began
    states = {repo["status"]["state"] for repo in answer["repos"]}
    if answer["state"] != "ok" or states != {"ok"}:
        raise RuntimeError(f"not measured: {answer['state']} {states}")
    return took


async def rounds(service: GitService, folder: Path, roots: list[Path]) -> tuple[float, float]:
    """Median seconds of a fresh answer and of bare git, taken in turns."""
    fresh = GitOptions(fresh=True)
    await measure(service, folder, fresh)
    ours, peer = [], []
    for _ in range(ROUNDS):
        peer.append(await deferToThread(bare, roots))
        ours.append(await measure(service, folder, fresh))
    return statistics.median(ours), statistics.median(peer)


async def collect(folder: Path) -> list[Row]:
    """All rows; repositories are made below C{folder}."""
    large, many = folder / "large", folder / "many"
    make_repository(large, FILES)
    roots = [many / str(number) for number in range(SMALL)]
    for root in roots:
        make_repository(root, 1000)
    service = make_service(folder / "home")
    one, bare_one = await rounds(service, large, [large])
    twelve, bare_twelve = await rounds(service, many, roots)
    await measure(service, many, GitOptions())
    cached = [await measure(service, many, GitOptions()) for _ in range(50)]
    return [
        Row(
            name=f"git status, {FILES} files",
            ours=one * 1000,
            peer=bare_one * 1000,
            unit="ms",
            against="bare git status",
            at_most=STATUS_RATIO,
        ),
        Row(
            name=f"git status, {SMALL} repositories of 1000 files",
            ours=twelve * 1000,
            peer=bare_twelve * 1000,
            unit="ms",
            against="bare git status, 4 at a time",
        ),
        Row(
            name=f"git status, {SMALL} repositories, cached",
            ours=statistics.median(cached) * 1000,
            peer=CACHED_LIMIT,
            unit="ms",
            against="limit",
            at_most=1.0,
        ),
    ]


def run(daemon: object = None) -> list[Row]:
    """The rows of this bench; it needs no daemon, and a reactor that has not run yet."""
    folder = Path(tempfile.mkdtemp(prefix="gitstatus-"))
    try:
        return _until_done(collect(folder.resolve()))
    finally:
        shutil.rmtree(folder)


def _until_done(work: Coroutine[Any, Any, _T]) -> _T:
    done: list[_T] = []
    failed: list[BaseException] = []

    def begin() -> None:
        task = Deferred.fromCoroutine(work)
        task.addCallbacks(done.append, lambda failure: failed.append(failure.value))
        task.addBoth(lambda _: reactor.stop())

    reactor.callWhenRunning(begin)
    reactor.run()
    if failed:
        raise failed[0]
    return done[0]


if __name__ == "__main__":
    from bench.report import table

    print(table(run()))
