"""What keeps a container from the machine, and what may not be added (protocol-containers)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.containers.isolation import (
    CREATE,
    EXEC,
    check_create_arguments,
    check_exec_arguments,
    isolation_arguments,
)
from tservice.containers.model import ResourceLimits, check_network, check_resources, parse_memory
from tservice.core.kernel.errors import ErrorCode, ServiceError

BREAKS = [
    "--privileged",
    "--privileged=true",
    "--cap-add=ALL",
    "--tmpfs=//workspace",
    "--volume v:///run/tservice",
    "--mount type=volume,source=v,target=//home/agent",
    "--cap-add SYS_ADMIN",
    "--cap-drop=NONE",
    "--pid=host",
    "--pid host",
    "--ipc=host",
    "--ipc host",
    "--uts=host",
    "--userns=host",
    "--userns host",
    "--uidmap 0:0:1",
    "--cgroupns=host",
    "--cgroup-parent /",
    "--security-opt seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
    "--device /dev/kmsg",
    "--device=/dev/mem",
    "--device-cgroup-rule=a",
    "--gpus all",
    "-v /:/host",
    "-v=/etc:/x",
    "--volume /:/host",
    "--volume=../x:/x",
    "-v name",
    "-v name:/workspace",
    "-v name:/home/agent/x",
    "-v name:/run",
    "-v name:/x/../proc",
    "-v name:/x:exec",
    "-v name:/",
    "--mount type=bind,source=/,target=/host",
    "--mount type=bind,src=/etc,dst=/x",
    "--mount=type=volume,source=/etc,target=/x",
    "--mount type=volume,source=a,target=/x,volume-opt=o=bind",
    "--mount type=volume,source=a,target=/x,volume-driver=local",
    "--mount source=a,target=/x",
    "--mount type=tmpfs,target=/workspace",
    "--volumes-from other",
    "--tmpfs /workspace",
    "--tmpfs /x:dev",
    "--network host",
    "--network=host",
    "--net=host",
    "--net host",
    "--network container:x",
    "--user 0:0",
    "-u 0",
    "--group-add docker",
    "--init=false",
    "--memory 0",
    "--memory=-1",
    "-m 0",
    "--memory-swap=-1",
    "--cpus 0",
    "--pids-limit -1",
    "--oom-kill-disable",
    "--oom-score-adj -1000",
    "--sysctl a=b",
    "--runtime /tmp/x",
    "--rootfs",
    "--hooks-dir /tmp",
    "--annotation run.oci.x=y",
    "--env-host",
    "--env SERVICE_PASSWORD",
    "-e A*",
    "--env-file /etc/shadow",
    "--label-file /etc/shadow",
    "--label tservice.service=x",
    "--cidfile /tmp/x",
    "--entrypoint /bin/x",
    "--name other",
    "--restart always",
    "--secret x",
    "--systemd always",
    "--read-only=false",
    "another-image",
    "--",
    "-it",
    "-vname:/x",
    "--env",
    "--env --privileged",
    "--publish --privileged",
]
"""Each is a line of words."""

TAKEN = [
    "--env A=b",
    "-e A=",
    "--env=A=b=c",
    "--label team=x",
    "-v cache:/var/cache/pip",
    "--volume=cache:/data:ro",
    "--mount type=volume,source=cache,target=/data,readonly",
    "--tmpfs /scratch:size=64m",
    "--add-host db:10.0.0.2",
    "--dns 10.0.0.1",
    "--publish 127.0.0.1:8080:8080",
    "-p 8080",
    "--shm-size=64m",
    "--ulimit nofile=1024:1024",
    "--hostname box",
    "--read-only --tmpfs /tmp",
]


class ContainerFenceTests(SynchronousTestCase):
    def refused(self, work: Callable[[], object]) -> str:
        error = self.assertRaises(ServiceError, work)
        self.assertIs(ErrorCode.INVALID_INPUT, error.code)
        return str(error.message)

    def test_fence_arguments_are_exact(self) -> None:
        words = isolation_arguments(ResourceLimits(), "bridge", ["--user", "1000:1000"])
        self.assertEqual(
            "--init --cap-drop ALL --security-opt no-new-privileges --memory 4g --memory-swap 4g "
            "--cpus 2 --pids-limit 512 --network bridge --user 1000:1000",
            " ".join(words),
        )

    def test_argument_that_weakens_the_fence_is_refused(self) -> None:
        for line in BREAKS:
            with self.subTest(line):
                said = self.refused(partial(check_create_arguments, line.split()))
                self.assertTrue(said.startswith("extraCreateArgs: "), said)

    def test_weakening_argument_after_an_allowed_one_is_refused(self) -> None:
        for line in BREAKS:
            self.refused(partial(check_create_arguments, ["--env", "A=b", *line.split()]))

    def test_argument_that_keeps_the_fence_is_accepted(self) -> None:
        for line in TAKEN:
            check_create_arguments(line.split())

    def test_container_exec_accepts_only_environment_options(self) -> None:
        check_exec_arguments(["-e", "A=b", "--env=C=d"])
        for word in (*CREATE.keys() - EXEC.keys(), "--privileged", "--user=0", "-u", "--tty"):
            said = self.refused(partial(check_exec_arguments, [word, "x:/x"]))
            self.assertTrue(said.startswith("extraExecArgs: "), said)

    @given(st.lists(st.text(max_size=20), max_size=4))
    def test_arbitrary_arguments_are_accepted_or_refused(self, words: Sequence[str]) -> None:
        try:
            check_create_arguments(words)
        except ServiceError as error:
            self.assertIs(ErrorCode.INVALID_INPUT, error.code)
            return
        self.assertTrue(not words or words[0].partition("=")[0] in CREATE)

    def test_host_and_foreign_networks_are_refused(self) -> None:
        for name in ("bridge", "none", "my-net"):
            check_network(name)
        for name in ("host", "Host", "container:x", "ns:/proc/1/ns/net", "", "-x", "a b"):
            self.assertIn("network: ", self.refused(partial(check_network, name)))

    def test_resource_limits_are_parsed_and_checked(self) -> None:
        self.assertEqual(4 << 30, parse_memory("4g"))
        self.assertEqual(64 << 20, parse_memory("64m"))
        for text in ("", "0", "-1", "1k", "4 g", "4G", "99999999t", "9" * 15 + "g", "٤g"):
            self.refused(partial(parse_memory, text))
        for bad in (
            ResourceLimits(cpus=0),
            ResourceLimits(cpus=float("nan")),
            ResourceLimits(pids=0),
        ):
            self.refused(partial(check_resources, bad))
