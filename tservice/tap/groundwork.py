"""The ground is laid: the store, the threads and the settings."""

from __future__ import annotations

from tservice.clis.lookup import BinaryLookup
from tservice.core.doors.mounts import Mounts
from tservice.core.doors.reach import DoorReach
from tservice.core.doors.resolving import DoorResolver
from tservice.core.doors.threads import Doors
from tservice.core.errors import StartError
from tservice.core.events import EventHub
from tservice.core.places.places import Places
from tservice.core.stack import Closing, ServiceStack
from tservice.ground.ground import Ground
from tservice.ground.osusers import OsUserWiring, wire_os_users
from tservice.ground.places import near_places, own_place
from tservice.ground.program import Program
from tservice.settings.service import SettingsService
from tservice.store.database import Database
from tservice.store.errors import StoreError


def lay_ground(program: Program, stack: ServiceStack) -> tuple[Ground, SettingsService]:
    """What the features stand on, closed after all of them.

    @raise StartError: the store is damaged, or of a newer version.
    """
    config, hub = program.config, EventHub()
    database = open_database(program, stack)
    os_users = wire_os_users(config.data_dir, program.environ, program.redactor.register)
    doors = open_doors(program, os_users, stack)
    programs = BinaryLookup(program.reactor, program.environ, program.home)
    own = own_place(config.data_dir, program.environ, program.home, programs.find)
    places = near_places(clock=program.reactor, environ=program.environ, own=own, os_users=os_users)
    settings = SettingsService(config.data_dir / "settings.json", hub, config)
    settings.load()
    ground = Ground(
        reactor=program.reactor,
        config=config,
        environ=program.environ,
        home=program.home,
        redactor=program.redactor,
        database=database,
        doors=doors,
        reach=reach_of(program, places, doors),
        settings=settings,
        programs=programs,
        places=places,
        os_users=os_users,
        hub=hub,
    )
    return ground, settings


def open_database(program: Program, stack: ServiceStack) -> Database:
    """The store, closed after everything that writes to it.

    @raise StartError: it is damaged, or of a newer version.
    """
    try:
        database = Database.open(program.config.data_dir / "tservice.db", clock=program.reactor)
    except StoreError as error:
        raise StartError(str(error)) from error
    Closing("store", database.close).setServiceParent(stack)
    return database


def open_doors(program: Program, os_users: OsUserWiring, stack: ServiceStack) -> Doors:
    """The threads; names of hosts and users are looked up in theirs from now on."""
    mounts = Mounts(str(program.config.data_dir))
    Closing("mounts", mounts.close).setServiceParent(stack)
    doors = Doors(program.reactor, mounts.elsewhere)
    doors.setServiceParent(stack)
    program.reactor.installNameResolver(DoorResolver(program.reactor, doors.names))
    os_users.directory.use(doors.names)
    return doors


def reach_of(program: Program, places: Places, doors: Doors) -> DoorReach:
    """Asks whether what users name answers, and what the service looks into for each of them."""
    programs = program.environ.get("PATH", "").split(":")
    home = program.home
    own = (home, home / ".local/bin", home / ".npm-global/bin")
    folders = (*programs, *map(str, own), str(program.config.cases_dir))
    return DoorReach(places, doors.files, folders)
