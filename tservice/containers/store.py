"""Where hosts of containers, and the containers of cases, are kept."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from typing import Any

import attrs

from tservice.containers.model import (
    ContainerCase,
    ContainerHost,
    Credentials,
    Engine,
    Resources,
)
from tservice.store.database import Database

_OWN = ("image", "network", "memory", "cpus", "credentials")
"""What a case may set in place of its host."""


class ContainerStore:
    """The tables C{container_service}, C{container_hosts} and C{case_containers}."""

    def __init__(self, database: Database, new_id: Callable[[], str]) -> None:
        self._database, self._new_id = database, new_id

    def service_id(self) -> str:
        """What this service's containers are labelled with; made when it is asked for first.

        @raise NotKept: the disk does not take it.
        """
        row = self._database.query_one("SELECT id FROM container_service")
        if row is not None:
            return str(row["id"])
        made = self._new_id()
        self._database.execute("INSERT INTO container_service (only, id) VALUES (1, ?)", (made,))
        return made

    def hosts(self) -> list[ContainerHost]:
        """All of them, by label."""
        rows = self._database.query("SELECT * FROM container_hosts ORDER BY label, id")
        return [_host(row) for row in rows]

    def host(self, host_id: str) -> ContainerHost | None:
        """One of them."""
        row = self._database.query_one("SELECT * FROM container_hosts WHERE id = ?", (host_id,))
        return None if row is None else _host(row)

    def save_host(self, host: ContainerHost) -> None:
        """Keep a host, in place of what it was.

        @raise NotKept: the disk does not take it.
        """
        settings = attrs.asdict(host)
        del settings["id"], settings["label"]
        # Not REPLACE, which would remove the row that cases point to.
        self._database.execute(
            "INSERT INTO container_hosts (id, label, settings) VALUES (?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET label = excluded.label, settings = excluded.settings",
            (host.id, host.label, json.dumps(settings)),
        )

    def forget_host(self, host_id: str) -> None:
        """@raise NotKept: the disk does not take it."""
        self._database.execute("DELETE FROM container_hosts WHERE id = ?", (host_id,))

    def cases(self) -> list[ContainerCase]:
        """The containers of all cases."""
        rows = self._database.query("SELECT * FROM case_containers ORDER BY container")
        return [_case(row) for row in rows]

    def case(self, owner: str, name: str) -> ContainerCase | None:
        """The container of a case, whichever way its name is written."""
        sql = "SELECT * FROM case_containers WHERE owner = ? AND name = ?"
        row = self._database.query_one(sql, (owner, name))
        return None if row is None else _case(row)

    def container(self, name: str) -> ContainerCase | None:
        """By the container's own name."""
        sql = "SELECT * FROM case_containers WHERE container = ?"
        row = self._database.query_one(sql, (name,))
        return None if row is None else _case(row)

    def save_case(self, case: ContainerCase) -> None:
        """Keep the container of a case.

        @raise NotKept: the disk does not take it.
        """
        own = {name: getattr(case, name) for name in _OWN}
        self._database.execute(
            "INSERT OR REPLACE INTO case_containers (container, owner, name, host_id, path, own)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (case.container, case.owner, case.name, case.host_id, case.path, json.dumps(own)),
        )

    def bridges(self) -> list[tuple[Engine, str, int]]:
        """Where the listeners for hooks are: engine, address, port."""
        rows = self._database.query("SELECT * FROM container_bridges ORDER BY engine")
        return [(Engine(row["engine"]), row["address"], row["port"]) for row in rows]

    def save_bridge(self, engine: Engine, address: str, port: int) -> None:
        """@raise NotKept: the disk does not take it."""
        sql = "INSERT OR REPLACE INTO container_bridges VALUES (?, ?, ?)"
        self._database.execute(sql, (engine.value, address, port))

    def forget_case(self, container: str) -> None:
        """Keep nothing of a container that is gone; a full disk does so later."""
        sql = "DELETE FROM case_containers WHERE container = ?"
        self._database.later(("container of a case", container), sql, (container,))


def _host(row: sqlite3.Row) -> ContainerHost:
    told: dict[str, Any] = json.loads(row["settings"])
    return ContainerHost(
        id=row["id"],
        label=row["label"],
        **{
            **told,
            "engine": Engine(told["engine"]),
            "resources": Resources(**told["resources"]),
            "credentials": Credentials(told["credentials"]),
            "create_args": tuple(told["create_args"]),
            "exec_args": tuple(told["exec_args"]),
        },
    )


def _case(row: sqlite3.Row) -> ContainerCase:
    own: dict[str, Any] = json.loads(row["own"])
    credentials = own.pop("credentials")
    return ContainerCase(
        owner=row["owner"],
        name=row["name"],
        host_id=row["host_id"],
        container=row["container"],
        path=row["path"],
        credentials=None if credentials is None else Credentials(credentials),
        **own,
    )
