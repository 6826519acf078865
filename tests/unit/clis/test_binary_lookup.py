"""Finding executables: order, memory, and what is passed over."""

from __future__ import annotations

from pathlib import Path

from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase

from tests.unit.clis.fakes import make_program
from tservice.clis.binary_lookup import REMEMBERED, REMEMBERED_SECONDS, BinaryLookup


class LookupTests(SynchronousTestCase):
    """C{one} and C{two} are on PATH, the home folder is behind them."""

    def setUp(self) -> None:
        self.root = Path(self.mktemp()).absolute()
        self.home, self.one, self.two = (self.root / name for name in ("home", "one", "two"))
        self.root.mkdir()
        self.clock = Clock()
        path = f"relative::{self.one}:{self.two}"
        self.lookup = BinaryLookup(self.clock, {"PATH": path}, self.home)

    def test_folders_are_searched_in_order(self) -> None:
        places = [self.home / ".npm-global/bin", self.home / ".local/bin", self.two, self.one]
        for folder in places:
            made = make_program(folder, "tool")
            self.lookup.clear_cache()
            self.assertEqual(made, self.lookup.find_program(["tool"]))

    def test_names_are_searched_in_order(self) -> None:
        second = make_program(self.one, "second")
        self.assertEqual(second, self.lookup.find_program(["first", "second"]))
        first = make_program(self.two, "first")
        self.lookup.clear_cache()
        self.assertEqual(first, self.lookup.find_program(["first", "second"]))

    def test_absolute_name_is_found(self) -> None:
        made = make_program(self.root / "opt", "tool")
        self.assertEqual(made, self.lookup.find_program([str(made)]))
        self.assertIsNone(self.lookup.find_program([str(made) + "2"]))

    def test_unexecutable_programs_are_skipped(self) -> None:
        make_program(self.one, "tool").chmod(0o644)
        (self.two / "tool").mkdir(parents=True)
        self.assertIsNone(self.lookup.find_program(["tool"]))
        self.one.joinpath("gone").symlink_to(self.root / "nowhere")
        self.assertIsNone(self.lookup.find_program(["gone"]))

    def test_relative_folders_are_skipped(self) -> None:
        make_program(Path("relative"), "tool")
        make_program(Path(), "tool2")
        self.assertIsNone(self.lookup.find_program(["tool"]))
        self.assertIsNone(self.lookup.find_program(["tool2"]))

    def test_results_are_cached_for_a_while(self) -> None:
        self.assertIsNone(self.lookup.find_program(["tool"]))
        made = make_program(self.one, "tool")
        self.clock.advance(REMEMBERED_SECONDS - 1)
        self.assertIsNone(self.lookup.find_program(["tool"]))
        self.clock.advance(1)
        self.assertEqual(made, self.lookup.find_program(["tool"]))
        made.unlink()
        self.assertEqual(made, self.lookup.find_program(["tool"]))
        self.lookup.clear_cache()
        self.assertIsNone(self.lookup.find_program(["tool"]))

    def test_cache_is_bounded(self) -> None:
        self.assertIsNone(self.lookup.find_program(["tool"]))
        made = make_program(self.one, "tool")
        for number in range(REMEMBERED):
            self.lookup.find_program([f"other{number}"])
        self.assertEqual(made, self.lookup.find_program(["tool"]))

    def test_installer_folders_are_searched_without_a_path(self) -> None:
        lookup = BinaryLookup(self.clock, {}, self.home)
        made = make_program(self.home / ".local/bin", "tool")
        self.assertEqual(made, lookup.find_program(["tool"]))
