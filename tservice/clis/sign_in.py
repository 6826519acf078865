"""Detection whether an agent CLI is signed in, from the files that it keeps itself (protocol-clis).

The files are read, never changed, and nothing of their content leaves this module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Protocol

from attrs import frozen
from pydantic import Field

from tservice.clis.capabilities import ConfigRelocation
from tservice.clis.field_types import CliId, CliRecord, EnvName, Word
from tservice.core.callers.identity import Identity
from tservice.core.disk.files import FileError, read_text
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.values.value_limits import exceeds_value_limit
from tservice.core.workers.reachability import ReachabilityCheck
from tservice.core.workers.worker_pool import IThreads

FILE_LIMIT = 8 * 1024 * 1024
"""Maximum size of a file that is read, in bytes; C{.claude.json} grows with its user's projects."""

VALUES_LIMIT = 200_000
"""Maximum number of JSON values of a file that is parsed."""


class SignInFile(CliRecord):
    """File in which an agent stores how it signs in.

    @ivar path: relative to the home folder.
    @ivar keys: members of its JSON object, with dots for nested ones.  Any of them is a sign-in.
        Without keys, any content other than an empty object is.
    """

    path: Word
    relocation: ConfigRelocation | None = None
    keys: Annotated[tuple[Word, ...], Field(max_length=8)] = ()


class SignInRules(CliRecord):
    """Rules for the sign-in of an agent.

    @ivar argv: command that signs in, in a terminal.
    @ivar variables: variables with credentials, which the agent reads instead of a file.
    @ivar is_complete: true if an agent without any of these has no credentials.  False if it may
        have them elsewhere, for example in a keyring.
    """

    argv: Annotated[tuple[Word, ...], Field(min_length=1, max_length=8)]
    files: Annotated[tuple[SignInFile, ...], Field(max_length=8)] = ()
    variables: Annotated[tuple[EnvName, ...], Field(max_length=16)] = ()
    is_complete: bool = False


class SignInEntry(Protocol):
    """Part of a registry entry that the detection needs."""

    @property
    def id(self) -> CliId: ...

    @property
    def sign_in(self) -> SignInRules | None: ...

    def inherits(self, name: str) -> bool:
        """Return whether the agent gets the variable C{name} of the service."""


@frozen(kw_only=True)
class SignInState:
    """Sign-in of one agent.

    @ivar signed_in: C{None} if it is not known.
    @ivar argv: command that signs in, in a terminal.
    """

    id: CliId
    signed_in: bool | None
    argv: tuple[str, ...]


@frozen(kw_only=True)
class SignInReader:
    """Reader of the sign-ins of the agents at a caller's location."""

    list_entries: Callable[[], Sequence[SignInEntry]]
    locations: LocationRegistry
    threads: IThreads
    reach: ReachabilityCheck

    async def read_sign_ins(self, caller: Identity) -> list[SignInState]:
        """Return the state of each agent that can sign in.

        @raise ServiceError: 422: the home folder does not respond; 429: too many reads are running.
        """
        await self.reach.check_paths(caller.location_id, (), caller.username)
        location = self.locations.get_caller_location(caller)
        environ, home = location.build_environment(), location.home
        pairs = [(each, each.sign_in) for each in self.list_entries()]
        asked = [(each, rules) for each, rules in pairs if rules is not None]
        work = [
            partial(find_sign_in, rules, home, _inherited_variables(each, environ))
            for each, rules in asked
        ]
        found: list[bool | None] = await self.threads.run(
            partial(location.run_file_work, lambda: [read() for read in work]),
            at=str(home),
            owner=caller.username,
        )
        return [
            SignInState(id=each.id, signed_in=signed_in, argv=rules.argv)
            for (each, rules), signed_in in zip(asked, found, strict=True)
        ]


def _inherited_variables(entry: SignInEntry, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables of C{environ} that an agent gets; every pane gets folders of XDG."""
    return {
        name: value
        for name, value in environ.items()
        if value and (entry.inherits(name) or name.startswith("XDG_"))
    }


def find_sign_in(rules: SignInRules, home: Path, environ: Mapping[str, str]) -> bool | None:
    """Return whether an agent has credentials; C{None} if it is not known.  Blocks.

    @param environ: the variables that the agent gets.
    """
    if any(name in environ for name in rules.variables):
        return True
    found = [_has_credentials(file, home, environ) for file in rules.files]
    if True in found:
        return True
    return False if rules.is_complete and None not in found else None


def _has_credentials(file: SignInFile, home: Path, environ: Mapping[str, str]) -> bool | None:
    """Return whether a file holds credentials; C{None} if it cannot be read."""
    try:
        text = read_text(_find_path(file, home, environ), limit=FILE_LIMIT)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, FileError):
        return None
    return _is_sign_in(text, file.keys)


def _find_path(file: SignInFile, home: Path, environ: Mapping[str, str]) -> Path:
    moved = file.relocation
    folder = "" if moved is None else environ.get(moved.env_var, "")
    if moved is None or not os.path.isabs(folder):
        return home / file.path
    return Path(folder) / moved.path


def _is_sign_in(text: str, keys: Sequence[str]) -> bool | None:
    if exceeds_value_limit(text, VALUES_LIMIT):
        return None
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        # Some agents encrypt the file.
        return None if keys else bool(text.strip())
    if not keys:
        return bool(data)
    return any(_find_member(data, key.split(".")) for key in keys)


def _find_member(data: Any, names: Sequence[str]) -> bool:
    for name in names:
        if not isinstance(data, dict):
            return False
        data = data.get(name)
    return bool(data)
