"""What engines are told, and what they answer (protocol-containers)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.answers import (
    Happening,
    State,
    Usage,
    read_happening,
    read_image,
    read_rootless,
    read_seen,
    read_usage,
    read_version,
)
from tservice.containers.argv import Box, Mount, Owner, Tongue
from tservice.containers.model import Engine, Resources, id_from
from tservice.containers.probe import MARK, SCRIPT, read_inside

RECORDED = Path(__file__).with_name("recorded")
BOX = Box(
    name="service-case-a",
    image="i:1",
    resources=Resources(memory="1g", cpus=0.5, pids=64),
    network="none",
    owner=Owner(uid=1000, gid=100, kept=True),
    mounts=[
        Mount(source="/w s", target="/workspace", writable=True),
        Mount(source="/l", target="/lib"),
    ],
    labels={"service": "s", "case": "a"},
    extra=("--env", "A=b"),
)
CREATE = """create
--name service-case-a --hostname service-case-a
--init --cap-drop ALL --security-opt no-new-privileges
--memory 1g --memory-swap 1g --cpus 0.5 --pids-limit 64 --network none
--userns keep-id --user 1000:100
--label tservice.service=s --label tservice.case=a
--env HOME=/home/agent --env IS_SANDBOX=1 --workdir /workspace
--mount type=bind,source=/w_s,target=/workspace --mount type=bind,source=/l,target=/lib,readonly
--stop-timeout 3 --env A=b --entrypoint /bin/sh i:1 -c STAY"""


def recorded(name: str) -> str:
    return (RECORDED / name).read_text("utf-8")


class TongueTests(SynchronousTestCase):
    docker = Tongue(Engine.DOCKER, "/usr/bin/docker", "far")
    podman = Tongue(Engine.PODMAN, "/usr/bin/podman")

    def test_create(self) -> None:
        """The fence is whole, what is added comes before the image, and nothing behind it."""
        words = self.podman.create(BOX)
        told = [word.replace("/w s", "/w_s") for word in words[1:-1]]
        self.assertEqual(CREATE.split(), [*told, "STAY"])

    def test_a_context_is_said_first(self) -> None:
        self.assertEqual(
            ["/usr/bin/docker", "--context", "far", "start", "c"], self.docker.start("c")
        )
        far = Tongue(Engine.PODMAN, "/p", "far")
        self.assertEqual(["/p", "--connection", "far", "start", "c"], far.start("c"))

    def test_values_stand_on_no_command_line(self) -> None:
        words = self.podman.execute("c", ["tmux", "-V"], carried=["SECRET"], extra=["-e", "A=b"])
        self.assertEqual(
            "exec --interactive --workdir / -e A=b --env SECRET c tmux -V", " ".join(words[1:])
        )

    def test_both_are_spoken_to_alike(self) -> None:
        docker = Tongue(Engine.DOCKER, "/usr/bin/podman")
        for ask in (
            lambda it: it.create(BOX),
            lambda it: it.inspect(["a"]),
            lambda it: it.events("s", 1),
            lambda it: it.build("t", {"a": "b"}, "/f", "/d"),
            lambda it: it.usage("c"),
            lambda it: it.every("s"),
            lambda it: it.image("i"),
            lambda it: it.remove("c"),
        ):
            self.assertEqual(ask(self.podman), ask(docker))

    def test_events_begin_at_a_moment(self) -> None:
        words = self.podman.events("s", 1748773231007)
        self.assertEqual("1748773231.007", words[words.index("--since") + 1])

    def test_ids_are_made_of_labels(self) -> None:
        self.assertEqual("my-box", id_from(" My Box!", ()))
        self.assertEqual("my-box-3", id_from("my box", ("my-box", "my-box-2")))
        self.assertEqual("buro", id_from("B\u00fcro", ()))
        self.assertEqual("host-2", id_from("\u6784\u5efa\u673a", ("host",)))


class AnswerTests(SynchronousTestCase):
    def test_versions(self) -> None:
        self.assertEqual("4.3.1", read_version(Engine.PODMAN, recorded("podman-version.json")))
        self.assertEqual(
            "20.10.24+dfsg1", read_version(Engine.DOCKER, recorded("docker-version.json"))
        )
        # The client alone answers where the daemon does not run.
        alone = json.dumps({"Client": {"Version": "28.2.2"}, "Server": None})
        self.assertIsNone(read_version(Engine.DOCKER, alone))
        for text in ("", "[]", "{}", "no json"):
            self.assertIsNone(read_version(Engine.PODMAN, text))

    def test_containers(self) -> None:
        """Podman lays its answer out over lines and in a list, docker does neither."""
        for engine in ("podman", "docker"):
            (seen,) = read_seen(recorded(f"{engine}-inspect.json"))
            self.assertEqual("service-case-boxed", seen.name)
            self.assertIs(State.RUNNING, seen.state)
            self.assertGreater(seen.pid, 1)
            self.assertEqual({"service": "s", "owner": "", "case": "boxed"}, dict(seen.labels))
            self.assertEqual("localhost/sessions:1", seen.image)
            self.assertGreater(seen.created or 0, 1_700_000_000_000)
            self.assertEqual((0, False), (seen.exit_code, seen.oom))

    def test_warnings_between_answers_are_passed_over(self) -> None:
        text = 'WARN[0000] {odd}\n{"State": {"Status": "exited", "ExitCode": 137}, "Name": "/a"}\n'
        (seen,) = read_seen(text)
        self.assertEqual(("a", State.EXITED, 137), (seen.name, seen.state, seen.exit_code))

    def test_usage(self) -> None:
        self.assertEqual(
            Usage(memory=1_425_000, cpu=5.84, pids=3), read_usage(recorded("podman-stats.json"))
        )
        self.assertEqual(
            Usage(memory=int(1.527 * 2**20), cpu=0.0, pids=3),
            read_usage(recorded("docker-stats.json")),
        )
        self.assertEqual(
            Usage(memory=None, cpu=None, pids=None), read_usage('{"MemUsage": "-- / --"}')
        )
        self.assertIsNone(read_usage(""))

    def test_events(self) -> None:
        for engine, more in (("podman", ()), ("docker", ("oom", "destroy"))):
            told = [read_happening(line) for line in recorded(f"{engine}-events.json").splitlines()]
            actions = {each.action for each in told if each is not None}
            self.assertEqual({"start", "pause", "unpause", "kill", "die", *more}, actions)
            self.assertEqual({"service-case-boxed"}, {each.name for each in told if each})
        self.assertEqual(
            Happening(name="c", action="exec_create"),
            read_happening('{"Action": "exec_create: sh", "Actor": {"Attributes": {"name": "c"}}}'),
        )
        for line in ("", "{}", '{"Name": 3}', '{"Name": "' + "x" * 10):
            self.assertIsNone(read_happening(line))

    def test_images(self) -> None:
        self.assertEqual(
            ("sha256:1", {"containerfile": "d"}),
            read_image('{"Id": "sha256:1", "Config": {"Labels": {"tservice.containerfile": "d"}}}'),
        )
        self.assertEqual(("1", {}), read_image('{"Id": "1", "Config": {"Labels": null}}'))
        self.assertIsNone(read_image("[]"))

    def test_who_runs_without_root(self) -> None:
        self.assertTrue(read_rootless('{"host": {"security": {"rootless": true}}}'))
        self.assertFalse(read_rootless('{"host": {"security": {"rootless": false}}}'))
        self.assertTrue(read_rootless('{"SecurityOptions": ["name=seccomp", "name=rootless"]}'))
        self.assertFalse(read_rootless('{"SecurityOptions": null}'))


class ProbeTests(SynchronousTestCase):
    def test_what_is_inside(self) -> None:
        found = read_inside(
            f"{MARK}PATH=/bin:/usr/bin\nTMUX=tmux 3.3a\n/bin/sh\n/usr/bin/sh\n/usr/bin/x\n"
        )
        self.assertEqual(("/bin:/usr/bin", None), (found.path, found.fault))
        self.assertEqual({"sh": "/bin/sh", "x": "/usr/bin/x"}, dict(found.programs))
        self.assertIn("/usr/bin/sh", found.paths)

    def test_noise_before_the_answer_is_skipped(self) -> None:
        noise = "Welcome!\nPATH=/wrong\nTMUX=tmux 1.8\n/wrong/x\nno line end: "
        found = read_inside(f"{noise}{MARK}PATH=/bin\nTMUX=tmux 3.3a\n/bin/sh\n")
        self.assertEqual(("/bin", None), (found.path, found.fault))
        self.assertEqual({"sh": "/bin/sh"}, dict(found.programs))

    def test_programs_of_version_managers_are_found(self) -> None:
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
        found = read_inside(told.stdout.decode())
        folders = [versions / "v22.10.0/bin", versions / "v9.1.0/bin", home / ".bun/bin"]
        mine = [folder for folder in found.path.split(":") if folder.startswith(str(home))]
        self.assertEqual([str(folder) for folder in folders], mine)
        self.assertTrue(found.path.startswith(path))
        self.assertEqual(str(folders[0] / "claude"), found.programs["claude"])
        self.assertEqual(str(folders[2] / "own-.bun"), found.programs["own-.bun"])

    def test_what_is_missing(self) -> None:
        self.assertIn("has no tmux", str(read_inside(f"{MARK}PATH=/bin\n").fault))
        self.assertIn("tmux 3.1c", str(read_inside(f"{MARK}TMUX=tmux 3.1c\n").fault))
        for good in ("3.2", "3.5a", "next-3.6", "4.0"):
            self.assertIsNone(read_inside(f"{MARK}TMUX=tmux {good}\n").fault, good)
