"""Database tables of container hosts, and of the containers of cases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import attrs

from tservice.containers.model import (
    ContainerCase,
    ContainerHost,
    CredentialMode,
    EngineKind,
    ResourceLimits,
)
from tservice.store.database import Database

_OWN = ("image", "network", "memory", "cpus", "credentials")
"""Settings of a host that a case may override."""


class ContainerStore:
    """The tables C{container_service}, C{container_hosts} and C{case_containers}."""

    def __init__(self, database: Database, new_id: Callable[[], str]) -> None:
        self._database, self._new_id = database, new_id

    def service_id(self) -> str:
        """Return the id with which this service labels its containers; create it on first use.

        @raise DiskFull: the id cannot be saved.
        """
        row = self._database.query_first_row("SELECT id FROM container_service")
        if row is not None:
            return str(row["id"])
        made = self._new_id()
        self._database.execute("INSERT INTO container_service (only, id) VALUES (1, ?)", (made,))
        return made

    def list_hosts(self) -> list[ContainerHost]:
        """Return all hosts, sorted by label."""
        rows = self._database.query_rows("SELECT * FROM container_hosts ORDER BY label, id")
        return [_host_from_row(row) for row in rows]

    def find_host(self, host_id: str) -> ContainerHost | None:
        """Return a host by its id; C{None} if there is none."""
        row = self._database.query_first_row(
            "SELECT * FROM container_hosts WHERE id = ?", (host_id,)
        )
        return None if row is None else _host_from_row(row)

    def save_host(self, host: ContainerHost) -> None:
        """Insert or update a host.

        @raise DiskFull: the disk is full.
        """
        settings = attrs.asdict(host)
        del settings["id"], settings["label"]
        # Not REPLACE, which would delete the row that cases reference.
        self._database.execute(
            "INSERT INTO container_hosts (id, label, settings) VALUES (?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET label = excluded.label, settings = excluded.settings",
            (host.id, host.label, json.dumps(settings)),
        )

    def delete_host(self, host_id: str) -> None:
        """Delete a host.

        @raise DiskFull: the disk is full.
        """
        self._database.execute("DELETE FROM container_hosts WHERE id = ?", (host_id,))

    def list_cases(self) -> list[ContainerCase]:
        """Return the containers of all cases."""
        rows = self._database.query_rows("SELECT * FROM case_containers ORDER BY container")
        return [_case_from_row(row) for row in rows]

    def find_case(self, owner: str, name: str) -> ContainerCase | None:
        """Return the container of a case; C{None} if it has none.

        The name is compared without regard to upper and lower case.
        """
        sql = "SELECT * FROM case_containers WHERE owner = ? AND name = ?"
        row = self._database.query_first_row(sql, (owner, name))
        return None if row is None else _case_from_row(row)

    def find_by_container(self, name: str) -> ContainerCase | None:
        """Return the container with that name; C{None} if there is none."""
        sql = "SELECT * FROM case_containers WHERE container = ?"
        row = self._database.query_first_row(sql, (name,))
        return None if row is None else _case_from_row(row)

    def save_case(self, case: ContainerCase) -> None:
        """Insert or update the container of a case.

        @raise DiskFull: the disk is full.
        """
        own = {name: getattr(case, name) for name in _OWN}
        self._database.execute(
            "INSERT OR REPLACE INTO case_containers (container, owner, name, host_id, path, own)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (case.container, case.owner, case.name, case.host_id, case.path, json.dumps(own)),
        )

    def list_bridges(self) -> list[tuple[EngineKind, str, int]]:
        """Return the engine, address and port of each saved hook listener."""
        rows = self._database.query_rows("SELECT * FROM container_bridges ORDER BY engine")
        return [(EngineKind(row["engine"]), row["address"], row["port"]) for row in rows]

    def save_bridge(self, engine: EngineKind, address: str, port: int) -> None:
        """Insert or update the address and port of an engine's hook listener.

        @raise DiskFull: the disk is full.
        """
        sql = "INSERT OR REPLACE INTO container_bridges VALUES (?, ?, ?)"
        self._database.execute(sql, (engine.value, address, port))

    def delete_case(self, container: str) -> None:
        """Delete the record of a removed container.

        On a full disk the deletion is deferred.
        """
        sql = "DELETE FROM case_containers WHERE container = ?"
        self._database.execute_or_defer(("container of a case", container), sql, (container,))


def _host_from_row(row: sqlite3.Row) -> ContainerHost:
    told: dict[str, Any] = json.loads(row["settings"])
    return ContainerHost(
        id=row["id"],
        label=row["label"],
        **{
            **told,
            "engine": EngineKind(told["engine"]),
            "resources": ResourceLimits(**told["resources"]),
            "credentials": CredentialMode(told["credentials"]),
            "create_args": tuple(told["create_args"]),
            "exec_args": tuple(told["exec_args"]),
        },
    )


def _case_from_row(row: sqlite3.Row) -> ContainerCase:
    own: dict[str, Any] = json.loads(row["own"])
    credentials = own.pop("credentials")
    return ContainerCase(
        owner=row["owner"],
        name=row["name"],
        host_id=row["host_id"],
        container=row["container"],
        path=row["path"],
        credentials=None if credentials is None else CredentialMode(credentials),
        **own,
    )
