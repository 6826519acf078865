"""Programs are looked for where a folder that never answers holds up nobody."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from unittest import mock

from twisted.trial.unittest import SynchronousTestCase

from tests.waiting import wait_until
from tservice.core.workers import program_lookup
from tservice.core.workers.program_lookup import find_unresponsive_folders, make_program_finder
from tservice.core.workers.worker_pool import SynchronousThreads


class ProgramTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.folder = Path(self.mktemp()).resolve()
        self.folder.mkdir()

    def test_program_is_found_or_missing(self) -> None:
        program = self.folder / "git"
        program.write_text("")
        program.chmod(0o755)
        find = make_program_finder(SynchronousThreads())
        for name, found in (("git", str(program)), ("nothing", None)):
            self.assertEqual(found, self.successResultOf(find(name, str(self.folder))))

    def test_unresponsive_folders_are_listed(self) -> None:
        answer = threading.Event()
        self.addCleanup(answer.set)
        real = os.path.exists

        def exists(path: str) -> bool:
            if "dead" in path:
                answer.wait()
            return real(path)

        made: list[threading.Thread] = []

        class Waiting(threading.Thread):
            """Its time is over once all that answer have, however long this machine takes."""

            def start(self) -> None:
                made.append(self)
                super().start()

            def join(self, timeout: float | None = None) -> None:
                if timeout is None:
                    super().join()
                else:
                    wait_until(
                        "those that answer", lambda: sum(map(self.hangs, made)) == len("ab") + 1
                    )

            @staticmethod
            def hangs(thread: threading.Thread) -> bool:
                return thread.is_alive()

        path = f"/dead/a:{self.folder}:/missing:relative::/dead/a:/dead/b"
        with (
            mock.patch.object(os.path, "exists", exists),
            mock.patch.object(program_lookup, "Thread", Waiting),
        ):
            self.assertEqual(["/dead/a", "/dead/b"], find_unresponsive_folders(path))
        answer.set()
        # Their last probe would be taken for one of another test, which plays the file system.
        for thread in made:
            thread.join()
        self.assertEqual([], find_unresponsive_folders(path))
