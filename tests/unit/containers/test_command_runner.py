"""Commands of engines, within their bounds."""

from __future__ import annotations

from twisted.internet.error import ProcessDone
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.command_runner import (
    CAUSE_LENGTH,
    OUTPUT_LIMIT,
    EngineCommandResult,
    EngineProcess,
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


class OutputTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.command = EngineProcess()

    def ended(self) -> EngineCommandResult:
        self.command.processEnded(Failure(ProcessDone(0)))
        return self.successResultOf(self.command.ended)

    def test_output_at_the_limit_is_kept(self) -> None:
        self.command.outReceived(b"x" * OUTPUT_LIMIT)
        self.command.errReceived(b"a warning\n")
        done = self.ended()
        self.assertEqual(
            (True, OUTPUT_LIMIT, "a warning"), (done.is_success, len(done.output), done.error_text)
        )

    def test_output_over_the_limit_is_a_failure(self) -> None:
        """It failed, and that is told of it: whatever else it complains of."""
        self.command.outReceived(b"x" * OUTPUT_LIMIT)
        self.command.errReceived(b"a warning\n")
        self.command.outReceived(b"x")
        done = self.ended()
        self.assertEqual(
            (False, "it printed more than 4194304 bytes"), (done.is_success, done.error_text)
        )
