"""The status of a session is never wrong for long: beside the model's own record of turns."""

from __future__ import annotations

import pytest
from twisted.trial.unittest import SynchronousTestCase

from tests.agents.driven import PlayedClaude, RealClaude
from tests.agents.statussuite import (
    BY_SOMEBODY,
    BY_THEMSELVES,
    StatusSuite,
)


@pytest.mark.alone
class PlayedStatusTests(StatusSuite, PlayedClaude, SynchronousTestCase):
    """The mock."""

    def test_turns(self) -> None:
        self.check(
            [
                "short",
                "silent",
                "error",
                "tool_approved",
                "escape_at_a_dialog",
                "escape_while_it_speaks",
            ]
        )


@pytest.mark.alone
class RealStatusTests(StatusSuite, RealClaude, SynchronousTestCase):
    """The CLI itself."""

    def test_turns_that_end_by_themselves(self) -> None:
        self.check(BY_THEMSELVES)

    def test_turns_that_somebody_ends(self) -> None:
        self.check(BY_SOMEBODY)
