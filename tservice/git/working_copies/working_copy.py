"""Implementation of L{WorkingCopy<tservice.git.interfaces.WorkingCopy>} on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from attrs import frozen

from tservice.core.kernel.errors import make_failure_error
from tservice.core.workers.thread_runners import RunInThread
from tservice.git.interfaces import WorkingFile
from tservice.git.model import ERROR_LIMIT, GitRepository, to_display_text
from tservice.git.process.runner import GitError
from tservice.git.status.inspector import ReadingContext, RepositoryInspector
from tservice.git.working_copies.working_files import read_working_file, replace_working_file

_T = TypeVar("_T")


@frozen(kw_only=True)
class LocalWorkingCopy:
    """Working tree on this machine, whose git runs with the restrictions of reading.

    @ivar visit: the context of one reading; a new copy is opened for each request.
    """

    repository: GitRepository
    path: str
    inspector: RepositoryInspector
    visit: ReadingContext
    in_thread: RunInThread

    @property
    def name(self) -> str:
        """Name of the top folder."""
        return to_display_text(os.path.basename(self.repository.root))

    async def run_git(self, words: Sequence[str | bytes], limit: int) -> tuple[bytes, bool]:
        """See L{tservice.git.interfaces.WorkingCopy.run_git}."""
        try:
            return await self.inspector.run_git_up_to(self.visit, words, limit)
        except GitError as error:
            raise make_failure_error(str(error)[:ERROR_LIMIT]) from None

    async def read_files(
        self, paths: Sequence[bytes], content_limit: int = 0
    ) -> Sequence[WorkingFile]:
        """See L{tservice.git.interfaces.WorkingCopy.read_files}."""
        root = self.repository.root

        def read_all() -> list[WorkingFile]:
            return [read_working_file(root, path, content_limit) for path in paths]

        return await self.run_in_thread(read_all)

    async def replace_file(self, path: bytes, expected: str, new: WorkingFile) -> WorkingFile:
        """See L{tservice.git.interfaces.WorkingCopy.replace_file}."""
        root = self.repository.root
        return await self.run_in_thread(partial(replace_working_file, root, path, expected, new))

    async def run_in_thread(self, work: Callable[[], _T]) -> _T:
        """See L{tservice.git.interfaces.WorkingCopy.run_in_thread}."""
        return await self.in_thread(work, self.repository.folder)
