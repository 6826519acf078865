"""Implementation of L{WorkingCopy<tservice.git.interfaces.WorkingCopy>} in a container or on a
remote host.

Git runs there with the settings and the environment that reading has on this machine.  The kernel's
restrictions are missing: whatever a repository could run there has no other rights than the agent.
"""

from __future__ import annotations

import os
import posixpath
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from attrs import frozen

from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
)
from tservice.core.locations.location import Location
from tservice.core.workers.thread_runners import RunInThread
from tservice.core.workers.worker_pool import IThreads
from tservice.git.interfaces import NO_FILE, WorkingFile
from tservice.git.location_shell import scripts
from tservice.git.location_shell.shell_runner import (
    LocationShellRunner,
    ShellOutput,
    quote_environment,
)
from tservice.git.model import (
    ERROR_LIMIT,
    GitRepository,
    hash_blob,
    is_binary_content,
    to_display_text,
)
from tservice.git.process.isolation import (
    CONFIG_NAMES,
    TooManyOverridesError,
    make_arguments,
    make_environment,
    parse_config_keys,
    remove_relative_folders,
)
from tservice.git.process.runner import GitError
from tservice.git.search import is_within
from tservice.mux.remote.shell_quoting import join_shell_commands, quote_words

SECONDS = 30.0
"""Time limit of one command."""
READ_LIMIT = 8 * 1024 * 1024
"""Maximum bytes of content that is read or replaced."""
_SMALL = 4 * 1024 * 1024
_BATCH_BYTES = 64 * 1024
"""Maximum bytes of paths in one command; a shell's argument has 128 KB."""
_NO_FOLDER, _NO_FILE_KIND, _CHANGED, _FORBIDDEN = 3, 8, 9, 13
"""Exit statuses of the scripts."""

_T = TypeVar("_T")


@frozen(kw_only=True)
class LocationCopy:
    """Working tree in a location that is reached by a shell.

    @ivar environ: the environment of every git of this reading.
    """

    repository: GitRepository
    path: str
    place: Location
    shells: LocationShellRunner
    in_thread: RunInThread
    environ: dict[bytes, bytes]

    @property
    def name(self) -> str:
        """Name of the top folder."""
        return to_display_text(os.path.basename(self.repository.root))

    async def run_git(self, words: Sequence[str | bytes], limit: int) -> tuple[bytes, bool]:
        """See L{tservice.git.interfaces.WorkingCopy.run_git}."""
        program = _make_program(self.environ, [b"git", *make_arguments(self.repository, words)])
        done = await run_shell(self.shells, self.place, program, b"", limit)
        return done.output, done.is_cut

    async def read_files(
        self, paths: Sequence[bytes], content_limit: int = 0
    ) -> Sequence[WorkingFile]:
        """See L{tservice.git.interfaces.WorkingCopy.read_files}."""
        if content_limit > 0:
            return [await self._read_content(path, content_limit) for path in paths]
        found: list[WorkingFile] = []
        for batch in _split_paths(paths):
            found += await self._read_batch(batch)
        return found

    async def replace_file(self, path: bytes, expected: str, new: WorkingFile) -> WorkingFile:
        """See L{tservice.git.interfaces.WorkingCopy.replace_file}."""
        _check_path(path)
        words = [path, expected.encode(), new.mode.encode() or b"0", secrets.token_hex(8).encode()]
        done = await self._run_script(
            scripts.REPLACE_FILE, words, new.data or b"", limit=READ_LIMIT + 100, is_checked=False
        )
        if done.status == _CHANGED:
            raise make_conflict_error("hash: the file was changed since you looked at it")
        if done.status == _FORBIDDEN:
            raise ServiceError(ErrorCode.FORBIDDEN, "path: permission denied")
        if done.status != 0:
            raise make_failure_error("path: neither a file nor a symbolic link")
        return _parse_content(done, READ_LIMIT)

    async def run_in_thread(self, work: Callable[[], _T]) -> _T:
        """See L{tservice.git.interfaces.WorkingCopy.run_in_thread}."""
        return await self.in_thread(work, "/")

    # -- inside

    async def _read_content(self, path: bytes, limit: int) -> WorkingFile:
        _check_path(path)
        words = [path, b"%d" % (READ_LIMIT + 1)]
        return _parse_content(await self._run_script(scripts.READ_CONTENT, words), limit)

    async def _read_batch(self, paths: Sequence[bytes]) -> list[WorkingFile]:
        words = [word for path in paths for word in (path, _quote_path(path))]
        done = await self._run_script(scripts.READ_FILES, words)
        files = _parse_files(done.output, paths)
        texts = [path for path, file in zip(paths, files, strict=True) if _has_lines(file)]
        lines = await self._count_lines(texts) if texts else {}
        return [
            WorkingFile(
                mode=file.mode,
                hash=file.hash,
                lines=lines.get(path, 0),
                is_binary=_has_lines(file) and path not in lines and file.hash != _EMPTY,
            )
            for path, file in zip(paths, files, strict=True)
        ]

    async def _count_lines(self, paths: Sequence[bytes]) -> dict[bytes, int]:
        done = await self._run_script(scripts.COUNT_LINES, list(paths))
        records = [each.rpartition(b"\0") for each in done.output.split(b"\n") if b"\0" in each]
        return {path: int(count) for path, _, count in records if count.isdigit()}

    async def _run_script(
        self,
        script: str,
        words: Sequence[bytes],
        stdin: bytes = b"",
        *,
        limit: int = READ_LIMIT + 100,
        is_checked: bool = True,
    ) -> ShellOutput:
        argv = [b"sh", b"-c", script.encode(), b"sh", self.repository.root, *words]
        program = _make_program(self.environ, argv)
        return await run_shell(
            self.shells, self.place, program, stdin, limit, is_checked=is_checked
        )


_EMPTY = hash_blob(b"")


@frozen(kw_only=True)
class LocationCopies:
    """Opener of working copies in locations that are reached by a shell."""

    shells: LocationShellRunner
    threads: IThreads

    async def open_working_copies(
        self, place: Location, folder: str, owner: str | None, max_repos: int
    ) -> Sequence[LocationCopy]:
        """Return the repository that contains C{folder}, else those up to two levels below it.

        @param folder: the workspace as the session has it.
        @raise ServiceError: 422: the location cannot be reached, or the folder cannot be read.
        """
        workspace = os.fsencode(place.path_inside(folder))
        environ = _make_environment(place, {})
        script = scripts.FIND_REPOSITORIES.encode()
        argv = [b"sh", b"-c", script, b"sh", workspace, b"%d" % max_repos]
        done = await run_shell(self.shells, place, _make_program(environ, argv), b"", _SMALL)
        real, repositories = _parse_repositories(done.output)
        home = os.fsencode(place.home)
        return [
            await self._open(place, each, real, owner)
            for each in repositories[:max_repos]
            if each.root == real or not is_within(home, each.root)
        ]

    def _run_in_thread(
        self, owner: str | None, work: Callable[[], _T], at: str, /
    ) -> Awaitable[_T]:
        return self.threads.run(work, at=at, owner=owner)

    async def _open(
        self, place: Location, repository: GitRepository, workspace: bytes, owner: str | None
    ) -> LocationCopy:
        argv = [b"git", *make_arguments(repository, CONFIG_NAMES)]
        program = _make_program(_make_environment(place, {}), argv)
        done = await run_shell(self.shells, place, program, b"", _SMALL)
        try:
            overrides = parse_config_keys(done.output).make_overrides()
        except TooManyOverridesError:
            raise make_failure_error("the repository configures too many drivers") from None
        path = posixpath.relpath(repository.root, workspace)
        return LocationCopy(
            repository=repository,
            path=to_display_text(path),
            place=place,
            shells=self.shells,
            in_thread=partial(self._run_in_thread, owner),
            environ=_make_environment(place, overrides),
        )


async def run_shell(
    shells: LocationShellRunner,
    place: Location,
    program: bytes,
    stdin: bytes,
    limit: int,
    *,
    is_checked: bool = True,
) -> ShellOutput:
    """Run shell text that only reads, or replaces a file.

    @param is_checked: true to raise an error if it fails.
    @raise ServiceError: 422: the location cannot be reached, or the program failed.
    """
    try:
        done = await shells.run(place, program, stdin, limit=limit, seconds=SECONDS)
    except GitError as error:
        raise make_failure_error(str(error)[:ERROR_LIMIT]) from None
    if done.is_timed_out:
        raise make_failure_error(f"git timed out after {SECONDS:g} s")
    if is_checked and not done.is_cut and done.status != 0:
        raise make_failure_error(_describe_failure(done)[:ERROR_LIMIT])
    return done


def _describe_failure(done: ShellOutput) -> str:
    if done.status == _NO_FOLDER:
        return "the workspace cannot be read"
    if done.status == 127:
        return "git is not installed there"
    first = next((line for line in done.errors.splitlines() if line.strip()), "")
    shown = "".join(char if char.isprintable() else "?" for char in first)
    return shown or "git failed without an error text"


def _make_environment(place: Location, overrides: Mapping[str, str]) -> dict[bytes, bytes]:
    return make_environment(remove_relative_folders(place.get_search_path()), overrides)


def _make_program(environ: dict[bytes, bytes], argv: Sequence[bytes]) -> bytes:
    """Return shell text that runs C{argv} with these variables alone."""
    return join_shell_commands(b"exec " + quote_words(*quote_environment(environ), *argv))


def _parse_repositories(output: bytes) -> tuple[bytes, list[GitRepository]]:
    workspace, *fields = output.split(b"\0")
    triples = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    found = [
        GitRepository(root=root, control=control, common=common)
        for root, control, common in triples
        if all(path.startswith(b"/") for path in (root, control, common))
    ]
    return workspace, list({each.root: each for each in found}.values())


def _parse_files(output: bytes, paths: Sequence[bytes]) -> list[WorkingFile]:
    """Parse the output of L{scripts.READ_FILES}.

    @raise ServiceError: 409: a file was removed while it was read.
    """
    lines = output.split(b"\n")
    modes = [line[2:].split(b" ") for line in lines if line.startswith(b"M ")]
    hashes = iter([line.decode() for line in lines if len(line) == len(NO_FILE)])
    files: list[WorkingFile] = []
    for mode, *link in modes:
        if mode == b"0":
            files.append(WorkingFile())
            continue
        hash_ = link[0].decode() if link else next(hashes, "")
        if not hash_:
            break
        files.append(WorkingFile(mode=mode.decode("ascii", "replace"), hash=hash_))
    if len(files) != len(paths):
        raise make_conflict_error("the files change all the time: try again later")
    return files


def _parse_content(done: ShellOutput, limit: int) -> WorkingFile:
    """Parse a mode and a content."""
    mode, _, data = done.output.partition(b"\n")
    if mode == b"0" or not mode.isdigit():
        return WorkingFile()
    is_large = len(data) > READ_LIMIT
    binary = is_large or is_binary_content(data)
    unfinished = bool(data) and not data.endswith(b"\n")
    return WorkingFile(
        mode=mode.decode(),
        hash=hash_blob(data),
        size=len(data),
        lines=0 if binary else data.count(b"\n") + unfinished,
        is_binary=binary,
        data=data if len(data) <= min(limit, READ_LIMIT) else None,
    )


def _has_lines(file: WorkingFile) -> bool:
    return file.mode in ("100644", "100755")


def _split_paths(paths: Sequence[bytes]) -> list[list[bytes]]:
    """Return the paths in parts that fit into one command."""
    parts: list[list[bytes]] = [[]]
    size = 0
    for path in paths:
        _check_path(path)
        size += 2 * len(path) + 20
        if size > _BATCH_BYTES and parts[-1]:
            parts.append([])
            size = 2 * len(path) + 20
        parts[-1].append(path)
    return [part for part in parts if part]


def _check_path(path: bytes) -> None:
    """Check that a path stays in the working tree.

    @raise ServiceError: 422.
    """
    parts = path.split(b"/")
    if any(part.lower() in (b"", b".", b"..", b".git") for part in parts):
        raise make_failure_error("path: not a file of the working tree")


def _quote_path(path: bytes) -> bytes:
    """Return a path as C{git hash-object --stdin-paths} reads it."""
    if not any(byte < 32 or byte in b'"\\' for byte in path):
        return path
    quoted = b"".join(
        b"\\%03o" % byte if byte < 32 or byte in b'"\\' else bytes([byte]) for byte in path
    )
    return b'"' + quoted + b'"'
