"""Command lines of the engines; C{docker} and C{podman} accept the same commands.

Every user of the machine can read a command line.  It therefore never contains a secret, or the
value of a session's variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from tservice.containers.isolation import HOME, LABEL, WORKSPACE, isolation_arguments
from tservice.containers.model import EngineKind, ResourceLimits

JSON = "{{json .}}"
MAIN_SCRIPT = 'trap "exit 0" TERM INT; while :; do sleep 86400 & wait $!; done'
"""Shell script of a container's main process, which sleeps until it receives SIGTERM."""

STOP_SECONDS = 3
"""Seconds between SIGTERM and SIGKILL when a container is stopped."""


@frozen(kw_only=True)
class BindMount:
    """File or folder of this machine that is mounted in a container."""

    source: str
    target: str
    writable: bool = False


@frozen(kw_only=True)
class ContainerSpec:
    """Specification of a container to create.

    @ivar user: the arguments returned by L{EngineDialect.user_arguments}.
    """

    name: str
    image: str
    resources: ResourceLimits
    network: str
    user: Sequence[str]
    mounts: Sequence[BindMount]
    labels: Mapping[str, str]
    extra: Sequence[str] = ()


@frozen
class EngineDialect:
    """Builder of the command lines of one engine.

    @ivar program: absolute path of the engine's client.
    """

    engine: EngineKind
    program: str
    context: str | None = None

    def build_engine_command(self, *words: str) -> list[str]:
        """Return a command line of the engine with the arguments C{words}.

        If a context is set, the option C{--context} precedes them.
        """
        if self.context is None:
            return [self.program, *words]
        option = "--context" if self.engine is EngineKind.DOCKER else "--connection"
        return [self.program, option, self.context, *words]

    def version_command(self) -> list[str]:
        """Return the command that prints the versions of client and server.

        The command fails if the engine does not work.
        """
        return self.build_engine_command("version", "--format", JSON)

    def info_command(self) -> list[str]:
        """Return the command that prints the configuration of the engine (C{info})."""
        return self.build_engine_command("info", "--format", JSON)

    def build_command(
        self, tag: str, labels: Mapping[str, str], file: str, folder: str
    ) -> list[str]:
        """Return the command that builds an image.

        @param file: path of the Containerfile.
        @param folder: path of the build context.
        """
        return self.build_engine_command(
            "build", "--tag", tag, *_label_arguments(labels), "--file", file, "--force-rm", folder
        )

    def image_command(self, name: str) -> list[str]:
        """Return the command that prints the details of an image."""
        return self.build_engine_command("image", "inspect", "--format", JSON, name)

    def user_arguments(self, uid: int, gid: int, *, rootless: bool) -> list[str]:
        """Return arguments of C{create_command} that set the user of a container.

        On this machine, its processes then run as user C{uid} and group C{gid}.

        @param rootless: true if the engine runs without root.
        """
        if not rootless:
            # The engine may be configured to map users to other numbers (userns-remap).
            return ["--userns", "host", "--user", f"{uid}:{gid}"]
        if self.engine is EngineKind.PODMAN:
            return ["--userns", "keep-id", "--user", f"{uid}:{gid}"]
        # Docker without root maps its own user to root inside.
        return ["--user", "0:0"]

    def create_command(self, box: ContainerSpec) -> list[str]:
        """Return the command that creates a container without starting it."""
        return self.build_engine_command(
            "create",
            *("--name", box.name, "--hostname", box.name[:63]),
            *isolation_arguments(box.resources, box.network, box.user),
            *_label_arguments(box.labels),
            *("--env", f"HOME={HOME}", "--env", "IS_SANDBOX=1"),
            *("--workdir", WORKSPACE),
            *(word for mount in box.mounts for word in _mount_arguments(mount)),
            *("--stop-timeout", str(STOP_SECONDS)),
            *box.extra,
            *("--entrypoint", "/bin/sh"),
            box.image,
            *("-c", MAIN_SCRIPT),
        )

    def start_command(self, name: str) -> list[str]:
        """Return the command that starts a container."""
        return self.build_engine_command("start", name)

    def remove_command(self, name: str) -> list[str]:
        """Return the command that kills and removes a container.

        A missing container is no error.
        """
        return self.build_engine_command("rm", "--force", name)

    def inspect_command(self, names: Sequence[str]) -> list[str]:
        """Return the command that prints the details of containers, one line of JSON for each."""
        return self.build_engine_command("container", "inspect", "--format", JSON, *names)

    def list_command(self, service: str) -> list[str]:
        """Return the command that prints the names of this service's containers, one on each line.

        @param service: id of this service, which labels its containers.
        """
        filters = ("--filter", f"label={LABEL}.service={service}")
        return self.build_engine_command(
            "ps", "--all", "--no-trunc", *filters, "--format", "{{.Names}}"
        )

    def usage_command(self, name: str) -> list[str]:
        """Return the command that prints the current resource usage of a container."""
        return self.build_engine_command("stats", "--no-stream", "--format", JSON, name)

    def events_command(self, service: str, since: int) -> list[str]:
        """Return the command that prints events of this service's containers, one line of JSON for
        each.

        The command keeps running and prints new events as they happen.

        @param since: Unix milliseconds; earlier events from this time on are printed first.
        """
        filters = ("--filter", "type=container", "--filter", f"label={LABEL}.service={service}")
        return self.build_engine_command(
            "events", *filters, "--since", _format_timestamp(since), "--format", JSON
        )

    def kill_events_command(self, name: str, since: int, until: int) -> list[str]:
        """Return the command that prints past kill requests for a container, one JSON line for
        each.

        @param since: begin of the period, Unix milliseconds.
        @param until: end of the period, Unix milliseconds; in the past, so that the command ends.
        """
        filters = ("--filter", f"container={name}", "--filter", "event=kill")
        span = ("--since", _format_timestamp(since), "--until", _format_timestamp(until))
        return self.build_engine_command("events", *filters, *span, "--format", JSON)

    def exec_command(
        self,
        name: str,
        argv: Sequence[str],
        *,
        passed_variables: Iterable[str] = (),
        extra: Sequence[str] = (),
    ) -> list[str]:
        """Return the command that runs a program in a container, connected to this process's pipes.

        @param passed_variables: names of variables to pass on.  Their values are in the environment
            of the engine's command.
        @param extra: further options of C{exec}.
        """
        words = [word for each in passed_variables for word in ("--env", each)]
        return self.build_engine_command(
            "exec", "--interactive", "--workdir", "/", *extra, *words, name, *argv
        )


def _format_timestamp(moment: int) -> str:
    return f"{moment // 1000}.{moment % 1000:03}"


def _label_arguments(labels: Mapping[str, str]) -> list[str]:
    found = (("--label", f"{LABEL}.{name}={value}") for name, value in labels.items())
    return [word for pair in found for word in pair]


def _mount_arguments(mount: BindMount) -> tuple[str, str]:
    # Not -v, which splits a path at a colon.
    readonly = "" if mount.writable else ",readonly"
    return (
        "--mount",
        f"type=bind,{_quote_field('source', mount.source)},"
        f"{_quote_field('target', mount.target)}{readonly}",
    )


def _quote_field(key: str, path: str) -> str:
    """Return C{key=path} as one field of a comma-separated option, quoted for the engine."""
    if not set(path) & set(',"\n'):
        return f"{key}={path}"
    doubled = path.replace('"', '""')
    return f'"{key}={doubled}"'
