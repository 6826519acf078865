"""The service with real processes, for tests."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from twisted.internet.defer import Deferred
from twisted.internet.threads import deferToThread
from twisted.trial.unittest import TestCase

from tservice.core.locations.workspace_bounds import ANYWHERE
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import ChildRunner, find_child_tools
from tservice.core.workers.worker_pool import SynchronousThreads
from tservice.git.process.runner import GitRunner
from tservice.git.service import GitService
from tservice.git.status.inspector import RepositoryInspector

_T = TypeVar("_T")


def _in_thread(work: Callable[[], _T], at: str, /) -> Deferred[_T]:
    return deferToThread(work)


def own_folder(test: TestCase) -> Path:
    """A folder for C{test} alone that is not there yet, free of symlinks."""
    return Path(test.mktemp()).resolve()


def real_service(
    reactor: Any,
    home: Path,
    containers: Iterable[str] = (),
    environ: dict[str, str] | None = None,
) -> tuple[GitService, GitRunner]:
    """A service over C{reactor}, and what starts its processes."""
    environ = {"PATH": os.environ["PATH"]} if environ is None else environ
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
        in_thread=_in_thread,
        environ=environ,
        home=home,
        euid=os.geteuid(),
    )
    service = GitService(
        clock=reactor,
        inspector=inspector,
        in_thread=_in_thread,
        home=home,
        containers=lambda: containers,
    )
    return service, runner


def folder_fingerprint(folder: Path) -> dict[str, tuple[int, int, str]]:
    """Mode, time of change and content of everything below a folder, folders included."""
    found: dict[str, tuple[int, int, str]] = {}
    for here, folders, files in os.walk(os.fsencode(folder)):
        for name in [b"", *folders, *files]:
            path = os.path.join(here, name)
            status = os.lstat(path)
            content = ""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            found[repr(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found
