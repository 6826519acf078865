"""Cloning of repositories as the user of a location (protocol-clone)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial

from tservice.core.disk.disk_errors import FULL
from tservice.core.kernel.errors import ServiceError, make_failure_error
from tservice.core.locations.location import Location
from tservice.core.logs.redact import SecretRedactor
from tservice.core.process.child import UNKILLABLE, ChildResult
from tservice.core.workers.thread_runners import RunInLocation
from tservice.git.changing.child_processes import GitChildRunner
from tservice.git.changing.clone_environment import (
    CONFIG_NAMES,
    clone_arguments,
    clone_environment,
    encode_environment,
    user_environment,
)
from tservice.git.changing.progress import ProgressReader, find_failure_reason
from tservice.git.interfaces import CloneOutcome, CloneRequest, CloneRun, MissingParts
from tservice.git.process.error_text import make_error_text
from tservice.git.process.isolation import parse_config_keys
from tservice.git.process.runner import GitError, get_actor
from tservice.git.small_files import read_small_file
from tservice.git.status.inspector import CONFIG_SECONDS

SECONDS = 600.0
"""Time limit of a clone in seconds (protocol-clone)."""

_SMALL = 64 * 1024
_HEAD = b"ref: refs/heads/"


class RepositoryCloner:
    """Clones repositories as the OS user of the target's location."""

    def __init__(
        self,
        *,
        children: GitChildRunner,
        in_place: RunInLocation,
        redactor: SecretRedactor,
        incomplete: Callable[[str, Location, str | None], Awaitable[MissingParts]],
    ) -> None:
        """@param incomplete: finds the missing parts of a new clone, such as submodules."""
        self._children = children
        self._in_place = in_place
        self._redactor = redactor
        self._incomplete = incomplete

    async def clone(self, order: CloneRequest, run: CloneRun) -> CloneOutcome:
        """Clone a repository.  After a failure the caller has to remove the target folder.

        @raise ServiceError: 422 with the reason: the repository was not found, access was denied,
            there was no connection, the clone was too slow or cancelled, or the ref is unknown.
            For other failures it has git's own error text, without credentials.
        """
        reader = ProgressReader()
        try:
            ending = await self._run_clone(order, run, reader)
        except GitError as error:
            raise make_failure_error(str(error)) from None
        if ending.status != 0 or run.cancelled:
            look = partial(_is_disk_full, order.target)
            full = await self._in_place(order.place, look, order.target, order.owner)
            raise self._make_clone_error(ending, order, run, full, reader.finish_input())
        finish = partial(_prepare_info_and_read_head, order)
        ref = await self._in_place(order.place, finish, order.target, order.owner)
        lacking = await self._incomplete(order.target, order.place, order.owner)
        return CloneOutcome(ref=ref, warnings=lacking.warnings)

    async def _run_clone(
        self, order: CloneRequest, run: CloneRun, reader: ProgressReader
    ) -> ChildResult:
        place, actor = order.place, get_actor(order.place)
        own = user_environment({**place.build_environment(), "HOME": str(place.home)})
        names = await self._children.read_output(
            CONFIG_NAMES, encode_environment(own), actor, CONFIG_SECONDS
        )
        env = clone_environment(own, order.source, parse_config_keys(names))
        words = clone_arguments(order.source, order.target, order.ref, shallow=order.shallow)

        def parse_progress(data: bytes) -> None:
            if reader.feed_bytes(data):
                run.on_progress(reader.now)

        return await self._children.run(
            words,
            env,
            actor,
            timeout=SECONDS,
            sink=lambda data: True,
            on_stderr=parse_progress,
            on_start=run.set_kill,
        )

    def _make_clone_error(
        self,
        ending: ChildResult,
        order: CloneRequest,
        run: CloneRun,
        full: bool,
        complaints: bytes,
    ) -> ServiceError:
        if run.cancelled:
            return make_failure_error("the clone was cancelled")
        if ending.is_timed_out:
            return make_failure_error(f"the clone timed out after {SECONDS:g} s")
        if ending.is_abandoned:
            return make_failure_error(f"git could not be ended: {UNKILLABLE}")
        known = FULL if full else find_failure_reason(complaints)
        fatal = [line for line in complaints.splitlines() if line.startswith((b"fatal", b"error"))]
        text = make_error_text(self._redactor, b"\n".join(fatal) or complaints)
        for secret in (order.source.password, order.source.username):
            text = text.replace(secret, "***") if secret else text
        return make_failure_error(f"{known} ({text})" if known is not None else text)


def _is_disk_full(target: str) -> bool:
    """Return true if the disk that holds C{target} is full.  Blocks.

    Git does not always report a full disk as such.
    """
    try:
        return os.statvfs(os.path.dirname(target)).f_bavail == 0
    except OSError:
        return False


def _prepare_info_and_read_head(order: CloneRequest) -> str | None:
    """Create the folder C{.git/info} and return the branch or ref that was checked out.

    Blocks.
    """
    root = os.fsencode(order.target)
    # A clone without a template lacks this folder, in which users edit files.
    os.makedirs(os.path.join(root, b".git", b"info"), exist_ok=True)
    head = read_small_file(os.path.join(root, b".git", b"HEAD"), _SMALL) or b""
    branch = head.removeprefix(_HEAD).strip() if head.startswith(_HEAD) else b""
    return branch.decode("utf-8", "replace") or order.ref
