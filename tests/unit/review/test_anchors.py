"""Anchors of comments follow their lines, and never stop silently at other lines."""

from __future__ import annotations

import random
from collections import Counter
from enum import StrEnum

from attrs import define
from twisted.trial.unittest import SynchronousTestCase

from tservice.review.anchors import (
    ANCHOR_LINES,
    SURROUNDING_LINES,
    AnchorPlace,
    AnchorState,
    find_anchor,
    make_anchor,
    split_lines,
)

COMMON = ["", "}", "    return None", "    pass", "        )", "else:"]
"""Lines that stand in many places of a file."""


@define(eq=False)
class Line:
    """Line with an identity.

    @ivar lineage: the same for a copy and its original, and for equal lines that stand together:
        nobody can tell those apart afterwards.
    """

    text: str
    lineage: object = None

    def __attrs_post_init__(self) -> None:
        self.lineage = self.lineage or self


class FileHistory:
    """File whose lines keep their identity while it is edited."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.made = 0
        self.lines = [self.make_line() for _ in range(rng.randint(1, 120))]
        self.join_equal_neighbours({*map(id, self.lines)})

    def join_equal_neighbours(self, new: set[int]) -> None:
        """Give new lines the lineage of an equal line beside them."""
        pairs = [*zip(self.lines, self.lines[1:], strict=False)]
        for above, line in pairs:
            if above.text == line.text and id(line) in new:
                line.lineage = above.lineage
        for above, line in reversed(pairs):
            if above.text == line.text and id(above) in new:
                above.lineage = line.lineage

    def make_line(self) -> Line:
        if self.rng.random() < 0.45:
            return Line(self.rng.choice(COMMON))
        self.made += 1
        return Line(f"line {self.made} {self.rng.random():.6f}")

    def texts(self) -> list[str]:
        return [line.text for line in self.lines]

    def edit(self) -> None:
        """One edit as people and agents make them."""
        rng, lines = self.rng, self.lines
        old = {*map(id, lines)}
        at = rng.randint(0, len(lines))
        end = min(len(lines), at + rng.choice([1, 1, 2, 3, 8]))
        kind = rng.choice(["insert", "delete", "replace", "move", "copy", "indent"])
        if kind == "insert":
            lines[at:at] = [self.make_line() for _ in range(rng.choice([1, 2, 5, 30]))]
        elif kind == "delete":
            del lines[at:end]
        elif kind == "replace":
            lines[at:end] = [self.make_line() for _ in range(rng.choice([1, 2, 4]))]
        elif kind == "indent":
            lines[at:end] = [Line("    " + line.text) for line in lines[at:end]]
        else:
            taken = lines[at:end]
            if kind == "move":
                del lines[at:end]
            else:
                taken = [Line(line.text, line.lineage) for line in taken]
            target = rng.randint(0, len(lines))
            lines[target:target] = taken
        self.join_equal_neighbours({*map(id, lines)} - old)


class Verdict(StrEnum):
    """How an answer compares with what was done to the lines."""

    RIGHT = "right"
    CAUTIOUS = "cautious"
    """They are still there, but nothing tells them from others."""
    MISSED = "missed"
    WRONG_LINE = "wrong line"
    WRONG_STATE = "wrong state"


def judge_seed(seed: int) -> tuple[AnchorState, Verdict]:
    """Edit a file by chance, and compare the anchor's place with that of the lines in truth."""
    rng = random.Random(seed)
    history = FileHistory(rng)
    before = history.texts()
    first = rng.randint(1, len(before))
    last = min(len(before), first + rng.choice([0, 0, 0, 1, 4]))
    block = history.lines[first - 1 : last]
    anchor = make_anchor(before, first, last)
    for _ in range(rng.choice([0, 1, 1, 2, 3, 6])):
        history.edit()
    place = find_anchor(anchor, history.texts())
    return place.state, judge_place(place, block, history.lines, first, anchor.has_mark)


def judge_place(
    place: AnchorPlace, block: list[Line], after: list[Line], first: int, has_mark: bool
) -> Verdict:
    whole = [at for at in range(len(after)) if after[at : at + len(block)] == block]
    if place.state in (AnchorState.SAME, AnchorState.MOVED):
        assert place.line is not None
        found = after[place.line - 1 : place.end_line]
        pairs = [*zip(found, block, strict=False)]
        if len(found) != len(block) or any(now.text != line.text for now, line in pairs):
            return Verdict.WRONG_LINE
        if any(now.lineage != line.lineage and line.text not in COMMON for now, line in pairs):
            return Verdict.WRONG_LINE
        state = AnchorState.SAME if place.line == first else AnchorState.MOVED
        return Verdict.RIGHT if state is place.state else Verdict.WRONG_STATE
    if whole:
        texts = [line.text for line in after]
        certain = has_mark and all(texts.count(line.text) == 1 for line in block)
        return Verdict.MISSED if certain else Verdict.CAUTIOUS
    if place.state is AnchorState.CHANGED:
        assert place.line is not None
        return Verdict.RIGHT
    left = any(line in after and line.text not in COMMON for line in block)
    return Verdict.WRONG_STATE if left and len(block) == 1 else Verdict.RIGHT


class RandomEditTests(SynchronousTestCase):
    """Edits by chance, with an oracle that knows the identity of each line."""

    def test_thousand_random_edits_leave_no_comment_at_a_wrong_line(self) -> None:
        verdicts: Counter[Verdict] = Counter()
        states: Counter[AnchorState] = Counter()
        for seed in range(1000):
            state, verdict = judge_seed(seed)
            verdicts[verdict] += 1
            states[state] += 1
            allowed = (Verdict.RIGHT, Verdict.CAUTIOUS)
            self.assertIn(verdict, allowed, f"seed {seed}: {state}")
        self.assertEqual({*AnchorState}, {*states})
        self.assertLess(verdicts[Verdict.CAUTIOUS], 60)


class AnchorTests(SynchronousTestCase):
    """Edits that a reader follows by hand."""

    def find(self, before: str, line: int, after: str, last: int | None = None) -> AnchorPlace:
        anchor = make_anchor(before.split(), line, last or line)
        return find_anchor(anchor, after.split())

    def check(self, place: AnchorPlace, state: AnchorState, *where: int | None) -> None:
        self.assertEqual((state, *where), (place.state, place.line, place.end_line))

    def test_unchanged_file_keeps_the_place(self) -> None:
        self.check(self.find("a b c", 2, "a b c"), AnchorState.SAME, 2, 2)

    def test_lines_above_move_the_place(self) -> None:
        self.check(self.find("a b c", 2, "x y a b c"), AnchorState.MOVED, 4, 4)

    def test_changed_line_is_shown_with_its_new_text(self) -> None:
        place = self.find("a b c", 2, "a x y c")
        self.check(place, AnchorState.CHANGED, 2, 3)
        self.assertEqual(("x", "y"), tuple(place.lines))

    def test_removed_line_is_gone(self) -> None:
        self.check(self.find("a b c", 2, "a c"), AnchorState.GONE, None, None)

    def test_empty_file_has_no_place(self) -> None:
        self.check(self.find("a b c", 2, ""), AnchorState.GONE, None, None)

    def test_moved_block_is_found(self) -> None:
        found = self.find("a b c d e f", 2, "a e f b c d", last=3)
        self.check(found, AnchorState.MOVED, 4, 5)

    def test_copy_of_changed_lines_is_not_taken_for_them(self) -> None:
        found = self.find("a b c d e", 3, "a b x d e z b c q")
        self.check(found, AnchorState.CHANGED, 3, 3)

    def test_equal_lines_are_told_apart_by_their_neighbours(self) -> None:
        self.check(self.find("a } b } c }", 4, "n a } b } c }"), AnchorState.MOVED, 5, 5)

    def test_one_of_many_equal_lines_is_never_guessed(self) -> None:
        before = " ".join(["x"] * 200)
        place = self.find(before, 100, before + " x")
        self.assertNotIn(place.state, (AnchorState.SAME, AnchorState.MOVED))

    def test_part_of_a_block_that_changed_makes_it_outdated(self) -> None:
        self.check(self.find("a b c d", 2, "a b x c d", last=3), AnchorState.CHANGED, 2, 4)

    def test_anchor_is_bounded(self) -> None:
        lines = [f"{number} " + "w" * 3000 for number in range(300)]
        anchor = make_anchor(lines, 150, 150)
        size = sum(map(len, (*anchor.before, *anchor.lines, *anchor.after)))
        self.assertLess(size, 110_000)
        short = make_anchor([str(number) for number in range(300)], 150, 150)
        self.assertEqual((SURROUNDING_LINES,) * 2, (len(short.before), len(short.after)))

    def test_lines_that_are_not_there_are_refused(self) -> None:
        lines = ["x"] * (ANCHOR_LINES + 1)
        for first, last in ((0, 1), (2, 1), (1, ANCHOR_LINES + 1), (1, 1000)):
            self.assertRaises(ValueError, make_anchor, lines, first, last)

    def test_lines_are_split_as_git_does(self) -> None:
        self.assertEqual(["a", "b"], split_lines(b"a\r\nb"))
        self.assertEqual(["a", ""], split_lines(b"a\n\n"))
        self.assertEqual([], split_lines(b""))
        self.assertEqual(["\\xff"], split_lines(b"\xff"))
