"""Time zone of the service's wall-clock times, and its name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

LOCAL_TIME = Path("/etc/localtime")
"""Usually a link into the folder of zones; the path below that folder is the zone's name."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZONES = "zoneinfo/"


def local_zone(environ: Mapping[str, str]) -> tzinfo:
    """Return the machine's zone: C{TZ}, else its configured one; UTC if neither is known."""
    name = environ.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
        with LOCAL_TIME.open("rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError, KeyError):
        return UTC


def zone_name(zone: tzinfo, at: int, local_time: Path = LOCAL_TIME) -> str:
    """Return the name that a client's calendar knows the zone by: C{Europe/Berlin}, else C{+02:00}.

    @param at: Unix milliseconds; an offset is that of this moment.
    @param local_time: the link that names the machine's zone.
    """
    if zone is UTC:
        return "UTC"
    key = zone.key if isinstance(zone, ZoneInfo) else None
    return key or _linked_name(zone, at, local_time) or _format_offset(zone, at)


def _linked_name(zone: tzinfo, at: int, local_time: Path) -> str | None:
    """Return the name that the link leads to, if that zone has the same offset."""
    _, found, name = str(local_time.resolve()).rpartition(_ZONES)
    try:
        named = ZoneInfo(name) if found else None
    except (OSError, ValueError, KeyError):
        return None
    if named is None or _utc_offset(named, at) != _utc_offset(zone, at):
        return None
    return name


def _format_offset(zone: tzinfo, at: int) -> str:
    minutes = round(_utc_offset(zone, at).total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"


def _utc_offset(zone: tzinfo, at: int) -> timedelta:
    moment = (_EPOCH + timedelta(milliseconds=at)).astimezone(zone)
    return moment.utcoffset() or timedelta()
