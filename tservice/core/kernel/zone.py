"""Time zone in which the service computes times of day, and its name."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo

LOCAL_TIME = Path("/etc/localtime")
"""Link into the system's folder of time zones; the path below that folder is the zone's name."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZONES = "zoneinfo/"


def find_local_zone(environ: Mapping[str, str]) -> tzinfo:
    """Return the machine's time zone: C{TZ}, else the configured zone, else UTC."""
    name = environ.get("TZ", "").lstrip(":")
    try:
        if name:
            return ZoneInfo(name)
        with LOCAL_TIME.open("rb") as file:
            return ZoneInfo.from_file(file)
    except (OSError, ValueError, KeyError):
        return UTC


def find_zone_name(zone: tzinfo, at: int, local_time: Path = LOCAL_TIME) -> str:
    """Return the IANA name of a zone, such as C{Europe/Berlin}, or its offset, such as C{+02:00}.

    @param at: Unix milliseconds; the time for which the offset is computed.
    @param local_time: the link that names the machine's zone.
    """
    if zone is UTC:
        return "UTC"
    key = zone.key if isinstance(zone, ZoneInfo) else None
    return key or _find_linked_name(zone, at, local_time) or _format_offset(zone, at)


def _find_linked_name(zone: tzinfo, at: int, local_time: Path) -> str | None:
    """Return the zone name in the link C{local_time}, if that zone has the same offset as
    C{zone}.
    """
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
