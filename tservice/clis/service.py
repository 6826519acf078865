"""Management of the CLI registry: listing, enabling, adding and removing entries, installing
CLIs.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from twisted.internet.defer import Deferred, gatherResults, succeed
from twisted.logger import Logger

from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.capabilities import CustomModelStyle
from tservice.clis.cli_versions import CliVersionReader
from tservice.clis.command import CommandResult
from tservice.clis.installer import NPM_PREFIX, Installer
from tservice.clis.launcher import CliRegistry
from tservice.clis.login_path import LoginPathReader
from tservice.clis.model import CliEntry, CliKind, InstallCommand
from tservice.clis.params import list_offered_choices
from tservice.clis.registry_merge import merge_registry, read_registry_file, write_registry_file
from tservice.clis.responses import CliFile, CliItem, FaultyEntry, InstalledItem, InstallPlan
from tservice.core.disk.disk_errors import find_disk_problem
from tservice.core.disk.files import FileError, remove_temporary_files
from tservice.core.kernel.errors import (
    ErrorCode,
    ServiceError,
    make_conflict_error,
    make_failure_error,
    make_field_error,
    make_not_found_error,
)
from tservice.core.kernel.event_payloads import CliEntryPayload
from tservice.core.kernel.events import Event, EventHub, EventName
from tservice.core.locations.location import OWN_LOCATION
from tservice.core.workers.reachability import AlwaysReachable, ReachabilityCheck
from tservice.core.workers.worker_pool import IThreads, SynchronousThreads
from tservice.mux.keys import KEYS
from tservice.settings.interfaces import ISettings

OUTPUT_TAIL = 4000
_KEPT = ("order", "params", "env", "version", "resume", "capabilities")
"""Fields of a stored entry that stay if a replacement does not have them."""
"""Number of characters at the end of a failed installation's output that the error contains."""

Clis = dict[str, Any]


def _make_input_error(fault: str) -> ServiceError:
    return ServiceError(ErrorCode.INVALID_INPUT, fault)


class CliService:
    """Manager of C{<data>/clis.json} and of the registry built from the file.

    Changes are made one at a time. A change reads the file, edits one entry and writes the file
    without yielding to the reactor, so that an operator's edits are never lost.
    """

    _log = Logger()

    def __init__(
        self,
        *,
        path: Path,
        stock: Mapping[str, CliEntry],
        registry: CliRegistry,
        lookup: BinaryLookup,
        installer: Installer,
        settings: ISettings,
        hub: EventHub,
        reach: ReachabilityCheck | None = None,
        home: Path = Path("/"),
        threads: IThreads | None = None,
        versions: CliVersionReader | None = None,
        login: LoginPathReader | None = None,
    ) -> None:
        """Create the service.

        @param stock: packaged entries by id.
        @param login: reader of the login shell's C{PATH}; C{None} if it is not read.
        @param home: home folder of the user that runs installations.
        @param threads: worker pool for access to the home folder; C{None} accesses it directly.
        @param versions: reader of program versions; C{None} if versions are not read.
        """
        self._target = home / NPM_PREFIX
        self._threads = threads or SynchronousThreads()
        self._versions = versions
        self._login = login
        self._reach = reach or AlwaysReachable()
        self._path = path
        self._stock = stock
        self._registry = registry
        self._lookup = lookup
        self._installer = installer
        self._settings = settings
        self._hub = hub

    def load(self) -> None:
        """Read C{clis.json}. If it cannot be used, log the reason and use the packaged entries."""
        remove_temporary_files(self._path)
        try:
            clis = read_registry_file(self._path)
        except (FileError, OSError) as error:
            self._log.error("{error}; the file is ignored", error=str(error))
            clis = {}
        self._registry.replace_entries(merge_registry(self._stock, clis))

    def stop_installs(self) -> Deferred[None]:
        """Terminate running installations. The Deferred fires when all of them have ended."""
        if self._versions is not None:
            self._versions.stop_all()
        return self._installer.stop_all()

    async def check_reachable(self, asker: str) -> None:
        """Check that the folders of programs respond, so that a search does not block.

        @param asker: account on whose behalf the check is made.
        @raise ServiceError: 422 if a folder of C{PATH} does not respond; 429 if there are too many
            checks.
        """
        await self._reach.check_paths(OWN_LOCATION, (), asker)

    async def list_with_versions(self) -> list[CliItem]:
        """Return L{list_items}, with the C{version} of each installed CLI that prints it in
        time.
        """
        entries = self._registry.list_entries()
        asked = [self._read_version(entry) for entry in entries]
        found = await gatherResults(asked, consumeErrors=True)
        pairs = zip(entries, found, strict=True)
        return [self.make_cli_item(entry, version) for entry, version in pairs]

    def _read_version(self, entry: CliEntry) -> Deferred[str | None]:
        path = self._registry.find_binary(entry)
        if path is None or entry.version is None or self._versions is None:
            return succeed(None)
        return self._versions.read_version(path, entry.version)

    def list_items(self) -> list[CliItem]:
        """Return every entry as shown to clients, including disabled ones."""
        return [self.make_cli_item(entry) for entry in self._registry.list_entries()]

    def make_cli_item(self, entry: CliEntry, version: str | None = None) -> CliItem:
        """Return one entry as shown to clients (protocol-clis).

        @param version: version of the installed program, if known.
        """
        install = entry.install if entry.stock else None
        path = self._registry.find_binary(entry)
        return CliItem(
            id=entry.id,
            label=entry.label,
            short_badge=entry.short_badge,
            order=entry.order,
            kind=entry.kind,
            enabled=entry.enabled,
            stock=entry.stock,
            installed=path is not None,
            path=None if path is None else str(path),
            version=version,
            install_command=None if install is None else " ".join(install.command),
            custom_model=entry.capabilities.custom_model.style is not CustomModelStyle.NONE or None,
            params=list_offered_choices(entry.params) or None,
            newline=None
            if entry.kind is CliKind.SHELL
            else KEYS[entry.capabilities.submission.newline].plain.decode(),
            binaries=None if entry.stock else list(entry.binaries),
            argv=None if entry.stock else list(entry.argv),
            looked_in=None if path is not None else self._searched_folders(entry),
            login_shell_problem=None if path is not None else self._login_problem(),
        )

    def _searched_folders(self, entry: CliEntry) -> list[str]:
        """Return the folders in which a missing program was searched, or its absolute path if it
        has one.
        """
        if any(name.startswith("/") for name in entry.binaries):
            return list(entry.binaries)
        return list(self._lookup.list_searched_folders())

    def _login_problem(self) -> str | None:
        return None if self._login is None else self._login.problem

    def get_file_status(self) -> CliFile:
        """Return the status of C{clis.json}, which an operator may have edited by hand."""
        try:
            faults = merge_registry(self._stock, read_registry_file(self._path)).faults
        except (FileError, OSError) as error:
            return CliFile(path=str(self._path), problem=str(error), entries=[])
        entries = [FaultyEntry(id=name, problem=why) for name, why in faults.items()]
        return CliFile(path=str(self._path), entries=entries)

    def set_enabled(self, name: str, enabled: bool) -> CliItem:
        """Enable or disable an entry.

        @raise ServiceError: 400 for disabling the shell; 404 for an unknown entry; 409 if the file
            cannot be used.
        """
        entry = self._get_known_entry(name)
        if entry.kind is CliKind.SHELL and not enabled:
            raise make_field_error("enabled", "the shell cannot be disabled")

        def set_enabled_in_file(clis: Clis) -> None:
            data = clis.setdefault(name, {})
            if not isinstance(data, dict):
                raise make_conflict_error(
                    f"{self._path.name}: {name} is not an object; repair the file first"
                )
            data["enabled"] = enabled

        return self._change_entry(name, set_enabled_in_file, blame=make_conflict_error)

    def create_entry(self, data: Mapping[str, Any]) -> CliItem:
        """Add a custom entry.

        @param data: fields of the entry, not validated yet.
        @raise ServiceError: 400 for invalid data; 409 if the entry exists or the file cannot be
            used.
        """
        name = data["id"]

        def add(clis: Clis) -> None:
            if name in self._stock or name in clis:
                raise ServiceError(ErrorCode.ALREADY_EXISTS, f"{name} exists already")
            clis[name] = {key: value for key, value in data.items() if key != "id"}

        return self._change_entry(name, add)

    def replace_entry(self, name: str, data: Mapping[str, Any]) -> CliItem:
        """Replace a custom entry.

        @param data: new fields, not validated yet. Fields that it does not have are kept.
        @raise ServiceError: 400 for invalid data or a packaged entry; 404 for an unknown entry; 409
            if the file cannot be used.
        """
        self._refuse_stock(name)
        entry = self._registry.get_entry(name)

        def replace_in_file(clis: Clis) -> None:
            if name not in clis:
                raise make_not_found_error(f"CLI {name}")
            stored = clis[name] if isinstance(clis[name], dict) else {}
            kept = {key: stored[key] for key in _KEPT if key in stored}
            clis[name] = {"enabled": entry is None or entry.enabled, **kept, **data}

        return self._change_entry(name, replace_in_file)

    def delete_entry(self, name: str) -> None:
        """Remove a custom entry.

        @raise ServiceError: 400 for a packaged entry; 404 for an unknown entry; 409 if the file
            cannot be used.
        """
        self._refuse_stock(name)

        def remove(clis: Clis) -> None:
            if clis.pop(name, None) is None:
                raise make_not_found_error(f"CLI {name}")

        self._edit_file(name, remove)

    async def install_cli(self, name: str) -> InstalledItem:
        """Run the install command of a packaged entry, and wait until it has ended. The entry is
        not enabled.

        @raise ServiceError: 400 for an entry without an install command; 404 for an unknown entry;
            409 if the CLI is already being installed; 422 with the end of the output if the command
            failed.
        """
        entry, install = self._get_installable_entry(name)
        self._installer.require_not_running(name)
        program, *words = install.command
        found = self._lookup.find_program((program,))
        if found is None:
            raise make_failure_error(
                f"installing {entry.label} needs {program}, which is not installed"
            )
        command = self._installer.start(name, (str(found), *words))
        command.wait_ended().addBoth(self._clear_caches)
        ending = await command.wait_ended()
        if ending.was_terminated or ending.status != 0:
            reason = _describe_failed_installation(ending)
            tail = ending.output[-OUTPUT_TAIL:]
            raise make_failure_error(f"installing {entry.label} {reason}\n{tail}")
        shown = self.make_cli_item(entry)
        return InstalledItem(**dict(shown), output=ending.output)

    async def plan_install(self, name: str) -> InstallPlan:
        """Return the commands that L{install_cli} would run, without running them.

        @raise ServiceError: 400 for an entry without an install command; 404 for an unknown entry.
        """
        _, install = self._get_installable_entry(name)
        return InstallPlan(
            command=shlex.join(install.command),
            target=str(self._target),
            writable=await self._threads.run(partial(can_create_in_folder, self._target)),
        )

    async def cancel_install(self, name: str) -> None:
        """Terminate the running installation; see L{Installer.cancel}."""
        self._get_known_entry(name)
        await self._installer.cancel(name)

    def _get_installable_entry(self, name: str) -> tuple[CliEntry, InstallCommand]:
        entry = self._get_known_entry(name)
        if not entry.stock:
            raise make_field_error("id", f"{name} is not a stock entry")
        if entry.install is None:
            raise make_field_error("id", f"{name} has no install command")
        return entry, entry.install

    def _clear_caches(self, result: object) -> None:
        self._lookup.clear_cache()
        if self._versions is not None:
            self._versions.clear_cache()

    def _change_entry(
        self,
        name: str,
        edit: Callable[[Clis], None],
        blame: Callable[[str], ServiceError] = _make_input_error,
    ) -> CliItem:
        """Change an entry, and return it as shown to clients.

        @param edit: changes the C{clis} object of the file.
        @param blame: as for L{_edit_file}.
        """
        self._edit_file(name, edit, blame)
        return self.make_cli_item(self._get_known_entry(name))

    def _edit_file(
        self,
        name: str,
        edit: Callable[[Clis], None],
        blame: Callable[[str], ServiceError] = _make_input_error,
    ) -> None:
        """Edit C{clis.json}: read, change, validate and write it, then use and publish the new
        entries.

        @param edit: changes the C{clis} object of the file.
        @param blame: creates the error for an entry that violates a rule.
        """
        try:
            clis = read_registry_file(self._path)
            edit(clis)
            merged = merge_registry(self._stock, clis)
            if name in merged.faults:
                raise blame(merged.faults[name])
            write_registry_file(self._path, clis)
        except FileError as error:
            raise make_conflict_error(f"{error}; repair the file first") from error
        except OSError as error:
            why = find_disk_problem(error) or error.strerror
            raise make_failure_error(f"{self._path.name} could not be written: {why}") from error
        self._registry.replace_entries(merged)
        self._lookup.clear_cache()
        told = CliEntryPayload(id=name, deleted=name not in merged.entries)
        self._hub.publish(Event(name=EventName.CLI_CHANGED, payload=told))

    def _get_known_entry(self, name: str) -> CliEntry:
        entry = self._registry.get_entry(name)
        if entry is None:
            raise make_not_found_error(f"CLI {name}")
        return entry

    def _refuse_stock(self, name: str) -> None:
        if name in self._stock:
            raise make_field_error("id", f"{name} is a stock entry")

    def require_management(self) -> None:
        """Check that the settings permit changes of the registry. Call this before any other check.

        @raise ServiceError: 403 while management is turned off.
        """
        if not self._settings.get().cli_management_enabled:
            raise ServiceError(
                ErrorCode.FORBIDDEN, "the setting cliManagementEnabled is off; turn it on first"
            )


def can_create_in_folder(folder: Path) -> bool:
    """Return true if this process can create files in C{folder}, or can create the folder
    itself.
    """
    there = next(each for each in (folder, *folder.parents) if each.exists())
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _describe_failed_installation(ending: CommandResult) -> str:
    if ending.was_terminated:
        return "took too long or was cancelled"
    return f"failed (exit status {ending.status})" if ending.status is not None else "was killed"
