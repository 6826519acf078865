"""Clone a repository as a user (protocol-clone)."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from functools import partial

from tservice.core.disk_errors import FULL
from tservice.core.doors.thread_runners import RunInLocation
from tservice.core.errors import ServiceError, operation_failed
from tservice.core.logs.redact import SecretRedactor
from tservice.core.places.location import Location
from tservice.git.changing.child import Children
from tservice.git.changing.fence import (
    CONFIG_NAMES,
    as_bytes,
    clone_environment,
    clone_words,
    user_environment,
)
from tservice.git.changing.progress import ProgressReader, reason
from tservice.git.command import ProcessEnd
from tservice.git.errortext import error_text
from tservice.git.inspect import CONFIG_SECONDS
from tservice.git.interfaces import Cloned, CloneOrder, CloneRun, Incomplete
from tservice.git.runner import GitError, actor_of
from tservice.git.safety import parse_names
from tservice.git.smallfiles import read_small

SECONDS = 600.0
"""Seconds that a clone may take (protocol-clone)."""

_SMALL = 64 * 1024
_HEAD = b"ref: refs/heads/"


class Cloner:
    """Clones repositories with the rights of the location of the target."""

    def __init__(
        self,
        *,
        children: Children,
        in_place: RunInLocation,
        redactor: SecretRedactor,
        incomplete: Callable[[str, Location, str | None], Awaitable[Incomplete]],
    ) -> None:
        """@param incomplete: finds out what a new clone lacks."""
        self._children = children
        self._in_place = in_place
        self._redactor = redactor
        self._incomplete = incomplete

    async def clone(self, order: CloneOrder, run: CloneRun) -> Cloned:
        """Clone a repository; after a failure the caller has to remove the target.

        @raise ServiceError: 422: not found, not allowed, no connection, too slow, ref unknown,
            cancelled, or git's error text, without credentials.
        """
        reader = ProgressReader()
        try:
            ending = await self._run(order, run, reader)
        except GitError as error:
            raise operation_failed(str(error)) from None
        if ending.status != 0 or run.cancelled:
            look = partial(_is_full, order.target)
            full = await self._in_place(order.place, look, order.target, order.owner)
            raise self._refused(ending, order, run, full, reader.finish())
        finish = partial(_finish, order)
        ref = await self._in_place(order.place, finish, order.target, order.owner)
        lacking = await self._incomplete(order.target, order.place, order.owner)
        return Cloned(ref=ref, warnings=lacking.warnings)

    async def _run(self, order: CloneOrder, run: CloneRun, reader: ProgressReader) -> ProcessEnd:
        place, actor = order.place, actor_of(order.place)
        own = user_environment({**place.build_environment(), "HOME": str(place.home)})
        names = await self._children.names(CONFIG_NAMES, as_bytes(own), actor, CONFIG_SECONDS)
        env = clone_environment(own, order.source, parse_names(names))
        words = clone_words(order.source, order.target, order.ref, shallow=order.shallow)

        def heard(data: bytes) -> None:
            if reader.feed(data):
                run.told(reader.now)

        return await self._children.run(
            words,
            env,
            actor,
            timeout=SECONDS,
            sink=lambda data: True,
            heard=heard,
            begun=run.begun,
        )

    def _refused(
        self, ending: ProcessEnd, order: CloneOrder, run: CloneRun, full: bool, complaints: bytes
    ) -> ServiceError:
        if run.cancelled:
            return operation_failed("the clone was cancelled")
        if ending.timed_out:
            return operation_failed(f"the clone timed out after {SECONDS:g} s")
        if ending.status is None:
            return operation_failed(f"git could not be run: {ending.reason}")
        known = FULL if full else reason(complaints)
        fatal = [line for line in complaints.splitlines() if line.startswith((b"fatal", b"error"))]
        text = error_text(self._redactor, b"\n".join(fatal) or complaints)
        for secret in (order.source.password, order.source.username):
            text = text.replace(secret, "***") if secret else text
        return operation_failed(f"{known} ({text})" if known is not None else text)


def _is_full(target: str) -> bool:
    """Return true if the disk of C{target} is full, which git does not always report; blocks."""
    try:
        return os.statvfs(os.path.dirname(target)).f_bavail == 0
    except OSError:
        return False


def _finish(order: CloneOrder) -> str | None:
    """Create C{.git/info}, and return the branch or ref that was checked out; blocks."""
    root = os.fsencode(order.target)
    # A clone without a template lacks this folder, in which users edit files.
    os.makedirs(os.path.join(root, b".git", b"info"), exist_ok=True)
    head = read_small(os.path.join(root, b".git", b"HEAD"), _SMALL) or b""
    branch = head.removeprefix(_HEAD).strip() if head.startswith(_HEAD) else b""
    return branch.decode("utf-8", "replace") or order.ref
