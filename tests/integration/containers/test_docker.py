"""What docker does otherwise than podman, on daemons of its own (protocol-containers)."""

from __future__ import annotations

import os

from tests.integration.containers.case_harness import IMAGE, USER, CaseTestCase
from tests.integration.containers.engines import DockerEngine, RemappedDocker, RootlessDocker


class MemoryTests(CaseTestCase):
    """Docker remembers of a container what the memory's limit ended in it."""

    kind = DockerEngine

    def test_earlier_memory_kill_does_not_explain_a_later_stop(self) -> None:
        """Docker tells of it until the container is started again."""
        for how, status, reason in (("stop", 0, "stopped"), ("kill", 137, "killed")):
            case = self.case()
            box, session = f"service-case-{case}", self.session(case)
            self.until_shown(session, "$ ")
            self.type(session, "sort /dev/zero; echo code-$?", 1)
            self.until_shown(session, "code-137")
            self.daemon.stop()
            self.engine.run(how, box)
            shown = "{{.State.ExitCode}} {{.State.OOMKilled}}"
            told = self.engine.run("inspect", "--format", shown, box)
            self.assertEqual(f"{status} true", told)
            self.daemon.start()
            self.until_reason(session, f"container-{reason}")
            self.assertFalse(self.ask("GET", f"/api/cases/{case}/container")["oomKilled"])


class RemappedTests(CaseTestCase):
    """A daemon that gives containers other user numbers unless it is told otherwise."""

    kind = RemappedDocker

    def test_remapped_daemon_creates_files_as_the_workspace_owner(self) -> None:
        case = self.case()
        session = self.session(case)
        self.type(session, "touch made; echo I-$(id -u)", 1)
        self.until_shown(session, f"I-{USER}")
        self.assertEqual(USER, (self.daemon.folder / case / "made").stat().st_uid)

    def test_container_with_other_user_numbers_is_refused(self) -> None:
        """As an older service made them; every session in it failed."""
        host = self.host("Without", IMAGE, mountCredentials=False)
        self.ask("POST", "/api/container-hosts", host)
        case = self.case("without")
        self.meddling.write_text(
            'if [ "$1" = create ]; then for word; do shift; '
            '[ "$word" = --userns ] || [ "$word" = host ] || set -- "$@" "$word"; done; fi\n'
        )
        self.addCleanup(self.meddling.unlink, missing_ok=True)
        said = self.refused("POST", f"/api/cases/{case}/container/recreate", {}, 422)
        self.assertIn(f"is user {RemappedDocker.FIRST + USER} of this machine", said)
        self.meddling.unlink()
        body = {"mode": "shell", "caseName": case, "start": True}
        said = self.refused("POST", "/api/sessions", body, 422)
        self.assertIn("recreate the container", said)
        self.ask("POST", f"/api/cases/{case}/container/recreate", {})
        self.assertTrue(self.ask("POST", "/api/sessions", body)["session"]["id"])


class RootlessTests(CaseTestCase):
    """A daemon that runs without root; its user is the service's."""

    kind = RootlessDocker

    def test_rootless_daemon_creates_files_as_the_workspace_owner(self) -> None:
        case = self.case(user=0)
        session = self.session(case)
        self.type(session, "touch made; echo I-$(id -u)", 1)
        self.until_shown(session, "I-0")
        self.assertEqual(0, (self.daemon.folder / case / "made").stat().st_uid)
        found = self.ask("GET", f"/api/cases/{case}/container")
        self.assertIn("no limit on memory, cpus, pids", found["warnings"][0])
        self.assertNotIn("usage", found)

    def test_workspace_of_another_user_is_refused(self) -> None:
        host = self.host("Without", IMAGE, mountCredentials=False)
        self.ask("POST", "/api/container-hosts", host)
        folder = self.daemon.folder / "foreign"
        folder.mkdir()
        os.chown(folder, USER, USER)
        body = {"name": "foreign", "hostId": "without", "workspacePath": str(folder)}
        said = self.refused("POST", "/api/cases/container-link", body, 422)
        self.assertIn(f"belongs to user {USER}", said)
        self.assertIn("choose a folder of user 0", said)


# Or it would be collected as tests of its own.
del CaseTestCase
