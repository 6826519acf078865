"""The links of a screen, told from what was printed: the right one or none."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.terminal.frames.link_index import ADDED, ADDRESS, LOOK_BACK, OPENING, READ, LinkIndex
from tservice.terminal.frames.sgr import END_LINK

SITE = b"https://a.example/x"
OTHER = b"https://b.example/"
_LINK = re.compile(rb"\x1b\]8;;([^\x1b]*)\x1b\\")
_SGR = re.compile(rb"\x1b\[[0-9;]*m")
PIECES = (
    OPENING,
    OPENING + b";" + SITE,
    END_LINK,
    b"\x1b\\",
    b"\x07",
    b"\r\n",
    b"\x1b[2C",
    b"ab",
    b"\t",
)


def link(text: bytes, address: bytes = SITE, end: bytes = b"\x1b\\") -> bytes:
    return b"\x1b]8;;%b%b%b\x1b]8;;%b" % (address, end, text, end)


def linked(printed: bytes, *rows: bytes, cols: int = 80, whole: bool = True) -> tuple[bytes, ...]:
    return LinkIndex(printed, cols, whole=whole).add_links(rows)


def cells(row: bytes) -> list[tuple[bytes, bytes]]:
    """Each byte of a row and the address that it leads to."""
    found, address = [], b""
    for number, part in enumerate(_LINK.split(_SGR.sub(b"", row))):
        if number % 2:
            address = part
        else:
            found += [(part[n : n + 1], address) for n in range(len(part))]
    return found


def _joined(row: bytes) -> bytes:
    """Pieces of the same address as one link."""
    return row.replace(END_LINK + link(b"")[: -len(END_LINK)], b"")


class LinkBookTests(SynchronousTestCase):
    """L{LinkIndex}."""

    def test_row_gets_the_links_of_its_line(self) -> None:
        row = b"see the manual for more"
        printed = b"$ run\r\nsee " + link(b"the manual") + b" for more\r\n$ "
        expected = b"see " + link(b"the manual") + b" for more"
        self.assertEqual((b"$ run", expected, b"$"), linked(printed, b"$ run", row, b"$"))

    def test_links_end_by_bell_or_escape_and_may_have_an_id(self) -> None:
        printed = link(b"bell", end=b"\x07") + b"\r\n\x1b]8;id=1;%b\x1b\\id\x1b]8;;\x1b\\" % OTHER
        self.assertEqual((link(b"bell"), link(b"id", OTHER)), linked(printed, b"bell", b"id"))

    def test_overlong_lines_are_skipped_in_the_link_search(self) -> None:
        """They are passed over: each was read once for every link in it, as wide as it got, and the
        whole service stood still for hours behind the half a megabyte that is looked at.
        """
        piece = OPENING + b";" + SITE + b"\x07x"
        for wide in (b"\x1b[999C", b"\t" * 8, b""):
            long = (piece + wide) * (LOOK_BACK // len(piece + wide))
            found = linked(long + b"\r\n" + link(b"here") + b"\r\n", b"x", b"here")
            self.assertEqual((b"x", link(b"here")), found)

    def test_oldest_links_beyond_the_bound_are_dropped(self) -> None:
        """The newest come first."""
        many = b"".join(link(b"%06d" % n) * 20 + b"\r\n" for n in range(READ))
        oldest, newest = b"000000" * 20, b"%06d" % (READ - 1) * 20
        found = linked(many, oldest, newest, cols=120)
        self.assertEqual((oldest, link(newest)), (found[0], _joined(found[1])))

    def test_several_links_of_a_row_are_kept(self) -> None:
        row = link(b"a") + link(b"b", OTHER) + b" " + link(b"c")
        self.assertEqual((row,), linked(row + b"\r\n", b"ab c"))

    def test_styles_of_linked_text_are_kept(self) -> None:
        printed = (
            b"\x1b[1;34m" + link(b"\x1b[4mna\x1b[7mme\x1b[0m") + b"\x1b[0m \x1b[32m+\x1b[39m\r\n"
        )
        row = b"\x1b[1;4;34mna\x1b[7mme\x1b[0m \x1b[32m+\x1b[39m"
        (found,) = linked(printed, row)
        self.assertEqual(
            b"\x1b[1;4;34m\x1b]8;;%b\x1b\\na\x1b[7mme%b\x1b[0m \x1b[32m+\x1b[39m"
            % (SITE, END_LINK),
            found,
        )

    def test_tabs_and_skipped_cells_of_a_linked_row_are_blanks(self) -> None:
        printed = (
            link(b"one") + b"\t" + link(b"two") + b"\r\n\x1b[3C" + link(b"far") + b"\x1b[2Coff"
        )
        self.assertEqual(
            (link(b"one") + b"     " + link(b"two"), b"   " + link(b"far") + b"  off"),
            linked(printed, b"one     two", b"   far  off"),
        )

    def test_rows_of_a_full_screen_program_keep_their_links(self) -> None:
        whole = link(b"here") + b" \x1b[?25lit is\x1b[K"
        printed = b"\x1b[?1049h\x1b[2J\x1b[3;5H" + whole + b"\x1b[5;1Hmore"
        row = b"    here it is"
        self.assertEqual((b"    " + link(b"here") + b" it is",), linked(printed, row))

    def test_line_wrapped_into_rows_keeps_its_links(self) -> None:
        printed = b"0123456" + link(b"789abc") + b"def\r\n"
        self.assertEqual(
            (b"0123456" + link(b"789"), link(b"abc") + b"def"),
            linked(printed, b"0123456789", b"abcdef", cols=10),
        )

    def test_partly_matching_row_gets_no_link(self) -> None:
        for row in (b"here!", b"not here", b"her"):
            self.assertEqual((row,), linked(link(b"here") + b"\r\n", row))

    def test_text_also_printed_without_its_link_gets_no_link(self) -> None:
        for again in (
            b"here\r\n",
            b"he\x1b[1mre\r\n",
            b"  here  \r\n",
            b"\x1b[4;4Hhere",
            link(b"here", OTHER),
        ):
            for printed in (again + b"\r\n" + link(b"here"), link(b"here") + b"\r\n" + again):
                self.assertEqual((b"here",), linked(printed, b"here"), printed)

    def test_only_http_addresses_within_the_bound_are_linked(self) -> None:
        for address in (
            b"javascript:alert(1)",
            b"data:text/html,x",
            b"//host/",
            b"https://a b",
            b"https://\xc3\xa9",
            b"https://" + b"a" * ADDRESS,
        ):
            self.assertEqual((b"here",), linked(link(b"here", address), b"here"))
        for address in (b"file:///etc/hosts", b"HTTP://a", b"https://" + b"a" * (ADDRESS - 8)):
            self.assertEqual((link(b"here", address),), linked(link(b"here", address), b"here"))

    def test_unclosed_link_ends_with_its_line(self) -> None:
        printed = b"\x1b]8;;%b\x1b\\open\r\nnext\r\n" % SITE
        self.assertEqual((link(b"open"), b"next"), linked(printed, b"open", b"next"))

    def test_line_with_a_missing_beginning_gets_no_link(self) -> None:
        printed = link(b"here") + b"\r\n" + link(b"there") + b"\r\n"
        self.assertEqual((b"here", link(b"there")), linked(printed, b"here", b"there", whole=False))

    def test_links_are_searched_in_the_newest_lines_only(self) -> None:
        printed = b"".join(link(b"%d" % n) + b"\r\n" for n in range(READ + 1))
        rows = linked(printed, b"0", b"1", b"%d" % READ)
        self.assertEqual((b"0", link(b"1"), link(b"%d" % READ)), rows)

    def test_added_link_bytes_of_a_snapshot_are_bounded(self) -> None:
        address = b"https://" + b"a" * (ADDRESS - 8)
        rows = linked(link(b"here", address) + b"\r\n", *[b"here"] * 200)
        marked = [row != b"here" for row in rows]
        self.assertEqual(sorted(marked), marked)
        self.assertTrue(any(marked))
        self.assertLessEqual(sum(map(len, rows)), ADDED + 200 * len(b"here"))

    @given(
        st.lists(
            st.lists(
                st.tuples(
                    st.text("ab é", max_size=4).map(str.encode),
                    st.sampled_from([None, SITE, OTHER]),
                ),
                max_size=3,
            ),
            max_size=8,
        )
    )
    def test_linked_rows_keep_text_and_correct_addresses(
        self, lines: list[list[tuple[bytes, bytes | None]]]
    ) -> None:
        """The rows read as before, and every cell leads where every line of that text led."""
        printed = b"".join(
            b"".join(link(text, to) if to else text for text, to in line) + b"\r\n"
            for line in lines
        )
        rows = [b"".join(text for text, _ in line) for line in lines]
        meant = [cells(line) for line in printed.split(b"\r\n")]
        for row, found in zip(rows, linked(printed, *rows), strict=True):
            self.assertEqual(row, b"".join(each for each, _ in cells(found)))
            if found == row:
                continue
            alike = [line for line in meant if _plain(line).strip() == row.strip()]
            for line in alike:
                begin = len(_plain(line)) - len(_plain(line).lstrip())
                indent = len(row) - len(row.lstrip())
                for n, (each, address) in enumerate(cells(found)):
                    if each != b" " or address:
                        self.assertEqual((each, address), line[n - indent + begin])

    @given(
        st.lists(st.one_of(st.binary(max_size=8), st.sampled_from(PIECES))).map(b"".join),
        st.integers(min_value=1, max_value=20),
        st.booleans(),
    )
    def test_arbitrary_bytes_keep_their_rows(self, printed: bytes, cols: int, whole: bool) -> None:
        rows = _LINK.sub(b"", printed).replace(b"\x1b", b"").split(b"\n")
        for row, found in zip(rows, linked(printed, *rows, cols=cols, whole=whole), strict=True):
            self.assertEqual(row, _LINK.sub(b"", found))


def _plain(line: list[tuple[bytes, bytes]]) -> bytes:
    return b"".join(each for each, _ in line)
