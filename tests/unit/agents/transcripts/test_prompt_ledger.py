"""To which prompt belongs what an agent tells."""

from __future__ import annotations

from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.agents.transcripts.parsers.claude import strip_paste_tags
from tservice.agents.transcripts.prompt_ledger import (
    KEPT,
    LATE_MS,
    LedgerEntry,
    PromptLedger,
    hash_prompt,
)
from tservice.sessions.interfaces import PromptReport

NOW = 1_800_000_000_000


class MarkTests(SynchronousTestCase):
    """What prompts have in common that read the same."""

    def test_paste_tags_do_not_change_the_mark(self) -> None:
        tag = '<pasted_content id="851a">'
        for text in (f"a\n\n{tag}\nb c\n</{tag[1:]}\n", f"{tag}{tag}\n  {tag}abc", f"abc \n{tag}"):
            self.assertEqual(hash_prompt("abc"), hash_prompt(text), text)

    def test_blank_lines_before_a_paste_are_removed(self) -> None:
        tag = '<pasted_content id="1">'
        self.assertEqual("a  bc\nd \n", strip_paste_tags(f"a  b\n \n{tag}\n  \n</{tag[1:]}c\nd \n"))

    def test_long_white_space_is_marked_quickly(self) -> None:
        """C{bench/hostile.py} measures it."""
        for blank in (" ", "\n", "\t \n"):
            self.assertEqual(
                hash_prompt("a b"), hash_prompt("a" + blank * 300_000 + "b"), repr(blank)
            )


class EqualTests(SynchronousTestCase):
    """Two prompts that read the same, the second a second behind the first."""

    def setUp(self) -> None:
        self.ledger = PromptLedger()
        self.first = self.enter(0)
        self.second = self.enter(1000)

    def enter(self, at: int, *, caught_up: bool = True) -> LedgerEntry:
        return self.ledger.add_prompt("go  on\n", NOW + at, caught_up=caught_up)

    def heard(self, at: int, name: str | None = None) -> None:
        self.ledger.add_hook_report("go on", NOW + at, name)

    def by_hook(self) -> tuple[PromptReport, PromptReport]:
        return self.ledger.judge_by_hooks(self.first), self.ledger.judge_by_hooks(self.second)

    def written(self, *at: int, at_once: bool = True) -> tuple[PromptReport, PromptReport]:
        told = [NOW + each for each in at]
        first = self.ledger.judge_by_times(self.first, told, at_once=at_once)
        return first, self.ledger.judge_by_times(self.second, told, at_once=at_once)

    def test_confirmation_of_the_first_prompt_is_not_used_for_the_second(self) -> None:
        self.heard(10)
        self.assertEqual((PromptReport.SUBMITTED, PromptReport.NOT_YET), self.by_hook())
        self.assertEqual((PromptReport.SUBMITTED, PromptReport.NOT_YET), self.written(10))
        self.assertEqual(
            (PromptReport.SUBMITTED, PromptReport.NOT_YET), self.written(10, at_once=False)
        )

    def test_late_hook_for_equal_prompts_is_unclear(self) -> None:
        """Claude Code runs the hook of a prompt that waited when its turn begins."""
        self.heard(1500)
        self.assertEqual((PromptReport.UNCLEAR, PromptReport.UNCLEAR), self.by_hook())
        self.heard(1501)
        self.assertEqual((PromptReport.SUBMITTED, PromptReport.SUBMITTED), self.by_hook())

    def test_repeated_hook_of_one_prompt_counts_once(self) -> None:
        self.heard(10, "one")
        self.heard(1500, "one")
        self.assertEqual((PromptReport.SUBMITTED, PromptReport.NOT_YET), self.by_hook())

    def test_immediate_writer_is_matched_by_time(self) -> None:
        self.assertEqual((PromptReport.NOT_YET, PromptReport.SUBMITTED), self.written(1500))
        self.assertEqual(
            (PromptReport.UNCLEAR, PromptReport.UNCLEAR), self.written(1500, at_once=False)
        )

    def test_immediate_writer_read_late_is_unclear(self) -> None:
        self.ledger = PromptLedger()
        self.first = self.enter(0)
        self.second = self.enter(1000, caught_up=False)
        self.assertEqual((PromptReport.UNCLEAR, PromptReport.UNCLEAR), self.written(1500))
        self.assertEqual(NOW, self.ledger.find_earliest_time(self.second, at_once=True))

    def test_transcript_is_read_from_the_entered_prompt_on(self) -> None:
        """Not the whole of a conversation, where the first is known to be over."""
        self.assertEqual(NOW + 1000, self.ledger.find_earliest_time(self.second, at_once=True))
        self.assertEqual(NOW, self.ledger.find_earliest_time(self.second))
        self.assertEqual(NOW, self.ledger.find_earliest_time(self.first, at_once=True))

    def test_prompt_waits_for_confirmation_only_for_its_limit(self) -> None:
        third = self.enter(1000 + LATE_MS)
        self.heard(1000 + LATE_MS)
        self.assertIs(PromptReport.SUBMITTED, self.ledger.judge_by_hooks(third))
        self.assertEqual(third.since, self.ledger.find_earliest_time(third))

    def test_hook_with_another_text_confirms_nothing(self) -> None:
        self.ledger.add_hook_report("go", NOW + 1500)
        self.assertEqual((PromptReport.NOT_YET, PromptReport.NOT_YET), self.by_hook())

    def test_newest_prompts_are_remembered(self) -> None:
        for number in range(KEPT):
            self.ledger.add_prompt(f"p{number}", NOW + 2000, caught_up=True)
        self.heard(1500)
        fresh = self.enter(1400)
        self.assertIs(
            PromptReport.SUBMITTED, self.ledger.judge_by_hooks(fresh), "of none that is forgotten"
        )
        for number in range(KEPT):
            self.ledger.add_hook_report(f"p{number}", NOW + 2000)
        self.assertIs(PromptReport.NOT_YET, self.ledger.judge_by_hooks(fresh))


@frozen
class EnteredPrompt:
    """A prompt as it went.

    @ivar read: when the agent read its Enter, if it was not lost.
    """

    entry: LedgerEntry
    read: int | None


STEPS = st.tuples(
    st.sampled_from("ab"),  # what it reads
    st.booleans(),  # the agent has read what was typed before
    st.booleans(),  # its Enter is lost
    st.integers(1, 40),  # how long until the agent reads it
    st.none() | st.integers(0, 90),  # how long then until its hook runs, if it does
    st.booleans(),  # twice
    st.booleans(),  # it is written down
)


class LedgerInterleavingTests(SynchronousTestCase):
    """Equal prompts, of which an agent tells late, twice or never."""

    @settings(max_examples=example_count(300), deadline=None, database=None)
    @given(st.lists(STEPS, max_size=8), st.booleans())
    def test_certain_confirmation_is_always_true_for_equal_prompts(
        self, steps: list[tuple[str, bool, bool, int, int | None, bool, bool]], at_once: bool
    ) -> None:
        """What is told of a prompt for sure is true, and was told."""
        ledger, now = PromptLedger(), NOW
        hooks: list[tuple[int, str, str]] = []
        wrote: list[tuple[int, str]] = []
        prompts: list[tuple[str, EnteredPrompt]] = []
        for number, (text, caught_up, lost, reading, hooked, twice, written) in enumerate(steps):
            if caught_up:
                now = max([now, *(each.read + 1 for _, each in prompts if each.read is not None)])
            entry = ledger.add_prompt(text, now, caught_up=caught_up)
            read = None if lost else now + reading
            prompts.append((text, EnteredPrompt(entry, read)))
            if read is not None:
                wrote += [(read if at_once else read + 7 * number, text)] * written
                if hooked is not None:
                    hooks += [(read + hooked, text, f"n{number}")] * (1 + twice)
            now += 5
        for at, text, name in sorted(hooks):
            ledger.add_hook_report(text, at, name)
        for stream in range(2):
            sure = []
            for text, each in prompts:
                moments = [at for at, found in wrote if found == text]
                told = (
                    ledger.judge_by_hooks(each.entry)
                    if stream
                    else ledger.judge_by_times(each.entry, moments, at_once=at_once)
                )
                sure += [text] if told is PromptReport.SUBMITTED else []
                self.assertFalse(
                    told is PromptReport.SUBMITTED and each.read is None, "it was lost"
                )
            known = {name for _, _, name in hooks} if stream else wrote
            self.assertLessEqual(len(sure), len(known))
