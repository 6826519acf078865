"""The command lines of the engines.  Pure: C{docker} and C{podman} are spoken to alike.

What is told to an engine stands on the command line, where every user of the machine can read it:
no secret and no variable's value of a session ever does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from tservice.containers.fence import HOME, LABEL, WORKSPACE, fence
from tservice.containers.model import Engine, Resources

JSON = "{{json .}}"
STAY = 'trap "exit 0" TERM INT; while :; do sleep 86400 & wait $!; done'
"""What a container does: nothing, until it is told to stop."""

STOP_SECONDS = 3
"""That what runs inside has between SIGTERM and SIGKILL."""


@frozen(kw_only=True)
class Mount:
    """A folder or file of this machine that is inside, too."""

    source: str
    target: str
    writable: bool = False


@frozen(kw_only=True)
class Box:
    """A container as it is to be made.

    @ivar user: the words of L{Tongue.user}.
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
    """How an engine is spoken to.

    @ivar program: its absolute path.
    """

    engine: Engine
    program: str
    context: str | None = None

    def command(self, *words: str) -> list[str]:
        """A command line; C{context} goes before its words."""
        if self.context is None:
            return [self.program, *words]
        option = "--context" if self.engine is Engine.DOCKER else "--connection"
        return [self.program, option, self.context, *words]

    def version(self) -> list[str]:
        """What it is, on both of its sides: answers only where the engine works."""
        return self.command("version", "--format", JSON)

    def info(self) -> list[str]:
        """How it runs."""
        return self.command("info", "--format", JSON)

    def build(self, tag: str, labels: Mapping[str, str], file: str, folder: str) -> list[str]:
        """Build an image."""
        return self.command(
            "build", "--tag", tag, *_labels(labels), "--file", file, "--force-rm", folder
        )

    def image(self, name: str) -> list[str]:
        """What is known of an image."""
        return self.command("image", "inspect", "--format", JSON, name)

    def user(self, uid: int, gid: int, *, rootless: bool) -> list[str]:
        """The words of C{create} by which what runs inside is that user and group outside.

        @param rootless: the engine runs without root.
        """
        if not rootless:
            # An engine may have been set up to give containers other numbers (userns-remap).
            return ["--userns", "host", "--user", f"{uid}:{gid}"]
        if self.engine is Engine.PODMAN:
            return ["--userns", "keep-id", "--user", f"{uid}:{gid}"]
        # To docker without root, the user as whom it runs is root inside.
        return ["--user", "0:0"]

    def create(self, box: Box) -> list[str]:
        """Make a container, which does not run yet."""
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
        """Have a container run."""
        return self.command("start", name)

    def remove(self, name: str) -> list[str]:
        """End a container and remove it; one that is not there is no error."""
        return self.command("rm", "--force", name)

    def inspect(self, names: Sequence[str]) -> list[str]:
        """What is known of containers, one JSON line each."""
        return self.command("container", "inspect", "--format", JSON, *names)

    def every(self, service: str) -> list[str]:
        """The names of this service's containers, one line each."""
        filters = ("--filter", f"label={LABEL}.service={service}")
        return self.command("ps", "--all", "--no-trunc", *filters, "--format", "{{.Names}}")

    def usage(self, name: str) -> list[str]:
        """What a container uses now."""
        return self.command("stats", "--no-stream", "--format", JSON, name)

    def events(self, service: str, since: int) -> list[str]:
        """What happens to this service's containers, one JSON line each, as it happens.

        @param since: Unix milliseconds; what happens before it is heard is told all the same.
        """
        filters = ("--filter", "type=container", "--filter", f"label={LABEL}.service={service}")
        return self.command("events", *filters, "--since", _seconds(since), "--format", JSON)

    def kills(self, name: str, since: int, until: int) -> list[str]:
        """Whoever had a container killed, one JSON line each.

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
        """Run something inside, with this process's pipes.

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
    # Not -v: a path with a colon would be another mount.
    readonly = "" if mount.writable else ",readonly"
    return (
        "--mount",
        f"type=bind,{_pair('source', mount.source)},{_pair('target', mount.target)}{readonly}",
    )


def _pair(key: str, path: str) -> str:
    """One field of what engines read as a line of comma separated values."""
    if not set(path) & set(',"\n'):
        return f"{key}={path}"
    doubled = path.replace('"', '""')
    return f'"{key}={doubled}"'
