"""Which places there are, and what they answer."""

from __future__ import annotations

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.runtime_harness import HERE, OWN_UID, own_location, places_of
from tests.unit.os_user_harness import OsUserWorld
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.local_locations import OwnLocationProvider
from tservice.core.locations.location import (
    OWN_LOCATION,
    LocationId,
    LocationKind,
    LocationOutage,
    make_os_user_location,
)
from tservice.core.locations.location_registry import LocationRegistry

FAR = LocationId(kind=LocationKind.REMOTE, name="build-host")


class CutConnection:
    """A way that is cut."""

    def __init__(self) -> None:
        self.asked: list[LocationId] = []

    def find_outage(self, known: LocationId) -> LocationOutage | None:
        return LocationOutage(title=known.name)

    def request_connection(self, known: LocationId) -> None:
        self.asked.append(known)


class PlacesTests(SynchronousTestCase):
    """Whoever knows a kind is asked about it."""

    def test_outages_are_reported_by_the_connection_in_between(self) -> None:
        """Where nothing is between, there is none."""
        places, cut = LocationRegistry({}), CutConnection()
        places.register_provider(LocationKind.REMOTE, OwnLocationProvider(HERE), way=cut)
        far, near = LocationId(kind=LocationKind.REMOTE, name="h"), LocationId()
        self.assertEqual(LocationOutage(title="h"), places.find_outage(far))
        self.assertIsNone(places.find_outage(near))
        places.request_connection(far)
        places.request_connection(near)
        self.assertEqual([far], cut.asked)

    def test_location_kind_joins_once(self) -> None:
        places = places_of(HERE)
        places.register_provider(LocationKind.REMOTE, OwnLocationProvider(HERE))
        self.assertIs(HERE, places.find_earlier_location(FAR))
        self.assertIs(HERE, places.get_usable_location(FAR, None))
        self.assertRaises(
            ValueError, places.register_provider, LocationKind.REMOTE, OwnLocationProvider(HERE)
        )

    def test_unknown_location_kind_is_unreachable(self) -> None:
        """What runs there is left alone, nothing is started, nothing is read."""
        places = LocationRegistry({})
        self.successResultOf(Deferred.fromCoroutine(places.refresh_location(FAR)))
        place = places.find_earlier_location(FAR)
        self.assertEqual(place, places.find_location(FAR))
        self.assertEqual((FAR, "build-host"), (place.id, place.title))
        self.assertEqual(
            (False, "remote", None), (place.has_local_files, place.unreadable_reason, place.hooks)
        )
        self.assertRaises(OSError, place.run_file_work, list)
        self.assertEqual((None, {}), (place.find_program(["sh"]), place.build_environment()))
        self.assertRaises(OSError, place.build_command, ["/bin/true"])
        error = self.assertRaises(ServiceError, places.get_usable_location, FAR, None)
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)

    def test_container_is_shown_as_docker_with_its_name(self) -> None:
        inside = LocationId(kind=LocationKind.CONTAINER, name="default", part="web")
        place = LocationRegistry({}).find_earlier_location(inside)
        self.assertEqual(("docker", "web"), (place.unreadable_reason, place.title))

    def test_local_processes_are_recognized(self) -> None:
        self.assertTrue(OWN_LOCATION.is_on_this_machine)
        self.assertTrue(make_os_user_location("ann", 5).is_on_this_machine)
        self.assertFalse(FAR.is_on_this_machine)

    def test_caller_has_its_location(self) -> None:
        caller = Identity(username="ann", admin=False)
        self.assertEqual(OWN_LOCATION, caller.location_id)
        named = Identity(username="ann", admin=False, os_user="a")
        self.assertEqual(make_os_user_location("a"), named.location_id)


class OwnLocationTests(SynchronousTestCase):
    """The service's own."""

    def test_own_location_is_that_of_the_process(self) -> None:
        place = own_location(Path("/home/me"), SHELL="/bin/zsh", USER="me")
        self.assertEqual((OWN_LOCATION, Path("/home/me")), (place.id, place.home))
        self.assertEqual(("me", OWN_UID), (place.user.name, place.user.uid))
        self.assertEqual("/bin/zsh", place.user.shell)
        self.assertEqual(
            (False, True, None), (place.is_isolated, place.has_local_files, place.unreadable_reason)
        )
        self.assertEqual({"SHELL": "/bin/zsh", "USER": "me"}, place.build_environment(["X"]))
        self.assertEqual([], place.run_file_work(list))
        self.assertEqual(["/bin/true"], place.build_command(["/bin/true"]))
        assert place.hooks is not None
        self.assertEqual(Path("/home/me/data/hook-secret"), place.hooks.secret_file)
        place.hooks.put()

    def test_account_with_an_os_user_cannot_use_the_own_location(self) -> None:
        places = places_of(HERE)
        self.assertIs(HERE, places.get_usable_location(OWN_LOCATION, None))
        self.assertIs(HERE, places.find_earlier_location(OWN_LOCATION))
        error = self.assertRaises(ServiceError, places.get_usable_location, OWN_LOCATION, "ann")
        self.assertIn("osUser: the account's OS user changed", error.message)


class OsUserLocationTests(SynchronousTestCase):
    """Those of other users of this machine."""

    def setUp(self) -> None:
        self.world = OsUserWorld(Path(self.mktemp()).absolute())
        self.user = self.world.add("ann", 1001)
        self.known = make_os_user_location("ann", 1001)
        self.places = places_of(
            own_location(Path("/root"), PATH="/usr/bin", KEY="roots"), self.world
        )

    def test_os_user_location_has_its_home_and_rights(self) -> None:
        place = self.places.get_usable_location(self.known, "ann")
        self.assertEqual((self.known, "ann", self.user), (place.id, place.title, place.user))
        self.assertEqual(self.user.home, place.home)
        self.assertTrue(place.is_isolated and place.has_local_files)
        self.world.acted.clear()
        place.run_file_work(list)
        self.assertEqual(["ann"], self.world.acted)
        rights = ["--groups", "1001,4000", "--inh-caps=-all", "--pdeathsig", "KILL", "--"]
        before = ["/s", "/p", "--reuid", "1001", "--regid", "1001", *rights]
        self.assertEqual([*before, "/bin/true"], place.build_command(["/bin/true"]))
        environ = place.build_environment()
        self.assertEqual(("ann", None), (environ["USER"], environ.get("KEY")))
        self.assertEqual("roots", place.build_environment(["KEY"])["KEY"])
        assert place.hooks is not None
        place.hooks.put()
        self.assertEqual(["ann"], self.world.secrets)

    def test_programs_are_found_on_the_path_of_the_user(self) -> None:
        own = self.user.home / ".local" / "bin" / "agent"
        own.parent.mkdir(parents=True)
        own.write_text("#!/bin/sh\n")
        own.chmod(0o755)
        place = self.places.find_earlier_location(self.known)
        self.world.acted.clear()
        self.assertEqual(own, place.find_program(["agent"]))
        self.assertEqual(["ann"], self.world.acted)

    def test_os_user_name_without_a_uid_is_only_for_new_sessions(self) -> None:
        named = make_os_user_location("ann")
        self.assertEqual(self.known, self.places.get_usable_location(named, "ann").id)
        found = self.places.find_location(named)
        assert found is not None
        self.assertEqual(self.known, found.id)
        self.assertRaises(ValueError, self.places.find_earlier_location, named)

    def test_changed_os_user_of_the_account_is_refused(self) -> None:
        for now in ("ben", None):
            error = self.assertRaises(
                ServiceError, self.places.get_usable_location, self.known, now
            )
            self.assertIn("osUser: the account's OS user changed", error.message)

    def test_os_user_with_another_uid_is_recalled_without_rights(self) -> None:
        """What runs is still reached, with nobody's rights; nothing is found or started there."""
        self.world.add("ann", 1002)
        self.assertIsNone(self.places.find_location(self.known))
        recalled = self.places.find_earlier_location(self.known)
        self.assertEqual((self.known, (65534,)), (recalled.id, recalled.user.groups))
        self.assertRaises(ServiceError, self.places.get_usable_location, self.known, "ann")
        self.world.remove("ann")
        self.assertIsNone(self.places.find_location(self.known))
        self.assertEqual(self.known, self.places.find_earlier_location(self.known).id)
