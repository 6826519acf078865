"""A transcript that the real Codex 0.169.0 wrote, long texts cut, read as the service reads it."""

from __future__ import annotations

from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tests.unit.agents.transcripts.usage_totals import usage_totals_of
from tservice.agents.transcripts.model import ReadPosition
from tservice.agents.transcripts.reader import read_file_start, read_messages, read_new_lines

RECORDED = Path(__file__).parent / "codex-0.169.0.jsonl"
ID = "01a1f992-16a6-75d3-ab87-b7929ca8a4b1"


class CodexTranscriptTests(SynchronousTestCase):
    def test_codex_transcript_gives_tokens_and_context(self) -> None:
        place = read_new_lines(ReadPosition(path=""), RECORDED, "codex")
        tally, sums = place.tally, usage_totals_of(place)
        self.assertEqual((ID, "/home/me/work"), (tally.conversation, tally.cwd))
        self.assertEqual("HOLD: door", tally.title)
        self.assertEqual("Done with the tool.", tally.response)
        self.assertEqual(1_795_188_479_142, tally.response_at)
        self.assertEqual((3600, 102), (sums.input, sums.output))
        self.assertEqual((1234, 258_400), (tally.context, tally.window))

    def test_codex_transcript_gives_user_and_assistant_messages(self) -> None:
        """Neither instructions nor surroundings, which Codex writes as messages too."""
        self.assertEqual(
            [
                ("user", "HOLD: door"),
                ("assistant", "holding until released"),
                ("user", "RUN: touch made.txt"),
                ("assistant", "Done with the tool."),
            ],
            [(each.role, each.text) for each in read_messages(RECORDED, "codex")],
        )

    def test_codex_transcript_head_gives_id_and_title(self) -> None:
        begins = read_file_start(RECORDED, "codex")
        self.assertEqual((ID, "HOLD: door"), (begins.conversation, begins.title))
