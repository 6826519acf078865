"""Construction of the CLI registry feature."""

from __future__ import annotations

from pathlib import Path

from tservice.clis.cli_versions import CliVersionReader
from tservice.clis.installer import Installer
from tservice.clis.launcher import CliRegistry
from tservice.clis.registry_file import FILE_NAME
from tservice.clis.routes import CliRoutes
from tservice.clis.service import CliService
from tservice.clis.sign_in import SignInReader
from tservice.clis.stock_entries import load_stock_entries
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime


def build_clis(ground: Runtime) -> FeatureRegistration[CliRegistry]:
    """Build the feature of the CLI registry. Stopping it terminates running installations.

    @raise ServiceError: an entry that comes with the program is invalid.
    """
    registry, service = load_clis(ground)
    sign_ins = SignInReader(
        list_entries=registry.list_entries,
        locations=ground.locations,
        threads=ground.worker_pools.files,
        reach=ground.reachability,
    )

    def start() -> None:
        # The first search for a program waits for the result.
        ground.login_path.wait_known()

    return FeatureRegistration(
        name="installs",
        service=registry,
        operations=collect_operations(CliRoutes(service, sign_ins)),
        start=start,
        close=service.stop_installs,
    )


def load_clis(ground: Runtime) -> tuple[CliRegistry, CliService]:
    """Return the registry with the changes of C{clis.json}, and the service that manages it.

    @raise ServiceError: an entry that comes with the program is invalid.
    """
    versions = CliVersionReader(
        clock=ground.reactor,
        children=ground.make_child_runner(),
        environ=ground.environ,
        home=ground.home,
        path_of=ground.programs.build_program_path,
    )
    registry = CliRegistry(
        settings=ground.settings,
        lookup=ground.programs,
        environ=ground.environ,
        pane_env=ground.config.pane_env,
        versions=versions,
    )

    def find_current_binary(name: str) -> Path | None:
        ground.programs.clear_cache()
        entry = registry.get_entry(name)
        return None if entry is None else registry.find_binary(entry)

    installer = Installer(
        clock=ground.reactor,
        children=ground.make_child_runner(),
        environ=ground.environ,
        home=ground.home,
        hub=ground.hub,
        path_of=ground.programs.build_program_path,
        locate=find_current_binary,
    )
    service = CliService(
        path=ground.config.data_dir / FILE_NAME,
        stock=load_stock_entries(),
        registry=registry,
        lookup=ground.programs,
        installer=installer,
        settings=ground.settings,
        hub=ground.hub,
        reach=ground.reachability,
        home=ground.home,
        threads=ground.worker_pools.files,
        versions=versions,
        login=ground.login_path,
    )
    service.load()
    return registry, service
