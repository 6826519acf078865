"""Which places there are, and what they answer."""

from __future__ import annotations

from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tests.ground import HERE, OWN_UID, here, places_of
from tests.unit.osuserworld import OsUserWorld
from tservice.core.errors import ErrorCode, ServiceError
from tservice.core.identity import Identity
from tservice.core.places.near import OwnPlace
from tservice.core.places.place import OWN, Outage, PlaceId, PlaceKind, place_of_os_user
from tservice.core.places.places import Places

FAR = PlaceId(kind=PlaceKind.REMOTE, name="build-host")


class Cut:
    """A way that is cut."""

    def __init__(self) -> None:
        self.asked: list[PlaceId] = []

    def outage(self, known: PlaceId) -> Outage | None:
        return Outage(title=known.name)

    def wanted(self, known: PlaceId) -> None:
        self.asked.append(known)


class PlacesTests(SynchronousTestCase):
    """Whoever knows a kind is asked about it."""

    def test_who_is_between_tells_of_outages(self) -> None:
        """Where nothing is between, there is none."""
        places, cut = Places({}), Cut()
        places.join(PlaceKind.REMOTE, OwnPlace(HERE), way=cut)
        far, near = PlaceId(kind=PlaceKind.REMOTE, name="h"), PlaceId()
        self.assertEqual(Outage(title="h"), places.outage(far))
        self.assertIsNone(places.outage(near))
        places.wanted(far)
        places.wanted(near)
        self.assertEqual([far], cut.asked)

    def test_a_kind_joins_once(self) -> None:
        places = places_of(HERE)
        places.join(PlaceKind.REMOTE, OwnPlace(HERE))
        self.assertIs(HERE, places.recall(FAR))
        self.assertIs(HERE, places.judge(FAR, None))
        self.assertRaises(ValueError, places.join, PlaceKind.REMOTE, OwnPlace(HERE))

    def test_a_kind_that_nobody_knows_is_out_of_reach(self) -> None:
        """What runs there is left alone, nothing is started, nothing is read."""
        places = Places({})
        self.successResultOf(Deferred.fromCoroutine(places.ask(FAR)))
        place = places.recall(FAR)
        self.assertEqual(place, places.find(FAR))
        self.assertEqual((FAR, "build-host"), (place.id, place.title))
        self.assertEqual((False, "remote", None), (place.near, place.closed, place.hooks))
        self.assertRaises(OSError, place.act, list)
        self.assertEqual((None, {}), (place.find(["sh"]), place.environment()))
        self.assertRaises(OSError, place.command, ["/bin/true"])
        error = self.assertRaises(ServiceError, places.judge, FAR, None)
        self.assertIs(ErrorCode.OPERATION_FAILED, error.code)

    def test_what_clients_are_told_of_containers(self) -> None:
        inside = PlaceId(kind=PlaceKind.CONTAINER, name="default", part="web")
        place = Places({}).recall(inside)
        self.assertEqual(("docker", "web"), (place.closed, place.title))

    def test_whose_processes_are_this_machines(self) -> None:
        self.assertTrue(OWN.on_this_machine)
        self.assertTrue(place_of_os_user("ann", 5).on_this_machine)
        self.assertFalse(FAR.on_this_machine)

    def test_of_a_caller(self) -> None:
        caller = Identity(username="ann", admin=False)
        self.assertEqual(OWN, caller.place)
        named = Identity(username="ann", admin=False, os_user="a")
        self.assertEqual(place_of_os_user("a"), named.place)


class OwnTests(SynchronousTestCase):
    """The service's own."""

    def test_as_this_process(self) -> None:
        place = here(Path("/home/me"), SHELL="/bin/zsh", USER="me")
        self.assertEqual((OWN, Path("/home/me")), (place.id, place.home))
        self.assertEqual(("me", OWN_UID), (place.user.name, place.user.uid))
        self.assertEqual("/bin/zsh", place.user.shell)
        self.assertEqual((False, True, None), (place.apart, place.near, place.closed))
        self.assertEqual({"SHELL": "/bin/zsh", "USER": "me"}, place.environment(["X"]))
        self.assertEqual([], place.act(list))
        self.assertEqual(["/bin/true"], place.command(["/bin/true"]))
        assert place.hooks is not None
        self.assertEqual(Path("/home/me/data/hook-secret"), place.hooks.secret_file)
        place.hooks.put()

    def test_nothing_is_started_there_for_an_account_that_has_an_os_user(self) -> None:
        places = places_of(HERE)
        self.assertIs(HERE, places.judge(OWN, None))
        self.assertIs(HERE, places.recall(OWN))
        error = self.assertRaises(ServiceError, places.judge, OWN, "ann")
        self.assertIn("osUser: the account's OS user changed", error.message)


class OsUserTests(SynchronousTestCase):
    """Those of other users of this machine."""

    def setUp(self) -> None:
        self.world = OsUserWorld(Path(self.mktemp()).absolute())
        self.user = self.world.add("ann", 1001)
        self.known = place_of_os_user("ann", 1001)
        self.places = places_of(here(Path("/root"), PATH="/usr/bin", KEY="roots"), self.world)

    def test_as_that_user(self) -> None:
        place = self.places.judge(self.known, "ann")
        self.assertEqual((self.known, "ann", self.user), (place.id, place.title, place.user))
        self.assertEqual(self.user.home, place.home)
        self.assertTrue(place.apart and place.near)
        self.world.acted.clear()
        place.act(list)
        self.assertEqual(["ann"], self.world.acted)
        rights = ["--groups", "1001,4000", "--inh-caps=-all", "--pdeathsig", "KILL", "--"]
        before = ["/s", "/p", "--reuid", "1001", "--regid", "1001", *rights]
        self.assertEqual([*before, "/bin/true"], place.command(["/bin/true"]))
        environ = place.environment()
        self.assertEqual(("ann", None), (environ["USER"], environ.get("KEY")))
        self.assertEqual("roots", place.environment(["KEY"])["KEY"])
        assert place.hooks is not None
        place.hooks.put()
        self.assertEqual(["ann"], self.world.secrets)

    def test_programs_are_found_on_the_users_paths_with_the_users_rights(self) -> None:
        own = self.user.home / ".local" / "bin" / "agent"
        own.parent.mkdir(parents=True)
        own.write_text("#!/bin/sh\n")
        own.chmod(0o755)
        place = self.places.recall(self.known)
        self.world.acted.clear()
        self.assertEqual(own, place.find(["agent"]))
        self.assertEqual(["ann"], self.world.acted)

    def test_a_name_alone_is_judged_for_what_is_new(self) -> None:
        named = place_of_os_user("ann")
        self.assertEqual(self.known, self.places.judge(named, "ann").id)
        found = self.places.find(named)
        assert found is not None
        self.assertEqual(self.known, found.id)
        self.assertRaises(ValueError, self.places.recall, named)

    def test_another_user_of_the_account(self) -> None:
        for now in ("ben", None):
            error = self.assertRaises(ServiceError, self.places.judge, self.known, now)
            self.assertIn("osUser: the account's OS user changed", error.message)

    def test_another_one_of_that_name(self) -> None:
        """What runs is still reached, with nobody's rights; nothing is found or started there."""
        self.world.add("ann", 1002)
        self.assertIsNone(self.places.find(self.known))
        recalled = self.places.recall(self.known)
        self.assertEqual((self.known, (65534,)), (recalled.id, recalled.user.groups))
        self.assertRaises(ServiceError, self.places.judge, self.known, "ann")
        self.world.remove("ann")
        self.assertIsNone(self.places.find(self.known))
        self.assertEqual(self.known, self.places.recall(self.known).id)
