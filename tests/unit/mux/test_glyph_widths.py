"""How many cells a pane's tmux gives to characters on which systems differ."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.mux.glyph_widths import (
    CHARACTERS,
    DOUBTFUL,
    group_runs,
    parse_known_characters,
    parse_widths,
)
from tservice.mux.tmux.commands import print_known_characters, print_widths


def octal(character: str) -> bytes:
    return b"".join(b"\\%03o" % byte for byte in character.encode())


class GlyphTests(SynchronousTestCase):
    def test_only_known_characters_are_measured(self) -> None:
        """Tmux 3.3 stands still over the width of one that it does not know."""
        unknown = {"\U0001fae9", "\U0001facd"}
        items = (octal(each) if each in unknown else each.encode() for each in CHARACTERS)
        known = parse_known_characters([b"@tservice_glyphs " + b",".join(items)])
        self.assertEqual(set(CHARACTERS) - unknown, set(known))
        command = print_widths(known).decode()
        self.assertNotIn("\U0001fae9", command)
        self.assertEqual(len(known), command.count("#{w:"))

    def test_invisible_character_has_no_cell(self) -> None:
        known = tuple(each for each in CHARACTERS if each != CHARACTERS[-1])
        found = parse_widths(known, [b"2" * len(known)])
        last = DOUBTFUL[-1]
        self.assertEqual(((last[0], last[1] - 1, 2), (last[1], last[1], 0)), found[-2:])
        self.assertEqual((*DOUBTFUL[0], 2), found[0])

    def test_malformed_width_answer_is_ignored(self) -> None:
        for lines in ([], [b"2"], [b"x" * len(CHARACTERS)]):
            self.assertEqual((), parse_widths(CHARACTERS, lines))
        self.assertEqual((), parse_known_characters([]))

    def test_measuring_leaves_nothing_on_the_server(self) -> None:
        first, _, last = print_known_characters(CHARACTERS)
        self.assertIn(b"@tservice_glyphs", first)
        self.assertEqual(b"set-option -p -u -t %0 @tservice_glyphs", last)

    def test_adjacent_equal_widths_form_a_run(self) -> None:
        self.assertEqual(
            ((1, 2, 2), (3, 3, 1), (9, 9, 1)), group_runs([(1, 2), (2, 2), (3, 1), (9, 1)])
        )
