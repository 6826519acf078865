"""Command lines of the engines.  Pure: C{docker} and C{podman} take the same commands.

Every user of the machine can read a command line.  It therefore never holds a secret, or the value
of a session's variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from tservice.containers.fence import HOME, LABEL, WORKSPACE, fence
from tservice.containers.model import Engine, Resources

JSON = "{{json .}}"
STAY = 'trap "exit 0" TERM INT; while :; do sleep 86400 & wait $!; done'
"""Main process of a container: it waits until it is asked to stop."""

STOP_SECONDS = 3
"""Seconds between SIGTERM and SIGKILL for the processes inside."""


@frozen(kw_only=True)
class Mount:
    """File or folder of this machine that is mounted in a container."""

    source: str
    target: str
    writable: bool = False


@frozen(kw_only=True)
class Box:
    """Specification of a container to create.

    @ivar user: the arguments returned by L{Tongue.user}.
    """

    name: str
    image: str
    resources: Resources
    network: str
    user: Sequence[str]
    mounts: Sequence[Mount]
    labels: Mapping[str, str]
    extra: Sequence[str] = ()


@frozen
class Tongue:
    """Builder of one engine's command lines.

    @ivar program: absolute path of the engine's client.
    """

    engine: Engine
    program: str
    context: str | None = None

    def command(self, *words: str) -> list[str]:
        """Return a command line; the C{context} option precedes its arguments."""
        if self.context is None:
            return [self.program, *words]
        option = "--context" if self.engine is Engine.DOCKER else "--connection"
        return [self.program, option, self.context, *words]

    def version(self) -> list[str]:
        """Return the command that prints the versions of client and server; it fails unless the
        engine works.
        """
        return self.command("version", "--format", JSON)

    def info(self) -> list[str]:
        """Return the command that prints how the engine runs."""
        return self.command("info", "--format", JSON)

    def build(self, tag: str, labels: Mapping[str, str], file: str, folder: str) -> list[str]:
        """Return the command that builds an image."""
        return self.command(
            "build", "--tag", tag, *_labels(labels), "--file", file, "--force-rm", folder
        )

    def image(self, name: str) -> list[str]:
        """Return the command that prints the details of an image."""
        return self.command("image", "inspect", "--format", JSON, name)

    def user(self, uid: int, gid: int, *, rootless: bool) -> list[str]:
        """Return the arguments of C{create} that map the processes inside to that user and group
        outside.

        @param rootless: the engine runs without root.
        """
        if not rootless:
            # The engine may be configured to map users to other numbers (userns-remap).
            return ["--userns", "host", "--user", f"{uid}:{gid}"]
        if self.engine is Engine.PODMAN:
            return ["--userns", "keep-id", "--user", f"{uid}:{gid}"]
        # Docker without root maps its own user to root inside.
        return ["--user", "0:0"]

    def create(self, box: Box) -> list[str]:
        """Return the command that creates a container without starting it."""
        return self.command(
            "create",
            *("--name", box.name, "--hostname", box.name[:63]),
            *fence(box.resources, box.network, box.user),
            *_labels(box.labels),
            *("--env", f"HOME={HOME}", "--env", "IS_SANDBOX=1"),
            *("--workdir", WORKSPACE),
            *(word for mount in box.mounts for word in _mount(mount)),
            *("--stop-timeout", str(STOP_SECONDS)),
            *box.extra,
            *("--entrypoint", "/bin/sh"),
            box.image,
            *("-c", STAY),
        )

    def start(self, name: str) -> list[str]:
        """Return the command that starts a container."""
        return self.command("start", name)

    def remove(self, name: str) -> list[str]:
        """Return the command that kills and removes a container; a missing one is no error."""
        return self.command("rm", "--force", name)

    def inspect(self, names: Sequence[str]) -> list[str]:
        """Return the command that prints the details of containers, one JSON line each."""
        return self.command("container", "inspect", "--format", JSON, *names)

    def every(self, service: str) -> list[str]:
        """Return the command that prints the names of this service's containers, one a line."""
        filters = ("--filter", f"label={LABEL}.service={service}")
        return self.command("ps", "--all", "--no-trunc", *filters, "--format", "{{.Names}}")

    def usage(self, name: str) -> list[str]:
        """Return the command that prints the resources that a container uses now."""
        return self.command("stats", "--no-stream", "--format", JSON, name)

    def events(self, service: str, since: int) -> list[str]:
        """Return the command that prints events of this service's containers as they happen, one
        JSON line each.

        @param since: Unix milliseconds; events since then are printed as well.
        """
        filters = ("--filter", "type=container", "--filter", f"label={LABEL}.service={service}")
        return self.command("events", *filters, "--since", _seconds(since), "--format", JSON)

    def kills(self, name: str, since: int, until: int) -> list[str]:
        """Return the command that prints the kill requests for a container, one JSON line each.

        @param since: Unix milliseconds, as is C{until}, which is past.
        """
        filters = ("--filter", f"container={name}", "--filter", "event=kill")
        span = ("--since", _seconds(since), "--until", _seconds(until))
        return self.command("events", *filters, *span, "--format", JSON)

    def execute(
        self,
        name: str,
        argv: Sequence[str],
        *,
        carried: Iterable[str] = (),
        extra: Sequence[str] = (),
    ) -> list[str]:
        """Return the command that runs a program inside, with this process's pipes.

        @param carried: names of variables whose values are in the environment of this command.
        """
        words = [word for each in carried for word in ("--env", each)]
        return self.command("exec", "--interactive", "--workdir", "/", *extra, *words, name, *argv)


def _seconds(moment: int) -> str:
    return f"{moment // 1000}.{moment % 1000:03}"


def _labels(labels: Mapping[str, str]) -> list[str]:
    found = (("--label", f"{LABEL}.{name}={value}") for name, value in labels.items())
    return [word for pair in found for word in pair]


def _mount(mount: Mount) -> tuple[str, str]:
    # Not -v, which splits a path at a colon.
    readonly = "" if mount.writable else ",readonly"
    return (
        "--mount",
        f"type=bind,{_pair('source', mount.source)},{_pair('target', mount.target)}{readonly}",
    )


def _pair(key: str, path: str) -> str:
    """Return one field of a comma-separated line, quoted as the engines read it."""
    if not set(path) & set(',"\n'):
        return f"{key}={path}"
    doubled = path.replace('"', '""')
    return f'"{key}={doubled}"'
