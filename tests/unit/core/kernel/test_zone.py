"""The zone's name, for calendars elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import TZPATH, ZoneInfo

from twisted.trial.unittest import SkipTest, SynchronousTestCase

from tservice.core.kernel.zone import find_zone_name

WINTER = int(datetime(2026, 1, 15, tzinfo=UTC).timestamp() * 1000)
SUMMER = int(datetime(2026, 7, 15, tzinfo=UTC).timestamp() * 1000)
NOWHERE = Path("/no/such/file")


def zone_file(name: str) -> Path:
    """The file of a zone on this machine."""
    for folder in TZPATH:
        path = Path(folder, name)
        if path.exists():
            return path
    raise SkipTest("this machine has no files of zones")


def unnamed(name: str) -> ZoneInfo:
    """A zone as it is read from C{/etc/localtime}."""
    with zone_file(name).open("rb") as file:
        return ZoneInfo.from_file(file)


class ZoneNameTests(SynchronousTestCase):
    def setUp(self) -> None:
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.link = Path(folder.name) / "localtime"

    def test_named_zone_keeps_its_name(self) -> None:
        self.assertEqual(
            "Europe/Berlin", find_zone_name(ZoneInfo("Europe/Berlin"), WINTER, NOWHERE)
        )
        self.assertEqual("UTC", find_zone_name(UTC, WINTER, NOWHERE))

    def test_zone_name_is_read_from_the_link(self) -> None:
        self.link.symlink_to(zone_file("Asia/Kolkata"))
        self.assertEqual("Asia/Kolkata", find_zone_name(unnamed("Asia/Kolkata"), WINTER, self.link))

    def test_link_to_another_zone_is_ignored(self) -> None:
        self.link.symlink_to(zone_file("Asia/Kolkata"))
        self.assertEqual("+01:00", find_zone_name(unnamed("Europe/Berlin"), WINTER, self.link))

    def test_link_to_no_zone_is_ignored(self) -> None:
        file = self.link.parent / "zoneinfo" / "Mars" / "Utopia"
        file.parent.mkdir(parents=True)
        file.touch()
        self.link.symlink_to(file)
        self.assertEqual("+01:00", find_zone_name(unnamed("Europe/Berlin"), WINTER, self.link))

    def test_unnamed_zone_is_its_current_offset(self) -> None:
        berlin = unnamed("Europe/Berlin")
        self.assertEqual("+01:00", find_zone_name(berlin, WINTER, NOWHERE))
        self.assertEqual("+02:00", find_zone_name(berlin, SUMMER, NOWHERE))
        west = timezone(-timedelta(hours=3, minutes=30))
        self.assertEqual("-03:30", find_zone_name(west, SUMMER, NOWHERE))
