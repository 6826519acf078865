"""From a request to what runs in a pane."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve
from twisted.internet.defer import Deferred, ensureDeferred, succeed
from twisted.internet.task import Clock
from twisted.trial.unittest import SynchronousTestCase
from zope.interface.verify import verifyObject

from tests.unit.clis.fakes import FakeSettings, launch_request, make_program
from tests.unit.os_user_harness import OsUserWorld
from tservice.clis.binary_lookup import BinaryLookup
from tservice.clis.interfaces import ICliRegistry, LaunchPlan, LaunchRequest
from tservice.clis.launcher import CliRegistry
from tservice.clis.model import VersionQuery
from tservice.clis.registry_merge import merge_registry
from tservice.clis.stock_entries import load_stock_entries
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.core.locations.location import make_os_user_location
from tservice.runtime.local_location_setup import build_local_locations, build_own_location


class InstalledVersion:
    """What every program says of its version."""

    def __init__(self, version: str | None) -> None:
        self._version = version

    def read_version(self, program: Path, version: VersionQuery) -> Deferred[str | None]:
        return succeed(self._version)


class LaunchTests(SynchronousTestCase):
    """Programs are in a folder on PATH, made by the test that wants them."""

    def setUp(self) -> None:
        root = Path(self.mktemp()).absolute()
        root.mkdir()
        self.bin = root / "bin"
        self.settings = FakeSettings()
        self.environ = {"PATH": str(self.bin), "HOME": str(root), "OPENAI_API_KEY": "ok"}
        self.registry = self.make()
        for name in ("claude", "codex", "pi", "bash"):
            make_program(self.bin, name)

    def make(self, versions: Any = None, **file: object) -> CliRegistry:
        registry = CliRegistry(
            settings=self.settings,
            lookup=BinaryLookup(Clock(), self.environ, Path("/nowhere")),
            environ=self.environ,
            versions=versions,
        )
        registry.replace_entries(merge_registry(load_stock_entries(), file))
        return registry

    def request(self, mode: str, *, uid: int = 1000, **fields: Any) -> LaunchRequest:
        """For the service's own place, whose user is C{uid}."""
        find = BinaryLookup(Clock(), self.environ, Path("/nowhere")).find_program
        place = build_own_location(Path("/d"), self.environ, Path("/nowhere"), find, uid=uid)
        return launch_request(mode, place, **fields)

    def refusal(self, mode: str, **fields: Any) -> ServiceError:
        error: ServiceError = self.assertRaises(
            ServiceError, self.registry.plan_launch, self.request(mode, **fields)
        )
        return error

    def fitted(self, version: str | None, **how: Any) -> tuple[str, ...]:
        """The words with which Codex of that version is started."""
        self.registry = self.make(versions=InstalledVersion(version))
        asked = self.request("codex", resume="0a", **how)
        plan = self.registry.plan_launch(asked)
        return self.successResultOf(
            ensureDeferred(self.registry.remove_unsupported_arguments("codex", plan, asked.place))
        ).argv[1:]

    def test_older_program_gets_no_arguments_it_refuses(self) -> None:
        for version in ("0.155.1", "0.99", "0.150.0-alpha.1"):
            self.assertEqual(("resume", "0a"), self.fitted(version), version)
        for newer in ("0.156.0", "0.169.0", "1.0", "0.156.0-beta", None, "new"):
            words = ("--no-daemon", "resume", "0a")
            self.assertEqual(words, self.fitted(newer), newer)

    def start_pi(self, node: str, needed: object) -> Deferred[LaunchPlan]:
        """Plan a start of a pi whose package says which Node.js it needs."""
        make_program(self.bin, "node")
        package = self.bin.parent / "lib" / "pi"
        (package / "dist").mkdir(parents=True, exist_ok=True)
        make_program(package / "dist", "cli.js")
        (package / "package.json").write_text(json.dumps({"engines": needed}))
        (self.bin / "pi").unlink()
        (self.bin / "pi").symlink_to(package / "dist" / "cli.js")
        self.registry = self.make(versions=InstalledVersion(node))
        asked = self.request("pi", granted=True)
        plan = self.registry.plan_launch(asked)
        return ensureDeferred(self.registry.remove_unsupported_arguments("pi", plan, asked.place))

    def test_node_that_is_too_old_is_told_before_the_start(self) -> None:
        newest = {"node": ">=22.19.0"}
        for node, needed in (
            ("22.19.0", newest),
            ("24.1", newest),
            ("20.20.2", {"node": ">=20.6"}),
            ("20.20.2", {"node": 7}),
            ("20.20.2", None),
        ):
            plan = self.successResultOf(self.start_pi(node, needed))
            self.assertEqual(str(self.bin / "pi"), plan.argv[0])
        refused = self.failureResultOf(self.start_pi("20.20.2", newest), ServiceError).value
        told = f"pi needs Node.js 22.19.0 or newer, and {self.bin / 'node'} is 20.20.2"
        self.assertIn(told, refused.message)

    def test_registry_provides_its_interface(self) -> None:
        verifyObject(ICliRegistry, self.registry)

    def test_launch_plan_is_complete(self) -> None:
        plan = self.registry.plan_launch(
            self.request(
                "codex",
                params={"model": "m-1"},
                overrides={"CODEX_HOME": "/c"},
                resume="0a",
            )
        )
        words = ("--no-daemon", "resume", "0a", "--model", "m-1")
        self.assertEqual((str(self.bin / "codex"), *words), plan.argv)
        self.assertEqual(
            {
                **self.environ,
                "CODEX_HOME": "/c",
                "SERVICE_MUX": "1",
                "SERVICE_SESSION_ID": "s-1",
                "SERVICE_API_URL": "http://127.0.0.1:1",
                "SERVICE_HOOK_SECRET_FILE": "/d/hook-secret",
            },
            plan.env,
        )
        self.assertEqual({"model": "m-1"}, plan.params)
        self.assertEqual((), plan.clamped)

    def test_permission_mode_of_the_primary_comes_from_the_settings(self) -> None:
        for setting, mode, least in (
            ("normal", "default", "default"),
            ("auto", "auto", "auto"),
            ("bypass", "bypassPermissions", "auto"),
        ):
            self.settings.settings = FakeSettings(primaryMode=setting).get()
            plan = self.registry.plan_launch(self.request("primary"))
            self.assertEqual(("--permission-mode", mode), plan.argv[-2:])
            lowered = self.registry.plan_launch(self.request("primary", granted=False))
            self.assertEqual(("--permission-mode", least), lowered.argv[-2:])
        self.assertEqual(("permissionMode",), lowered.clamped)
        chosen = self.request("primary", params={"permissionMode": "plan"})
        self.assertEqual({"permissionMode": "plan"}, self.registry.check_request(chosen))

    def test_root_does_not_bypass_permissions_outside_a_sandbox(self) -> None:
        self.settings.settings = FakeSettings(primaryMode="bypass").get()
        plan = self.registry.plan_launch(self.request("primary", uid=0))
        self.assertEqual(("--permission-mode", "default"), plan.argv[-2:])
        for params in ({}, {"permissionMode": "bypassPermissions"}):
            plan = self.registry.plan_launch(
                self.request("primary", uid=0, granted=False, params=params)
            )
            self.assertEqual(("--permission-mode", "auto"), plan.argv[-2:])
        wanted: tuple[dict[str, Any], ...] = (
            {"overrides": {"IS_SANDBOX": "1"}},
            {"params": {"permissionMode": "bypassPermissions"}},
        )
        for more in wanted:
            plan = self.registry.plan_launch(self.request("primary", uid=0, **more))
            self.assertEqual(("--permission-mode", "bypassPermissions"), plan.argv[-2:])
        self.environ["IS_SANDBOX"] = "1"
        plan = self.registry.plan_launch(self.request("primary", uid=0))
        self.assertEqual(("--permission-mode", "bypassPermissions"), plan.argv[-2:])

    def test_unknown_and_disabled_modes_are_refused(self) -> None:
        self.registry = self.make(codex={"enabled": False})
        self.assertRaises(ServiceError, self.registry.get_enabled_entry, "nope")
        error = self.assertRaises(ServiceError, self.registry.get_enabled_entry, "codex")
        self.assertEqual("mode: codex is disabled", error.message)
        self.assertEqual(ErrorCode.INVALID_INPUT, self.refusal("nope").code)
        self.assertEqual(
            "codex", self.registry.plan_launch(self.request("codex")).argv[0].split("/")[-1]
        )
        self.assertIs(self.registry.get_entry("codex"), self.registry.list_entries()[3])

    def test_node_next_to_the_program_comes_first_on_the_path(self) -> None:
        """Of a shell the order stays, whatever is beside it."""
        make_program(self.bin, "node")
        odd = make_program(Path(self.mktemp()).absolute(), "node").parent
        path = f"{odd}:{self.environ['PATH']}"
        self.environ["PATH"] = path
        plan = self.registry.plan_launch(self.request("codex"))
        self.assertEqual(str(self.bin), plan.env["PATH"].split(":")[0])
        self.assertIn(str(odd), plan.env["PATH"].split(":"))
        self.assertEqual(path, self.registry.plan_launch(self.request("shell")).env["PATH"])

    def test_missing_program_names_the_folders_searched(self) -> None:
        error = self.refusal("gemini")
        self.assertEqual(ErrorCode.OPERATION_FAILED, error.code)
        looked = f"(searched in {self.environ['PATH']})"
        self.assertEqual(
            f"Gemini CLI is not installed: npm install -g @google/gemini-cli {looked}",
            error.message,
        )
        self.assertEqual(
            f"Antigravity is not installed: Install Antigravity and put agy on PATH {looked}",
            self.refusal("antigravity").message,
        )
        self.assertEqual({}, self.registry.check_request(self.request("gemini")))

    def test_remote_program_is_searched_on_its_location(self) -> None:
        """With what a child there starts from, and nothing of this machine's environment."""

        class Elsewhere:
            def run_file_work(self, work: Callable[[], Any]) -> Any:
                raise OSError("far away")

            def find_program(self, names: Sequence[str]) -> Path | None:
                return Path("/there") / names[0]

            def build_command(self, argv: Sequence[str]) -> list[str]:
                return ["/far", *argv]

            def build_environment(self, named: Sequence[str] = ()) -> Mapping[str, str]:
                return {"LANG": "C", "HOME": "/home/there"}

            def get_search_path(self) -> str:
                return ""

        far = evolve(self.request("gemini").place, has_local_files=False, operations=Elsewhere())
        plan = self.registry.plan_launch(launch_request("gemini", far))
        self.assertEqual("/there/gemini", plan.argv[0])
        self.assertEqual("/home/there", plan.env["HOME"])
        self.assertNotIn("PATH", plan.env)

    def test_mode_that_runs_any_command_needs_the_grant(self) -> None:
        for mode in ("shell", "pi"):
            self.assertEqual(ErrorCode.FORBIDDEN, self.refusal(mode, granted=False).code)
            self.registry.plan_launch(self.request(mode))

    def test_running_session_needs_the_grant_of_its_start(self) -> None:
        """Nothing can be lowered any more (protocol-driving)."""
        check = self.registry.check_needs_no_grant
        check("primary", {"permissionMode": "auto", "gone": "x"}, {"MCP_TIMEOUT": "9"})
        for mode, params, overrides, named in (
            ("shell", {}, {}, "Shell"),
            ("primary", {"permissionMode": "bypassPermissions"}, {}, "params.permissionMode"),
            ("codex", {"sandbox": "danger-full-access"}, {}, "params.sandbox"),
            ("primary", {}, {"ANTHROPIC_BASE_URL": "x"}, "envOverrides.ANTHROPIC_BASE_URL"),
        ):
            error = self.assertRaises(ServiceError, check, mode, params, overrides)
            self.assertEqual(ErrorCode.FORBIDDEN, error.code)
            self.assertIn(named, error.message)
        error = self.assertRaises(ServiceError, check, "gone", {}, {})
        self.assertEqual(ErrorCode.INVALID_INPUT, error.code)

    def test_invalid_requests_name_their_field(self) -> None:
        for fields, field in (
            ({"params": {"model": "--x"}}, "params.model"),
            ({"resume": "-c"}, "resumeSessionId"),
            ({"overrides": {"PATH": "/x"}}, "envOverrides.PATH"),
        ):
            self.assertTrue(self.refusal("codex", **fields).message.startswith(f"{field}: "))

    def test_shell_of_the_user_is_run(self) -> None:
        fish = make_program(self.bin / "own", "fish")
        for shell, runs in (
            (str(fish), fish),
            (str(make_program(self.bin, "nologin")), self.bin / "bash"),
            ("fish", self.bin / "bash"),
            (str(self.bin / "zsh"), self.bin / "bash"),
        ):
            self.environ["SHELL"] = shell
            plan = self.make().plan_launch(self.request("shell"))
            self.assertEqual((str(runs), "-l"), plan.argv, shell)


class OsUserLaunchTests(SynchronousTestCase):
    """What an OS user's pane runs."""

    def setUp(self) -> None:
        folder = Path(self.mktemp()).absolute()
        self.world = OsUserWorld(folder)
        self.user = self.world.add("ann", 1001, str(folder / "home-ann/bin/zsh"))
        self.bin = folder / "bin"
        self.environ = {"PATH": str(self.bin), "HOME": "/root", "ANTHROPIC_API_KEY": "roots",
                        "HTTPS_PROXY": "p", "IS_SANDBOX": "0"}  # fmt: skip
        make_program(self.bin, "bash")
        make_program(self.bin, "claude")
        find = BinaryLookup(Clock(), self.environ, Path("/nowhere")).find_program
        self.root = build_own_location(Path("/d"), self.environ, Path("/root"), find, uid=0)
        places = build_local_locations(
            clock=Clock(), environ=self.environ, own=self.root, os_users=self.world
        )
        self.place = places.find_earlier_location(make_os_user_location("ann", 1001))

    def registry(self) -> CliRegistry:
        registry = CliRegistry(
            settings=FakeSettings(),
            lookup=BinaryLookup(Clock(), self.environ, Path("/nowhere")),
            environ=self.environ,
            pane_env=("HTTPS_PROXY",),
        )
        registry.replace_entries(merge_registry(load_stock_entries(), {}))
        return registry

    def test_environment_of_the_os_user_is_used(self) -> None:
        plan = self.registry().plan_launch(launch_request("primary", self.place))
        self.assertNotIn("ANTHROPIC_API_KEY", plan.env)
        self.assertEqual(
            ("ann", str(self.user.home), "p"),
            (plan.env["USER"], plan.env["HOME"], plan.env["HTTPS_PROXY"]),
        )
        self.assertEqual({"ann"}, set(self.world.acted))

    def test_program_is_found_on_the_path_of_the_os_user(self) -> None:
        own = make_program(self.user.home / ".local/bin", "codex")
        plan = self.registry().plan_launch(launch_request("codex", self.place))
        self.assertEqual(str(own), plan.argv[0])
        error = self.assertRaises(
            ServiceError, self.registry().plan_launch, launch_request("codex", self.root)
        )
        self.assertIn("is not installed", error.message)

    def test_shell_of_the_os_user_is_run(self) -> None:
        plan = self.registry().plan_launch(launch_request("shell", self.place))
        self.assertEqual(str(self.bin / "bash"), plan.argv[0])
        shell = make_program(self.user.home / "bin", "zsh")
        plan = self.registry().plan_launch(launch_request("shell", self.place))
        self.assertEqual(str(shell), plan.argv[0])

    def test_os_user_session_is_not_treated_as_root(self) -> None:
        """What root may not, an OS user may."""
        for place, mode in ((self.root, "default"), (self.place, "bypassPermissions")):
            plan = self.registry().plan_launch(launch_request("primary", place))
            self.assertEqual(mode, plan.params["permissionMode"])
