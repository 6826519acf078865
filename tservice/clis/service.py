"""Managing the registry: listing, switching, adding and removing entries, installing CLIs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from tservice.clis.command import Ending
from tservice.clis.install import Installer
from tservice.clis.launcher import CliRegistry
from tservice.clis.lookup import BinaryLookup
from tservice.clis.model import Entry, Kind
from tservice.clis.registry import merge_registry, read_file, write_file
from tservice.core.disk import trouble
from tservice.core.doors.reach import IReach, NoReach
from tservice.core.errors import (
    ErrorCode,
    ServiceError,
    conflict,
    failed,
    invalid,
    not_found,
)
from tservice.core.events import Audience, Event, EventHub
from tservice.core.files import FileError, remove_leftovers
from tservice.settings.interfaces import ISettings

TAIL = 4000
"""Characters of a failed install's output in the error."""

Clis = dict[str, Any]


def _bad_input(fault: str) -> ServiceError:
    return ServiceError(ErrorCode.INVALID_INPUT, fault)


class CliService:
    """Keeps C{<data>/clis.json} and the registry that comes of it.

    Changes are made one at a time: each reads the file, changes one entry and writes the file
    without giving way in between, so that what an operator wrote into it is never lost.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        path: Path,
        stock: Mapping[str, Entry],
        registry: CliRegistry,
        lookup: BinaryLookup,
        installer: Installer,
        settings: ISettings,
        hub: EventHub,
        reach: IReach | None = None,
    ) -> None:
        self._reach = reach or NoReach()
        self._path = path
        self._stock = stock
        self._registry = registry
        self._lookup = lookup
        self._installer = installer
        self._settings = settings
        self._hub = hub

    def load(self) -> None:
        """Read the file; one that cannot be used is logged, and the stock entries hold."""
        remove_leftovers(self._path)
        try:
            clis = read_file(self._path)
        except (FileError, OSError) as error:
            self._log.error("{error}; it is ignored", error=str(error))
            clis = {}
        self._registry.use(merge_registry(self._stock, clis))

    def stop(self) -> Deferred[list[Ending]]:
        """End the installs that run; fires once they are over."""
        return self._installer.stop()

    async def answers(self, place: str) -> None:
        """Make sure that looking for programs holds up nobody.

        @param place: who asks.
        @raise ServiceError: 422: a folder of C{PATH} does not answer; 429: too much is asked.
        """
        await self._reach.paths(None, (), place)

    def listing(self) -> list[dict[str, Any]]:
        """Every entry, disabled included, as clients see them."""
        return [self.describe(entry) for entry in self._registry.entries()]

    def describe(self, entry: Entry) -> dict[str, Any]:
        """One entry as clients see it (protocol-clis)."""
        item = entry.model_dump(
            mode="json",
            by_alias=True,
            include={"id", "label", "short_badge", "order", "kind", "enabled", "stock"},
        )
        item["installed"] = self._registry.find_binary(entry) is not None
        if entry.stock and entry.install is not None:
            item["installCommand"] = " ".join(entry.install.command)
        return item

    def set_enabled(self, name: str, enabled: bool) -> dict[str, Any]:
        """Switch an entry on or off.

        @raise ServiceError: 404, 409; 400 for switching the shell off.
        """
        entry = self._known(name)
        if entry.kind is Kind.SHELL and not enabled:
            raise invalid("enabled", "the shell cannot be disabled")

        def switch(clis: Clis) -> None:
            data = clis.setdefault(name, {})
            if not isinstance(data, dict):
                raise conflict(f"{self._path.name}: {name} is no object; mend the file first")
            data["enabled"] = enabled

        return self._change(name, switch, blame=conflict)

    def create(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Add a custom entry.

        @param data: the fields of an entry, checked each by itself.
        @raise ServiceError: 400, 409.
        """
        name = data["id"]

        def add(clis: Clis) -> None:
            if name in self._stock or name in clis:
                raise ServiceError(ErrorCode.ALREADY_EXISTS, f"{name} exists already")
            clis[name] = {key: value for key, value in data.items() if key != "id"}

        return self._change(name, add)

    def replace(self, name: str, data: Mapping[str, Any]) -> dict[str, Any]:
        """Put C{data} in place of a custom entry; without C{enabled} that state stays.

        @raise ServiceError: 400 for a stock entry, 404, 409.
        """
        self._refuse_stock(name)
        entry = self._registry.get(name)

        def put(clis: Clis) -> None:
            if name not in clis:
                raise not_found(f"CLI {name}")
            clis[name] = {"enabled": entry is None or entry.enabled, **data}

        return self._change(name, put)

    def delete(self, name: str) -> None:
        """Remove a custom entry.

        @raise ServiceError: 400 for a stock entry, 404, 409.
        """
        self._refuse_stock(name)

        def remove(clis: Clis) -> None:
            if clis.pop(name, None) is None:
                raise not_found(f"CLI {name}")

        self._change(name, remove)

    async def install(self, name: str) -> dict[str, Any]:
        """Run a stock entry's install command to its end; enables nothing.

        @raise ServiceError: 400 for an entry without such a command, 404; 409 while it
            runs already; 422 with the end of the output.
        """
        entry = self._known(name)
        if not entry.stock:
            raise invalid("id", f"{name} is no stock entry")
        if entry.install is None:
            raise invalid("id", f"{name} has no install command")
        self._installer.refuse_running(name)
        program, *words = entry.install.command
        found = self._lookup.find((program,))
        if found is None:
            raise failed(f"installing {entry.label} needs {program}, which is not installed")
        command = self._installer.start(name, (str(found), *words))
        command.ended().addBoth(self._forget)
        ending = await command.ended()
        if ending.ended or ending.status != 0:
            raise failed(f"installing {entry.label} {_reason(ending)}\n{ending.output[-TAIL:]}")
        return {**self.describe(entry), "output": ending.output}

    def _forget(self, result: object) -> None:
        self._lookup.forget()

    def _change(
        self,
        name: str,
        edit: Callable[[Clis], None],
        blame: Callable[[str], ServiceError] = _bad_input,
    ) -> dict[str, Any]:
        """Read, edit, check, write, use and tell; the edited entry as clients see it.

        @param blame: makes the error of an entry that breaks a rule: whose fault it is.
        """
        try:
            clis = read_file(self._path)
            edit(clis)
            merged = merge_registry(self._stock, clis)
            if name in merged.faults:
                raise blame(merged.faults[name])
            write_file(self._path, clis)
        except FileError as error:
            raise conflict(f"{error}; mend the file first") from error
        except OSError as error:
            why = trouble(error) or error.strerror
            raise failed(f"{self._path.name} could not be written: {why}") from error
        self._registry.use(merged)
        self._lookup.forget()
        entry = merged.entries.get(name)
        self._hub.publish(
            Event(
                name="cli:changed",
                data={"id": name, "deleted": entry is None},
                audience=Audience.ADMINS,
            )
        )
        return {} if entry is None else self.describe(entry)

    def _known(self, name: str) -> Entry:
        entry = self._registry.get(name)
        if entry is None:
            raise not_found(f"CLI {name}")
        return entry

    def _refuse_stock(self, name: str) -> None:
        if name in self._stock:
            raise invalid("id", f"{name} is a stock entry")

    def require_management(self) -> None:
        """Asked before everything else of who wants to change something.

        @raise ServiceError: 403 while the setting is off.
        """
        if not self._settings.get().cli_management_enabled:
            raise ServiceError(ErrorCode.FORBIDDEN, "the setting cliManagementEnabled is off")


def _reason(ending: Ending) -> str:
    if ending.ended:
        return "took too long or was cut short"
    return f"failed (exit status {ending.status})" if ending.status is not None else "was killed"
