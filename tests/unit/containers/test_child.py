"""Commands of engines, within their bounds."""

from __future__ import annotations

from twisted.internet.error import ProcessDone
from twisted.python.failure import Failure
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.child import OUTPUT_LIMIT, Done, OneRun


class OutputTests(SynchronousTestCase):
    def setUp(self) -> None:
        self.command = OneRun()

    def ended(self) -> Done:
        self.command.processEnded(Failure(ProcessDone(0)))
        return self.successResultOf(self.command.ended)

    def test_the_most(self) -> None:
        self.command.outReceived(b"x" * OUTPUT_LIMIT)
        self.command.errReceived(b"a warning\n")
        done = self.ended()
        self.assertEqual((True, OUTPUT_LIMIT, "a warning"), (done.well, len(done.out), done.said))

    def test_one_that_says_more(self) -> None:
        """It failed, and that is told of it: whatever else it complains of."""
        self.command.outReceived(b"x" * OUTPUT_LIMIT)
        self.command.errReceived(b"a warning\n")
        self.command.outReceived(b"x")
        done = self.ended()
        self.assertEqual((False, "it said more than 4194304 bytes"), (done.well, done.said))
