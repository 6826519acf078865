"""Registry of container hosts and clients of their engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import evolve

from tservice.containers.command_lines import EngineDialect
from tservice.containers.command_runner import EngineRunner
from tservice.containers.engine import EngineClient, EngineHealth
from tservice.containers.model import (
    DEFAULT_HOST,
    DEFAULT_IMAGE,
    MAX_HOSTS,
    ContainerHost,
    make_host_id,
)
from tservice.containers.model import EngineKind as EngineName
from tservice.containers.store import ContainerStore
from tservice.core.kernel.errors import make_failure_error, make_not_found_error


class ContainerHostRegistry:
    """Registry of container hosts: their records, and the health of their engines.

    @param programs: finds the path of a program on this machine.
    """

    def __init__(
        self,
        store: ContainerStore,
        runner: EngineRunner,
        programs: Callable[[Sequence[str]], Path | None],
    ) -> None:
        self._store, self._runner, self._programs = store, runner, programs
        self._works: dict[str, EngineHealth] = {}

    def list_hosts(self) -> list[ContainerHost]:
        """Return all container hosts."""
        return self._store.list_hosts()

    def get(self, host_id: str) -> ContainerHost:
        """Return a container host by its id.

        @raise ServiceError: 404: there is no such host.
        """
        found = self._store.find_host(host_id)
        if found is None:
            raise make_not_found_error(f"Container host {host_id[:64]}")
        return found

    def get_default(self) -> ContainerHost:
        """Return the host of cases that do not specify one, and create it if it is missing.

        @raise ServiceError: 422: no engine is installed.
        """
        found = self._store.find_host(DEFAULT_HOST)
        if found is not None:
            return found
        engine = next((name for name in _BEST_FIRST if self._programs([name.value])), None)
        if engine is None:
            raise make_failure_error("neither podman nor docker was found: install one of them")
        made = ContainerHost(
            id=DEFAULT_HOST, label="This machine", engine=engine, image=DEFAULT_IMAGE
        )
        self._store.save_host(made)
        return made

    def add(self, host: ContainerHost) -> ContainerHost:
        """Save a new host.  Its id is made from its label.

        @raise ServiceError: 422: the maximum number of hosts is reached.
        """
        known = [each.id for each in self.list_hosts()]
        if len(known) >= MAX_HOSTS:
            raise make_failure_error(
                f"there are already {MAX_HOSTS} container hosts: remove one first"
            )
        made = evolve(host, id=make_host_id(host.label, {*known, DEFAULT_HOST}))
        self._store.save_host(made)
        return made

    def replace_host(self, host: ContainerHost) -> ContainerHost:
        """Replace the record of a host.  Existing containers are not changed.

        @raise ServiceError: 404: there is no such host.
        """
        self.get(host.id)
        self._store.save_host(host)
        self._works.pop(host.id, None)
        return host

    def remove(self, host_id: str) -> None:
        """Remove a host.

        @raise ServiceError: 404: there is no such host; 422: a case uses it.
        """
        self.get(host_id)
        self.refuse_if_host_has_cases(host_id)
        self._store.delete_host(host_id)
        self._works.pop(host_id, None)

    def refuse_if_host_has_cases(self, host_id: str) -> None:
        """Fail if the host has cases.

        @raise ServiceError: 422: cases use the host.
        """
        used = [case.name for case in self._store.list_cases() if case.host_id == host_id]
        if used:
            more = f" and {len(used) - 5} more" if len(used) > 5 else ""
            raise make_failure_error(f"cases use it: {', '.join(used[:5])}{more}")

    def get_engine(self, host: ContainerHost) -> EngineClient:
        """Return the client of a host's engine.

        @raise ServiceError: 422: the engine is not installed.
        """
        program = self._programs([host.engine.value])
        if program is None:
            raise make_failure_error(f"{host.engine.value} is not installed")
        return EngineClient(EngineDialect(host.engine, str(program), host.context), self._runner)

    async def get_health(self, host: ContainerHost) -> EngineHealth:
        """Return the health of a host's engine.

        The result of a successful check is cached.

        @raise ServiceError: 422 with the engine's error text: the engine does not work.
        """
        known = self._works.get(host.id)
        if known is not None:
            return known
        found = await self.get_engine(host).check_health()
        if found.fault is not None:
            raise make_failure_error(f"{host.engine.value} does not work: {found.fault}")
        self._works[host.id] = found
        return found


def engine_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of engine commands, which contains only the engines' own settings.

    A container therefore cannot read a password or key of the service by the name of its variable.
    """
    return {name: value for name, value in environ.items() if name in _PASSED_VARIABLES}


_BEST_FIRST = (EngineName.PODMAN, EngineName.DOCKER)
_PASSED_VARIABLES = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "TMPDIR",
        "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "DOCKER_CONFIG",
        "DOCKER_CERT_PATH",
        "DOCKER_TLS_VERIFY",
        "DOCKER_CONTEXT",
        "DOCKER_API_VERSION",
        "CONTAINER_HOST",
        "CONTAINER_SSHKEY",
        "CONTAINERS_CONF",
        "CONTAINERS_STORAGE_CONF",
        "CONTAINERS_REGISTRIES_CONF",
        "REGISTRY_AUTH_FILE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
    }
)
