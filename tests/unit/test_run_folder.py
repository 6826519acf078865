"""What a run of the tests leaves behind is found and ended."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase
from xdist.workermanage import NodeManager

from tests import run_folder
from tests.run_folder import RunLeftovers, find_processes, remove_run_folder
from tests.waiting import PATIENCE, wait_until


class RunFolderTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.patch(run_folder, "ENDING_SECONDS", 0.0)
        self.folder = Path(self.mktemp()).absolute()
        self.folder.mkdir()

    def start(
        self, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a process that waits for its input to end."""
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, cwd=cwd, env=env)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        wait_until("its command line", Path(f"/proc/{process.pid}/cmdline").read_bytes)
        return process

    def test_unused_run_folder_is_removed(self) -> None:
        (self.folder / "file").write_text("x")
        self.assertEqual(RunLeftovers(processes=(), mounts=()), remove_run_folder(self.folder))
        self.assertFalse(self.folder.exists())

    def test_process_in_the_folder_is_ended_and_reported(self) -> None:
        process = self.start(cwd=self.folder)
        left = remove_run_folder(self.folder)
        self.assertEqual((f"{process.pid}: cat in {self.folder}",), left.processes)
        self.assertEqual(-9, process.wait())
        self.assertEqual(f"process {process.pid}: cat in {self.folder}", str(left))

    def test_process_naming_the_folder_is_found(self) -> None:
        process = self.start(env={"PATH": os.environ["PATH"], "HOME": f"{self.folder}/home"})
        self.assertEqual([process.pid], [pid for pid, _ in find_processes(self.folder)])

    def test_unrelated_processes_are_left_alone(self) -> None:
        process = self.start()
        remove_run_folder(self.folder)
        self.assertIsNone(process.poll())

    def test_workers_may_end_what_they_share(self) -> None:
        self.assertGreaterEqual(NodeManager.EXIT_TIMEOUT, PATIENCE)
