"""What goes wrong with a container is told with its cause (protocol-containers)."""

from __future__ import annotations

import os
import signal
import socket
from contextlib import suppress as passing
from pathlib import Path
from typing import Any

import pytest

from tests.integration.containers.case_harness import IMAGE, USER, CaseTestCase
from tests.integration.containers.engines import DockerEngine
from tests.waiting import wait_until

ENDED = "the container service-case-odd exited after its start with status 137"


@pytest.mark.long(minutes=2)
class PodmanFaultTests(CaseTestCase):
    """What goes wrong is told with its cause."""

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

    def test_cause_of_a_failed_container_start_is_given(self) -> None:
        """Docker says the cause first, and at last what could not be started."""
        self.assertRegex(self.refused_on("nosuchnet"), "nosuchnet.* not found")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            published = ["--publish", f"127.0.0.1:{port}:80"]
            said = self.refused_on("bridge", extraCreateArgs=published)
        self.assertIn("address already in use", said)
        for odd in ("/x:size=of-nothing", "/x:nosuchoption"):
            said = self.refused_on(extraCreateArgs=["--tmpfs", odd])
            self.assertRegex(said, "tmpfs|mount option")

    def test_image_without_a_shell_is_refused(self) -> None:
        self.engine.image("localhost/shellless:1", ("sleep",), "")
        self.assertIn("has no POSIX shell", self.refused_on(image="localhost/shellless:1"))

    def test_end_during_the_first_checks_is_reported_as_an_end(self) -> None:
        """The container still runs when its state is read, and has ended before it is used."""
        self.addCleanup(self.meddling.unlink, missing_ok=True)
        self.meddling.write_text(self.end_before("exec"))
        self.assertIn(ENDED, self.refused_on())
        self.meddling.write_text(self.end_after_inspection())
        self.assertIn(ENDED, self.refused_on())

    def test_end_that_the_engine_notices_late_is_reported_as_an_end(self) -> None:
        """The process that tells the engine of the end is stopped until the checks have failed."""
        self.addCleanup(self.meddling.unlink, missing_ok=True)
        self.addCleanup(resume_process, Path(f"{self.meddling}.held"))
        state = f"{self.kind.program()} container inspect --format"
        self.meddling.write_text(
            f'if [ "$1" = wait ]; then kill -CONT $(cat {self.meddling}.held); fi\n'
            f'if [ "$1 $2" = "container inspect" ] && [ ! -e {self.meddling}.held ]; then\n'
            f"  pid=$({state} '{{{{.State.Pid}}}}' service-case-odd 2>/dev/null)\n"
            '  if [ "${pid:-0}" -gt 0 ]; then\n'
            f'    seen=$({self.kind.program()} "$@")\n'
            f"    awk '/^PPid:/ {{print $2}}' /proc/$pid/status >{self.meddling}.held\n"
            f"    kill -STOP $(cat {self.meddling}.held); kill -KILL $pid\n"
            "    while grep -q '^State:.[^Z]' /proc/$pid/status; do :; done\n"
            "    printf '%s\\n' \"$seen\"; exit\n"
            "  fi\n"
            "fi\n"
        )
        self.assertIn(ENDED, self.refused_on())

    def end_before(self, command: str) -> str:
        """Return a script that ends the container before the engine runs a command in it."""
        return f'if [ "$1" = {command} ]; then {self.end_container("service-case-odd")}; fi\n'

    def end_after_inspection(self) -> str:
        """Return a script that ends the container once the engine has said that it runs."""
        return (
            'if [ "$1 $2" = "container inspect" ]; then\n'
            f'  seen=$({self.kind.program()} "$@") || exit\n'
            f"  case $seen in *'\"running\"'*) {self.end_container('service-case-odd')};; esac\n"
            "  printf '%s\\n' \"$seen\"; exit\n"
            "fi\n"
        )

    def end_container(self, name: str) -> str:
        """Return the commands that kill a container and wait for its end."""
        engine = self.kind.program()
        return f"{engine} kill {name} >/dev/null; {engine} wait {name} >/dev/null"

    def test_container_that_has_just_ended_is_started_for_a_session(self) -> None:
        """What is known of it from the last session is not relied upon."""
        case = self.case()
        for end in (("stop",), ("rm", "--force")):
            self.session(case)
            self.engine.run(*end, f"service-case-{case}")
        self.session(case)

    def test_last_words_written_in_parts_are_reported_whole(self) -> None:
        """Podman's C{logs --tail} drops the parts of a line that come before the last one."""
        shell = self.daemon.folder / "sh"
        part = "printf '%s ' {} >&2; sleep 0.2"
        shell.write_text(f"#!/usr/bin/bash\n{part.format('one')}\n{part.format('two')}\nexit 1\n")
        shell.chmod(0o755)
        self.addCleanup(self.meddling.unlink, missing_ok=True)
        mounted = f'shift; set -- create --volume {shell}:/usr/bin/dash:ro "$@"'
        self.meddling.write_text(f'if [ "$1" = create ]; then {mounted}; fi\n')
        said = self.refused_on()
        self.assertIn("exited after its start with status 1: one two", said)

    def test_unreadable_credential_is_reported(self) -> None:
        """It is the service's user's alone, and the workspace somebody else's."""
        file = self.daemon.home / ".claude/.credentials.json"
        file.chmod(0o600)
        self.addCleanup(file.chmod, 0o644)
        self.ask("POST", "/api/container-hosts", self.host("Signed", IMAGE))
        name = self.case("signed")
        told = "/home/agent/.claude/.credentials.json, the agent's credentials, cannot be read"
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

    def test_container_at_its_process_limit_is_reported(self) -> None:
        """It has all the processes that it may have; nothing else is known of why tmux ends."""
        room = {"memory": "64m", "cpus": 1, "pids": 24}
        self.ask("POST", "/api/container-hosts", self.host("Narrow", IMAGE, resources=room))
        case = self.case("narrow")
        session = self.session(case)
        self.until_shown(session, "$ ")
        self.type(session, "while sleep 600 & do :; done", 1)
        full = "of the 24 processes that it may have"
        body = {"mode": "shell", "caseName": case, "start": True}
        wait_until(full, lambda: self.usage(case) >= 23)
        self.assertIn(full, self.refused("POST", "/api/sessions", body, 422))
        self.daemon.restart()
        self.assertIn(full, self.refused("POST", "/api/sessions", body, 422))

    def usage(self, case: str) -> int:
        return int(self.ask("GET", f"/api/cases/{case}/container")["usage"]["pids"])


def resume_process(file: Path) -> None:
    """Continue the stopped process that a file names, if it is still there."""
    with passing(FileNotFoundError, ProcessLookupError):
        os.kill(int(file.read_text()), signal.SIGCONT)


class DockerFaultTests(PodmanFaultTests):
    """The same with docker's own daemon."""

    kind = DockerEngine


# Or it would be collected as tests of its own.
del CaseTestCase
