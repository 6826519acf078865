"""What engines are told, and what they answer (protocol-containers)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from twisted.internet.defer import Deferred
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.command_lines import BindMount, ContainerSpec, EngineDialect
from tservice.containers.command_runner import EngineCommandResult
from tservice.containers.engine import EngineClient as AskedEngine
from tservice.containers.engine import EngineError
from tservice.containers.engine_output import (
    ContainerEvent,
    ContainerSnapshot,
    ContainerState,
    ContainerUsage,
    parse_containers,
    parse_event,
    parse_image,
    parse_rootless,
    parse_usage,
    parse_version,
)
from tservice.containers.image_probe import MARK, SCRIPT, parse_contents
from tservice.containers.model import EngineKind, ResourceLimits, make_host_id

RECORDED = Path(__file__).with_name("recorded")
BOX = ContainerSpec(
    name="service-case-a",
    image="i:1",
    resources=ResourceLimits(memory="1g", cpus=0.5, pids=64),
    network="none",
    user=["--user", "1000:100"],
    mounts=[
        BindMount(source="/w s", target="/workspace", writable=True),
        BindMount(source="/l", target="/lib"),
    ],
    labels={"service": "s", "case": "a"},
    extra=("--env", "A=b"),
)
CREATE = """create
--name service-case-a --hostname service-case-a
--init --cap-drop ALL --security-opt no-new-privileges
--memory 1g --memory-swap 1g --cpus 0.5 --pids-limit 64 --network none
--user 1000:100
--label tservice.service=s --label tservice.case=a
--env HOME=/home/agent --env IS_SANDBOX=1 --workdir /workspace
--mount type=bind,source=/w_s,target=/workspace --mount type=bind,source=/l,target=/lib,readonly
--stop-timeout 3 --env A=b --entrypoint /bin/sh i:1 -c STAY"""


def recorded(name: str) -> str:
    return (RECORDED / name).read_text("utf-8")


class TongueTests(SynchronousTestCase):
    docker = EngineDialect(EngineKind.DOCKER, "/usr/bin/docker", "far")
    podman = EngineDialect(EngineKind.PODMAN, "/usr/bin/podman")

    def test_create_command_holds_the_fence_before_the_image(self) -> None:
        """The fence is whole, what is added comes before the image, and nothing behind it."""
        words = self.podman.create_command(BOX)
        told = [word.replace("/w s", "/w_s") for word in words[1:-1]]
        self.assertEqual(CREATE.split(), [*told, "STAY"])

    def test_engine_context_is_the_first_argument(self) -> None:
        self.assertEqual(
            ["/usr/bin/docker", "--context", "far", "start", "c"], self.docker.start_command("c")
        )
        far = EngineDialect(EngineKind.PODMAN, "/p", "far")
        self.assertEqual(["/p", "--connection", "far", "start", "c"], far.start_command("c"))

    def test_user_inside_the_container_matches_the_workspace_owner(self) -> None:
        """The number that stands outside for whom the workspace belongs to."""
        for tongue, rootless, words in (
            (self.podman, False, "--userns host --user 1000:100"),
            (self.podman, True, "--userns keep-id --user 1000:100"),
            (self.docker, False, "--userns host --user 1000:100"),
            (self.docker, True, "--user 0:0"),
        ):
            self.assertEqual(words.split(), tongue.user_arguments(1000, 100, rootless=rootless))

    def test_values_of_variables_are_not_on_the_command_line(self) -> None:
        words = self.podman.exec_command(
            "c", ["tmux", "-V"], passed_variables=["SECRET"], extra=["-e", "A=b"]
        )
        self.assertEqual(
            "exec --interactive --workdir / -e A=b --env SECRET c tmux -V", " ".join(words[1:])
        )

    def test_docker_and_podman_get_the_same_commands(self) -> None:
        docker = EngineDialect(EngineKind.DOCKER, "/usr/bin/podman")
        for ask in (
            lambda it: it.create_command(BOX),
            lambda it: it.inspect_command(["a"]),
            lambda it: it.events_command("s", 1),
            lambda it: it.build_command("t", {"a": "b"}, "/f", "/d"),
            lambda it: it.usage_command("c"),
            lambda it: it.list_command("s"),
            lambda it: it.image_command("i"),
            lambda it: it.remove_command("c"),
        ):
            self.assertEqual(ask(self.podman), ask(docker))

    def test_engine_events_are_requested_since_a_moment(self) -> None:
        words = self.podman.events_command("s", 1748773231007)
        self.assertEqual("1748773231.007", words[words.index("--since") + 1])

    def test_host_ids_are_made_from_labels(self) -> None:
        self.assertEqual("my-box", make_host_id(" My Box!", ()))
        self.assertEqual("my-box-3", make_host_id("my box", ("my-box", "my-box-2")))
        self.assertEqual("buro", make_host_id("B\u00fcro", ()))
        self.assertEqual("host-2", make_host_id("\u6784\u5efa\u673a", ("host",)))


class EngineAnswerTests(SynchronousTestCase):
    def test_engine_version_is_read(self) -> None:
        self.assertEqual("4.3.1", parse_version(EngineKind.PODMAN, recorded("podman-version.json")))
        self.assertEqual(
            "20.10.24+dfsg1", parse_version(EngineKind.DOCKER, recorded("docker-version.json"))
        )
        # The client alone answers where the daemon does not run.
        alone = json.dumps({"Client": {"Version": "28.2.2"}, "Server": None})
        self.assertIsNone(parse_version(EngineKind.DOCKER, alone))
        for text in ("", "[]", "{}", "no json"):
            self.assertIsNone(parse_version(EngineKind.PODMAN, text))

    def test_containers_are_read_from_both_engines(self) -> None:
        """Podman lays its answer out over lines and in a list, docker does neither."""
        for engine in ("podman", "docker"):
            (seen,) = parse_containers(recorded(f"{engine}-inspect.json"))
            self.assertEqual("service-case-boxed", seen.name)
            self.assertIs(ContainerState.RUNNING, seen.state)
            self.assertGreater(seen.pid, 1)
            self.assertEqual({"service": "s", "owner": "", "case": "boxed"}, dict(seen.labels))
            self.assertEqual("localhost/sessions:1", seen.image)
            self.assertGreater(seen.created or 0, 1_700_000_000_000)
            self.assertEqual((0, False), (seen.exit_code, seen.oom))

    def test_gateway_of_a_running_container_is_read(self) -> None:
        """While a bridge is new, docker tells of it nowhere else."""

        def gateway(networks: object) -> str | None:
            settings = {"Gateway": "", "Networks": networks}
            (seen,) = parse_containers(json.dumps({"State": {}, "NetworkSettings": settings}))
            return seen.gateway

        for name in ("bridge", "podman"):
            self.assertEqual("172.17.0.1", gateway({name: {"Gateway": "172.17.0.1"}}))
        odd: tuple[object, ...] = (None, [], {}, {"a": 1}, {"a": {"Gateway": "x"}})
        for nothing in (*odd, {"none": {"Gateway": ""}}):
            self.assertIsNone(gateway(nothing), nothing)

    def test_stopped_container_was_not_ended_by_memory(self) -> None:
        """Docker tells of what the memory's limit ended before until the container starts again."""
        for status, exit_code, oom in (
            ("exited", 0, False),
            ("exited", 143, False),
            ("exited", 137, True),
            ("exited", 1, True),
            ("running", 0, True),
        ):
            state = {"Status": status, "ExitCode": exit_code, "OOMKilled": True}
            (seen,) = parse_containers(json.dumps({"State": state}))
            self.assertEqual(oom, seen.oom, (status, exit_code))

    def test_warnings_between_engine_answers_are_skipped(self) -> None:
        text = 'WARN[0000] {odd}\n{"State": {"Status": "exited", "ExitCode": 137}, "Name": "/a"}\n'
        (seen,) = parse_containers(text)
        self.assertEqual(("a", ContainerState.EXITED, 137), (seen.name, seen.state, seen.exit_code))

    def test_resource_usage_is_read(self) -> None:
        self.assertEqual(
            ContainerUsage(memory=1_425_000, cpu=5.84, pids=3),
            parse_usage(recorded("podman-stats.json")),
        )
        self.assertEqual(
            ContainerUsage(memory=int(1.527 * 2**20), cpu=0.0, pids=3),
            parse_usage(recorded("docker-stats.json")),
        )
        self.assertEqual(
            ContainerUsage(memory=None, cpu=None, pids=None), parse_usage('{"MemUsage": "-- / --"}')
        )
        self.assertIsNone(parse_usage(""))

    def test_events_are_read_from_both_engines(self) -> None:
        for engine, more in (("podman", ()), ("docker", ("oom", "destroy"))):
            told = [parse_event(line) for line in recorded(f"{engine}-events.json").splitlines()]
            actions = {each.action for each in told if each is not None}
            self.assertEqual({"start", "pause", "unpause", "kill", "die", *more}, actions)
            self.assertEqual({"service-case-boxed"}, {each.name for each in told if each})
        self.assertEqual(
            ContainerEvent(name="c", action="exec_create"),
            parse_event('{"Action": "exec_create: sh", "Actor": {"Attributes": {"name": "c"}}}'),
        )
        for line in ("", "{}", '{"Name": 3}', '{"Name": "' + "x" * 10):
            self.assertIsNone(parse_event(line))

    def test_image_id_and_labels_are_read(self) -> None:
        self.assertEqual(
            ("sha256:1", {"containerfile": "d"}),
            parse_image(
                '{"Id": "sha256:1", "Config": {"Labels": {"tservice.containerfile": "d"}}}'
            ),
        )
        self.assertEqual(("1", {}), parse_image('{"Id": "1", "Config": {"Labels": null}}'))
        self.assertIsNone(parse_image("[]"))

    def test_rootless_engine_is_recognized(self) -> None:
        self.assertTrue(parse_rootless('{"host": {"security": {"rootless": true}}}'))
        self.assertFalse(parse_rootless('{"host": {"security": {"rootless": false}}}'))
        self.assertTrue(parse_rootless('{"SecurityOptions": ["name=seccomp", "name=rootless"]}'))
        self.assertFalse(parse_rootless('{"SecurityOptions": null}'))
        profile = '{"SecurityOptions": ["name=seccomp,profile=/home/rootless/seccomp.json"]}'
        self.assertFalse(parse_rootless(profile))


class MissingContainerTests(SynchronousTestCase):
    """An engine that does not answer is not one that knows of no such container."""

    def look(self, said: str) -> Deferred[dict[str, ContainerSnapshot]]:
        class Runs:
            async def run(self, argv: object, *, seconds: float = 0) -> EngineCommandResult:
                return EngineCommandResult(status=1, output="", error_text=said)

        engine = AskedEngine(EngineDialect(EngineKind.DOCKER, "/usr/bin/docker"), Runs())
        return Deferred.fromCoroutine(engine.inspect_containers(["a"]))

    def test_missing_container_is_no_error(self) -> None:
        for said in (
            "Error: No such container: a",
            "Error response from daemon: No such container: a",
            'Error: no container with name or ID "a" found: no such container',
        ):
            self.assertEqual({}, self.successResultOf(self.look(said)), said)

    def test_unreachable_engine_is_an_error(self) -> None:
        for said in (
            "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?",
            "failed to connect to the docker API at unix:///x; check if the path is correct and if "
            "the daemon is running: dial unix /x: connect: no such file or directory",
            'context "odd": context not found: open /x/meta.json: no such file or directory',
            "error during connect: Get http://far/v1.24: dial tcp: lookup far: no such host",
        ):
            refused = self.failureResultOf(self.look(said), EngineError)
            self.assertIn(said, str(refused.value))


class KilledContainerTests(SynchronousTestCase):
    """Docker says of a container that is killed what the memory's limit ended in it before."""

    def look(self, kills: str, **state: object) -> bool:
        told = {"Status": "exited", "ExitCode": 137, "OOMKilled": True, **state}
        asked: list[list[str]] = []

        class Runs:
            async def run(self, argv: Sequence[str], *, seconds: float = 0) -> EngineCommandResult:
                asked.append([*argv[1:]])
                if argv[1] == "events":
                    return EngineCommandResult(status=0, output=kills, error_text="")
                return EngineCommandResult(
                    status=0, output=json.dumps({"Name": "/a", "State": told}), error_text=""
                )

        engine = AskedEngine(EngineDialect(EngineKind.DOCKER, "/usr/bin/docker"), Runs())
        found = self.successResultOf(Deferred.fromCoroutine(engine.inspect_containers(["a"])))
        if len(asked) > 1:
            words = asked[1]
            span = [words[words.index(each) + 1] for each in ("--since", "--until")]
            self.assertEqual(["1748773221.000", "1748773232.000"], span)
        return found["a"].oom

    def test_killed_container_is_distinguished_from_memory_kill(self) -> None:
        at = {"FinishedAt": "2025-06-01T10:20:31Z"}
        kill = '{"Action": "kill", "Actor": {"Attributes": {"name": "a", "signal": "9"}}}\n'
        self.assertFalse(self.look(kill, **at))
        self.assertTrue(self.look("", **at))
        self.assertTrue(self.look(kill), "nobody can tell when it ended")
        self.assertTrue(self.look(kill, **at, Status="running"))


class ContainerProbeTests(SynchronousTestCase):
    def test_probe_lists_the_programs_inside(self) -> None:
        found = parse_contents(
            f"{MARK}PATH=/bin:/usr/bin\nTMUX=tmux 3.3a\n/bin/sh\n/usr/bin/sh\n/usr/bin/x\n"
        )
        self.assertEqual(("/bin:/usr/bin", None), (found.path, found.unusable_reason))
        self.assertEqual({"sh": "/bin/sh", "x": "/usr/bin/x"}, dict(found.programs))
        self.assertIn("/usr/bin/sh", found.paths)
        self.assertEqual((), found.warnings)

    def test_unreadable_credential_in_the_container_is_a_warning(self) -> None:
        path = "/home/agent/.codex/auth.json"
        printed = f"{MARK}PATH=/bin\nTMUX=tmux 3.3a\nCLOSED={path}\n/bin/sh\n"
        (warning,) = parse_contents(printed).warnings
        self.assertIn(f"{path}, the agent's credentials, cannot be read", warning)

    def test_output_before_the_probe_answer_is_skipped(self) -> None:
        noise = "Welcome!\nPATH=/wrong\nTMUX=tmux 1.8\n/wrong/x\nno line end: "
        found = parse_contents(f"{noise}{MARK}PATH=/bin\nTMUX=tmux 3.3a\n/bin/sh\n")
        self.assertEqual(("/bin", None), (found.path, found.unusable_reason))
        self.assertEqual({"sh": "/bin/sh"}, dict(found.programs))

    def test_probe_finds_programs_of_version_managers(self) -> None:
        """Through a real shell, whose own C{PATH} names none of them; the newest comes first."""
        home = Path(self.mktemp()).absolute() / "it's * home"
        versions = home / ".nvm/versions/node"
        for folder in (versions / "v9.1.0/bin", versions / "v22.10.0/bin", home / ".bun/bin"):
            folder.mkdir(parents=True)
            for name in ("claude", f"own-{folder.parent.name}"):
                (folder / name).write_text("#!/bin/sh\n")
                (folder / name).chmod(0o755)
        path = "/usr/local/bin:/usr/bin:/bin"
        env = {"HOME": str(home), "PATH": path}
        told = subprocess.run(
            ["/bin/sh", "-c", f"echo noise; {SCRIPT}"], env=env, check=True, capture_output=True
        )
        found = parse_contents(told.stdout.decode())
        folders = [versions / "v22.10.0/bin", versions / "v9.1.0/bin", home / ".bun/bin"]
        mine = [folder for folder in found.path.split(":") if folder.startswith(str(home))]
        self.assertEqual([str(folder) for folder in folders], mine)
        self.assertTrue(found.path.startswith(path))
        self.assertEqual(str(folders[0] / "claude"), found.programs["claude"])
        self.assertEqual(str(folders[2] / "own-.bun"), found.programs["own-.bun"])

    def test_missing_or_old_tmux_in_the_container_is_a_fault(self) -> None:
        self.assertIn("has no tmux", str(parse_contents(f"{MARK}PATH=/bin\n").unusable_reason))
        self.assertIn("tmux 3.1c", str(parse_contents(f"{MARK}TMUX=tmux 3.1c\n").unusable_reason))
        for good in ("3.2", "3.5a", "next-3.6", "4.0"):
            self.assertIsNone(parse_contents(f"{MARK}TMUX=tmux {good}\n").unusable_reason, good)
