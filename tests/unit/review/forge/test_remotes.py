"""Choice of the forge's project for a branch."""

from __future__ import annotations

from twisted.trial.unittest import SynchronousTestCase

from tservice.review.forge.model import ForgeUnavailableError
from tservice.review.forge.remotes import RemoteProject, choose_projects, parse_address

GITHUB = "https://github.com/ann/clock.git"


class AddressTests(SynchronousTestCase):
    """Addresses of remotes."""

    def test_all_forms_name_the_same_project(self) -> None:
        for address in (
            GITHUB,
            "https://github.com/ann/clock",
            "https://ann:secret@GitHub.com/ann/clock/",
            "git@github.com:ann/clock.git",
            "github.com:ann/clock",
            "ssh://git@ssh.github.com:443/ann/clock.git",
        ):
            found = parse_address(address)
            self.assertEqual(RemoteProject(host="github.com", project="ann/clock"), found, address)

    def test_groups_are_part_of_the_project(self) -> None:
        found = parse_address("git@gitlab.example.org:top/sub/clock.git")
        self.assertEqual("top/sub/clock", found and found.project)

    def test_other_addresses_are_none(self) -> None:
        for address in (
            "/srv/clock.git", "../clock.git", "file:///srv/ann/clock.git", "", "C:\\clock",
            "https://github.com/clock", "https://github.com/ann/../clock",
            "https://-x.example/ann/clock", "git@github.com:ann/clock?x=1", "ext::sh -c x/y",
        ):  # fmt: skip
            self.assertIsNone(parse_address(address), address)


class ChoiceTests(SynchronousTestCase):
    """Projects of a branch."""

    def choose(self, remotes: dict[str, str], **settings: str) -> tuple[str, str]:
        named = {f"branch.topic.{name}": value for name, value in settings.items()}
        found = choose_projects("topic", remotes, named)
        self.assertEqual("topic", found.branch)
        return found.project, found.source

    def test_single_remote_is_both(self) -> None:
        self.assertEqual(("ann/clock", "ann/clock"), self.choose({"remote.origin.url": GITHUB}))

    def test_fork_asks_the_upstream(self) -> None:
        remotes = {
            "remote.origin.url": GITHUB,
            "remote.upstream.url": "https://github.com/top/clock",
        }
        self.assertEqual(("top/clock", "ann/clock"), self.choose(remotes, remote="origin"))
        chosen = {**remotes, "remote.origin.gh-resolved": "base"}
        self.assertEqual(("ann/clock", "top/clock"), self.choose(chosen, pushremote="upstream"))

    def test_remotes_on_two_hosts_stay_apart(self) -> None:
        remotes = {
            "remote.origin.url": "https://gitlab.com/ann/clock",
            "remote.upstream.url": "https://github.com/top/clock",
        }
        self.assertEqual(("ann/clock", "ann/clock"), self.choose(remotes, remote="origin"))

    def test_folders_are_no_forge(self) -> None:
        with self.assertRaises(ForgeUnavailableError):
            choose_projects("topic", {"remote.origin.url": "/srv/ann/clock.git"}, {})
