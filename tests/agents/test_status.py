"""The status of a session follows the turns that the model records."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven_sessions import PlayedClaude, RealClaude
from tests.agents.status_suite import BY_SOMEBODY, BY_THEMSELVES, FEW, StatusSuite


class PlayedStatusTests(StatusSuite, PlayedClaude, SynchronousTestCase):
    """The mock."""

    def test_status_matches_the_turns(self) -> None:
        self.check(FEW)


class RealStatusTests(StatusSuite, RealClaude, SynchronousTestCase):
    """The CLI itself."""

    def test_real_status_is_right_for_turns_that_end_by_themselves(self) -> None:
        self.check(BY_THEMSELVES)

    def test_turns_ended_by_the_user_match_the_status(self) -> None:
        self.check(BY_SOMEBODY)
