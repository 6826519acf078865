"""Creation of the runtime: the store, the thread pools and the settings."""

from __future__ import annotations

import os
import pwd
from collections.abc import Sequence
from functools import partial

from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.login_path import LoginPathReader, LoginShell
from tservice.core.callers.authentication import SignInRule
from tservice.core.kernel.errors import StartError
from tservice.core.kernel.events import EventHub
from tservice.core.kernel.service_stack import ClosingService, ServiceStack
from tservice.core.locations.location_registry import LocationRegistry
from tservice.core.workers.program_lookup import find_unresponsive_folders
from tservice.core.workers.reachability import PROBE_SECONDS, ReachabilityProbe
from tservice.core.workers.resolver import PooledResolver
from tservice.core.workers.worker_pool import WorkerPools
from tservice.runtime.launch_context import LaunchContext
from tservice.runtime.local_location_setup import build_local_locations, build_own_location
from tservice.runtime.os_user_wiring import OsUserWiring, build_os_users
from tservice.runtime.runtime import Runtime
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.store.errors import StoreError
from tservice.tap.accountfolders import move_account_folders

READ_SECONDS = PROBE_SECONDS + 1
"""Time limit in seconds for the folders of the login shell's C{PATH} to answer.

Each folder is checked in a separate thread.
"""


def build_runtime(program: LaunchContext, stack: ServiceStack) -> tuple[Runtime, SettingsService]:
    """Create the runtime of the features, whose services stop after all features.

    @raise StartError: the database is damaged, or was written by a newer version.
    """
    config, hub = program.config, EventHub()
    database = open_database(program, stack)
    move_account_folders(program, database)
    os_users = build_os_users(config.data_dir, program.environ, program.redactor.register_secret)
    doors = start_worker_pools(program, os_users, stack)
    programs = BinaryLookup(program.reactor, program.environ, program.home)
    login = read_login_path(program, programs, doors, stack)
    own = build_own_location(
        config.data_dir,
        program.environ,
        program.home,
        programs.find_program,
        path=programs.build_search_path,
    )
    places = build_local_locations(
        clock=program.reactor, environ=program.environ, own=own, os_users=os_users
    )
    sign_in = SignInRule(config.has_login, config.allow_unauthenticated_network)
    settings = SettingsService(config.data_dir / "settings.json", hub, sign_in)
    settings.load()
    ground = Runtime(
        reactor=program.reactor,
        config=config,
        environ=program.environ,
        home=program.home,
        redactor=program.redactor,
        child_tools=program.child_tools,
        database=database,
        worker_pools=doors,
        reachability=make_reachability_probe(program, places, doors, programs, login),
        settings=settings,
        programs=programs,
        login_path=login,
        locations=places,
        os_users=os_users,
        sign_in=sign_in,
        hub=hub,
    )
    return ground, settings


def open_database(program: LaunchContext, stack: ServiceStack) -> Database:
    """Open the database, and close it when all services that write to it have stopped.

    @raise StartError: the database is damaged, or was written by a newer version.
    """
    try:
        database = Database.open_file(
            program.config.data_dir / "tservice.db", clock=program.reactor
        )
    except StoreError as error:
        raise StartError(str(error)) from error
    ClosingService("store", database.close).setServiceParent(stack)
    return database


def start_worker_pools(
    program: LaunchContext, os_users: OsUserWiring, stack: ServiceStack
) -> WorkerPools:
    """Create the thread pools, and make lookups of hosts and OS users run in the pool for names."""
    doors = WorkerPools(program.reactor)
    doors.setServiceParent(stack)
    program.reactor.installNameResolver(PooledResolver(program.reactor, doors.names))
    os_users.directory.use_threads(doors.names)
    return doors


def read_login_path(
    program: LaunchContext, programs: BinaryLookup, doors: WorkerPools, stack: ServiceStack
) -> LoginPathReader:
    """Start to read the C{PATH} of the user's login shell; program lookups wait for the result."""

    async def find_shell() -> str:
        known = program.environ.get("SHELL", "")
        return known or await doors.names.run(_account_shell)

    async def keep_responsive_folders(path: str) -> str:
        silent = await doors.files.run(
            partial(find_unresponsive_folders, path), "login shell", READ_SECONDS
        )
        return ":".join(folder for folder in path.split(":") if folder not in silent)

    login = LoginPathReader(
        LoginShell(
            children=program.make_child_runner(),
            environ=program.environ,
            home=program.home,
            program=find_shell,
            answering=keep_responsive_folders,
        ),
        programs.use_login_path,
    )
    ClosingService("login shell", login.close).setServiceParent(stack)
    return login


def _account_shell() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_shell
    except KeyError:
        return ""


def make_reachability_probe(
    program: LaunchContext,
    places: LocationRegistry,
    doors: WorkerPools,
    programs: BinaryLookup,
    login: LoginPathReader,
) -> ReachabilityProbe:
    """Return the reachability check for folders that users name, and for search folders of
    programs.
    """

    async def list_search_folders() -> Sequence[str]:
        await login.wait_known()
        return (*programs.list_opened_folders(), str(program.config.cases_dir))

    return ReachabilityProbe(places, doors.files, list_search_folders)
