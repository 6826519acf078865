"""What docker does otherwise than podman, on daemons of its own (protocol-containers)."""

from __future__ import annotations

import os
import socket
from typing import Any

from tests.integration.containers.cases import IMAGE, USER, CaseTestCase
from tests.integration.containers.engines import Docker, RemappedDocker, RootlessDocker
from tests.waiting import until


class FaultTests(CaseTestCase):
    """What goes wrong is told with its cause."""

    kind = Docker

    def refused_on(self, network: str = "none", image: str = IMAGE, **more: Any) -> str:
        """What is said of a case that cannot be linked."""
        host = self.host("Odd", image, **{"network": network, **more})
        made = self.ask("POST", "/api/container-hosts", host)["host"]["id"]
        folder = self.daemon.folder / "odd"
        folder.mkdir(exist_ok=True)
        os.chown(folder, USER, USER)
        body = {"name": "odd", "hostId": made, "workspacePath": str(folder)}
        said = self.refused("POST", "/api/cases/container-link", body, 422)
        self.ask("DELETE", f"/api/container-hosts/{made}")
        self.assertNotIn("failed to start containers", said)
        return said

    def test_why_a_container_does_not_start(self) -> None:
        """Docker says the cause first, and at last what could not be started."""
        self.assertIn("network nosuchnet not found", self.refused_on("nosuchnet"))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            published = ["--publish", f"127.0.0.1:{port}:80"]
            said = self.refused_on("bridge", extraCreateArgs=published)
        self.assertIn("address already in use", said)
        for odd in ("/x:size=of-nothing", "/x:nosuchoption"):
            self.assertIn("tmpfs", self.refused_on(extraCreateArgs=["--tmpfs", odd]))

    def test_an_image_without_a_shell_is_told_so(self) -> None:
        self.engine.image("localhost/shellless:1", ("sleep",), "")
        self.assertIn("has no POSIX shell", self.refused_on(image="localhost/shellless:1"))

    def test_an_unreadable_credential_is_told(self) -> None:
        """It is the service's user's alone, and the workspace somebody else's."""
        file = self.daemon.home / ".claude/.credentials.json"
        file.chmod(0o600)
        self.addCleanup(file.chmod, 0o644)
        self.ask("POST", "/api/container-hosts", self.host("Signed", IMAGE))
        name = self.case("signed")
        told = "/home/agent/.claude/.credentials.json, with which an agent signs in, cannot be read"
        case = self.ask("GET", f"/api/cases/{name}")
        self.assertIn(told, case["container"]["warnings"][0])
        self.daemon.restart()
        shown = self.ask("GET", f"/api/cases/{name}/container")
        self.assertIn(told, shown["warnings"][0])
        host = self.host("Signed", IMAGE, mountCredentials="copy")
        self.ask("PUT", "/api/container-hosts/signed", host)
        shown = self.ask("POST", f"/api/cases/{name}/container/recreate", {})
        self.assertNotIn("warnings", shown)
        home = self.daemon.data / f"containers/service-case-{name}/home"
        copied = home / ".claude/.credentials.json"
        self.assertEqual(("{}", USER), (copied.read_text(), copied.stat().st_uid))

    def test_a_container_that_is_full_is_told_so(self) -> None:
        """It has all the processes that it may have; nothing else is known of why tmux ends."""
        room = {"memory": "64m", "cpus": 1, "pids": 24}
        self.ask("POST", "/api/container-hosts", self.host("Narrow", IMAGE, resources=room))
        case = self.case("narrow")
        session = self.session(case)
        self.until_shown(session, "$ ")
        self.type(session, "while sleep 600 & do :; done", 1)
        full = "of the 24 processes that it may have"
        body = {"mode": "shell", "caseName": case, "start": True}
        until(full, lambda: self.usage(case) >= 23)
        self.assertIn(full, self.refused("POST", "/api/sessions", body, 422))
        self.daemon.restart()
        self.assertIn(full, self.refused("POST", "/api/sessions", body, 422))

    def usage(self, case: str) -> int:
        return int(self.ask("GET", f"/api/cases/{case}/container")["usage"]["pids"])

    def test_what_the_memory_ended_before_did_not_end_what_is_stopped(self) -> None:
        """Docker tells of it until the container is started again."""
        case = self.case()
        box, session = f"service-case-{case}", self.session(case)
        self.until_shown(session, "$ ")
        self.type(session, "sort /dev/zero; echo code-$?", 1)
        self.until_shown(session, "code-137")
        self.daemon.stop()
        self.engine.run("stop", box)
        shown = "{{.State.ExitCode}} {{.State.OOMKilled}}"
        self.assertEqual("0 true", self.engine.run("inspect", "--format", shown, box))
        self.daemon.start()
        self.until_reason(session, "container-stopped")
        self.assertFalse(self.ask("GET", f"/api/cases/{case}/container")["oomKilled"])


class RemappedTests(CaseTestCase):
    """A daemon that gives containers other user numbers unless it is told otherwise."""

    kind = RemappedDocker

    def test_what_is_made_inside_is_the_workspaces_owner_s(self) -> None:
        case = self.case()
        session = self.session(case)
        self.type(session, "touch made; echo I-$(id -u)", 1)
        self.until_shown(session, f"I-{USER}")
        self.assertEqual(USER, (self.daemon.folder / case / "made").stat().st_uid)

    def test_a_container_of_other_numbers_is_refused(self) -> None:
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
        self.assertIn("make the container anew", said)
        self.ask("POST", f"/api/cases/{case}/container/recreate", {})
        self.assertTrue(self.ask("POST", "/api/sessions", body)["session"]["id"])


class RootlessTests(CaseTestCase):
    """A daemon that runs without root; its user is the service's."""

    kind = RootlessDocker

    def test_what_is_made_inside_is_the_workspaces_owner_s(self) -> None:
        case = self.case(user=0)
        session = self.session(case)
        self.type(session, "touch made; echo I-$(id -u)", 1)
        self.until_shown(session, "I-0")
        self.assertEqual(0, (self.daemon.folder / case / "made").stat().st_uid)
        found = self.ask("GET", f"/api/cases/{case}/container")
        self.assertIn("no limit on memory, cpus, pids", found["warnings"][0])
        self.assertNotIn("usage", found)

    def test_a_workspace_of_somebody_else_is_refused(self) -> None:
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
