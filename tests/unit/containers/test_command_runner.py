"""Commands of engines, within their bounds."""

from __future__ import annotations

import signal

from twisted.internet.defer import Deferred
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.fakes.child_processes import FakeProcesses, FakeTransport
from tservice.containers.command_runner import (
    CAUSE_LENGTH,
    MAX_RUNNING,
    OUTPUT_LIMIT,
    EngineCommandResult,
    EngineProcessRunner,
    extract_cause,
)

CAUSES = (
    (
        "Error response from daemon: network nosuchnet not found\n"
        "Error: failed to start containers: service-case-a\n",
        "Error response from daemon: network nosuchnet not found",
    ),
    (
        "WARNING: No swap limit support\n"
        "Error response from daemon: driver failed programming external connectivity on endpoint "
        "service-case-a (5f): listen tcp4 0.0.0.0:80: bind: address already in use\n"
        "failed to start containers: service-case-a\n",
        "Error response from daemon: driver failed programming external connectivity on endpoint "
        "service-case-a (5f): listen tcp4 0.0.0.0:80: bind: address already in use",
    ),
    (
        "Unable to find image 'nosuch:1' locally\n"
        "docker: Error response from daemon: pull access denied for nosuch.\n"
        "See 'docker run --help'.\n",
        "docker: Error response from daemon: pull access denied for nosuch.",
    ),
    ("unknown flag: --odd\nSee 'docker create --help'.\n", "unknown flag: --odd"),
    (
        "docker: 'docker create' requires at least 1 argument\n\n"
        "Usage:  docker create [OPTIONS] IMAGE\n\nRun 'docker create --help' for more\n",
        "docker: 'docker create' requires at least 1 argument",
    ),
    (
        "Error response from daemon: OCI runtime create failed: running hook: stderr:\n"
        "nvidia-container-cli: no driver\nError: failed to start containers: a\n",
        "Error response from daemon: OCI runtime create failed: running hook: stderr: "
        "nvidia-container-cli: no driver",
    ),
    (
        'time="2026-11-27T21:00:00Z" level=warning msg="The cgroupv2 manager is set"\n'
        'Error: unable to start container "5f": netavark: no such device\n',
        'Error: unable to start container "5f": netavark: no such device',
    ),
    (
        "Error: of a program that was run\nmore of it\nError: building at STEP 2: exit status 1\n",
        "Error: building at STEP 2: exit status 1",
    ),
    ("error getting credentials\nno such host\n", "error getting credentials no such host"),
    ("Cannot connect to the Docker daemon\n", "Cannot connect to the Docker daemon"),
    ("WARNING: nothing else\n", "WARNING: nothing else"),
    ("Error: failed to start containers: a\n", "Error: failed to start containers: a"),
    ("See 'docker --help'\n", "See 'docker --help'"),
    ("\x1b[31m\n \n", "[31m"),
    ("", ""),
)


class CauseTests(SynchronousTestCase):
    """L{extract_cause}."""

    def test_complaint_is_the_cause_alone(self) -> None:
        """Not what stands around it: warnings, what was not done for it, how to be asked."""
        for said, cause in CAUSES:
            self.assertEqual(cause, extract_cause(said.encode()), said)

    def test_long_complaint_keeps_its_end(self) -> None:
        """The innermost of nested errors is said last."""
        found = extract_cause(b"Error: begin " + b"x" * 5000 + b" end\n")
        self.assertTrue(found.startswith("Error: begin") and found.endswith(" end"), found)
        self.assertLess(len(found), CAUSE_LENGTH + 10)


class EngineRunnerTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.clock, self.processes = Clock(), FakeProcesses()
        self.runner = EngineProcessRunner(self.processes.make_runner(self.clock), {"PATH": "/bin"})

    def begin(self) -> Deferred[EngineCommandResult]:
        return Deferred.fromCoroutine(self.runner.run(["/usr/bin/podman", "ps"], seconds=3))

    def result(self, work: Deferred[EngineCommandResult]) -> EngineCommandResult:
        self.assertEqual([], self.clock.getDelayedCalls())
        return self.successResultOf(work)

    @property
    def process(self) -> FakeTransport:
        return self.processes.spawned[0]

    def test_output_at_the_limit_is_kept(self) -> None:
        work = self.begin()
        self.assertEqual(["/usr/bin/podman", "ps"], self.processes.calls[0]["args"])
        self.process.protocol.outReceived(b"x" * OUTPUT_LIMIT)
        self.process.protocol.errReceived(b"a warning\n")
        self.process.finish(0)
        done = self.result(work)
        self.assertEqual(
            (True, OUTPUT_LIMIT, "a warning"), (done.is_success, len(done.output), done.error_text)
        )

    def test_output_over_the_limit_is_a_failure(self) -> None:
        """That is its cause, also if the command ended before it was killed."""
        work = self.begin()
        self.process.protocol.errReceived(b"a warning\n")
        self.process.protocol.outReceived(b"x" * OUTPUT_LIMIT + b"x")
        self.assertEqual([signal.SIGKILL], self.process.signals)
        self.process.finish(0)
        done = self.result(work)
        self.assertEqual(
            (False, "it printed more than 4194304 bytes"), (done.is_success, done.error_text)
        )

    def test_slow_command_is_killed_without_its_group(self) -> None:
        work = self.begin()
        self.process.protocol.errReceived(b"Pulling\n")
        self.clock.advance(3)
        self.assertEqual(([signal.SIGKILL], []), (self.process.signals, self.processes.sent))
        self.process.finish(None, signal.SIGKILL)
        done = self.result(work)
        self.assertEqual((None, "it did not finish in 3 s"), (done.status, done.error_text))

    def test_engine_that_cannot_be_started_is_a_failure(self) -> None:
        self.processes.error = OSError(2, "No such file or directory")
        done = self.result(self.begin())
        self.assertEqual("/usr/bin/podman: No such file or directory", done.error_text)

    def test_further_commands_wait(self) -> None:
        for _ in range(MAX_RUNNING + 1):
            self.begin()
        self.assertEqual(MAX_RUNNING, len(self.processes.spawned))
        self.process.finish(0)
        self.assertEqual(MAX_RUNNING + 1, len(self.processes.spawned))
