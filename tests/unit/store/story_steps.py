"""What is done to a table, step by step, as records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen
from twisted.internet.task import Clock

from tservice.sessions.record.model import NameSource, Session
from tservice.store.database import Database


@frozen(kw_only=True)
class StoryStep:
    """One thing that somebody asks a repository for.

    @ivar owed: a disk that takes nothing gets it later; a crash before that loses it.
    @ivar holds: refused by such a disk, and owed all the same.
    @ivar needs: nobody asks for it where this step was refused.
    """

    name: str
    do: Callable[[], object]
    owed: bool = False
    holds: bool = False
    needs: str | None = None


@frozen(kw_only=True)
class StoryHarness:
    """What a story is told in.

    @ivar folder: of the database, for files beside it.
    """

    database: Database
    clock: Clock
    folder: Path


@frozen
class StoreStory:
    """What is done to some tables.

    @ivar told: the steps, on stores of their own.
    @ivar waits: how much of what was told is not on the disk yet.
    @ivar look: how a table is looked at where not every column is the same on every way.
    """

    tables: Sequence[str]
    told: Callable[[StoryHarness], Sequence[StoryStep]]
    waits: Callable[[StoryHarness], int] = field(
        default=lambda world: len(world.database.deferred_writes)
    )
    look: Mapping[str, str] = field(factory=dict)


def session_record(name: str) -> Session:
    """A record whose other rows a story writes."""
    return Session(
        id=name,
        mode="shell",
        name=name,
        name_source=NameSource.AUTO,
        working_dir="/tmp",
        created_at=1,
        last_activity_at=1,
    )
