"""Keys, starts and memory of sessions by ssh and in a container, beside those of this machine and
beside what the ways there take by themselves: C{cat} at their other end.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from attrs import Factory, define

from bench.client import echo_times, run_line, wait_output
from bench.containertold import told_rows
from bench.delay import Delay
from bench.footprint import family, proportional
from bench.report import Row, percentile
from tests.integration.containers.engines import PodmanEngine, engine_obstacle
from tests.integration.harness import DaemonHarness
from tests.sshd import SshServer, find_children
from tservice.containers.model import EngineKind

ROUNDS, KEYS = 5, 60
"""Every place has its turn in each round: a busy moment is everybody's."""
ADDED = 1.0
"""Milliseconds that a key elsewhere may take beyond one here and the bare way."""
STARTS, IDLE = 8, 10
"""Sessions that are started one by one, and that are there at a time while memory is measured."""

TRIP = 0.05
"""Seconds to a host that is away, and back."""

IMAGE = "localhost/sessions:1"


@define(kw_only=True)
class Somewhere:
    """Where sessions are measured.

    @ivar fields: of a session there.
    @ivar cat: runs C{cat} there by the same way.
    @ivar far: the processes there.
    @ivar podman: runs a command of the engine there.
    @ivar keys: milliseconds from a key to its echo.
    @ivar floor: of a byte to C{cat} and back.
    """

    name: str
    fields: dict[str, str] = Factory(dict)
    cat: Sequence[str] = ("cat",)
    env: Mapping[str, str] = os.environ
    far: Callable[[], list[int]] = list
    podman: Callable[..., str] | None = None
    keys: list[float] = Factory(list)
    floor: list[float] = Factory(list)

    def measure_keys(self, daemon: DaemonHarness) -> None:
        """Of all places in turn."""
        session = self.session(daemon)
        try:
            run_line(daemon, session, "printf 'mark%s' er; cat")
            wait_output(daemon, session, "marker", "buffer")
            self.keys += [seconds * 1000 for seconds in echo_times(daemon, session, KEYS)]
        finally:
            daemon.request("DELETE", f"/api/sessions/{session}").data()
        self.floor += [seconds * 1000 for seconds in round_trips(self.cat, self.env, KEYS)]

    def session(self, daemon: DaemonHarness) -> str:
        """Start a shell there; its id."""
        place = self.fields or {"workingDir": str(daemon.home)}
        body = {"mode": "shell", "start": True, **place}
        return str(ask(daemon, "/api/sessions", body)["session"]["id"])

    def start(self, daemon: DaemonHarness) -> float:
        """Milliseconds from asking for a session to the first byte of its prompt."""
        began = time.perf_counter()
        session = self.session(daemon)
        path = f"/api/sessions/{session}"
        while not daemon.request("GET", f"{path}/terminal").data()["terminalBuffer"].strip():
            time.sleep(0.001)
        taken = (time.perf_counter() - began) * 1000
        daemon.request("DELETE", path).data()
        return taken

    def told(self, daemon: DaemonHarness) -> Iterator[Row]:
        """How soon it is told what befalls the container."""
        assert self.podman is not None
        session = self.session(daemon)
        yield from told_rows(daemon, session, self.podman)
        daemon.request("DELETE", f"/api/sessions/{session}").data()

    def memory(self, daemon: DaemonHarness) -> tuple[float, float]:
        """Megabytes of one idle session: here, and there with its shell."""
        before = proportional(family(daemon.pid)), proportional(self.far())
        made = [self.session(daemon) for _ in range(IDLE)]
        time.sleep(3)
        after = proportional(family(daemon.pid)), proportional(self.far())
        for session in made:
            daemon.request("DELETE", f"/api/sessions/{session}").data()
        return (after[0] - before[0]) / IDLE, (after[1] - before[1]) / IDLE


def round_trips(argv: Sequence[str], env: Mapping[str, str], count: int) -> list[float]:
    """Seconds of one byte to a C{cat} and back."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        near, far = child.stdin.fileno(), child.stdout.fileno()
        times = []
        os.write(near, b"a")
        os.read(far, 1)
        for _ in range(count):
            time.sleep(0.02)
            began = time.perf_counter()
            os.write(near, b"a")
            os.read(far, 1)
            times.append(time.perf_counter() - began)
        child.stdin.close()
    return times


@contextmanager
def by_ssh(daemon: DaemonHarness, name: str = "ssh", delay: float = 0.0) -> Iterator[Somewhere]:
    """An sshd on loopback, and a case there.

    @param delay: seconds of a byte's way there, and of one's way back.
    """
    with ExitStack() as held:
        sshd = SshServer(daemon.folder / f"at-{name}")
        held.callback(sshd.close)
        if delay:
            relay = held.enter_context(closing(Delay(sshd.port, delay)))
            sshd.port = relay.port
            sshd.trust()
        body = {"label": name, "host": "127.0.0.1", "username": os.environ.get("USER", "root"),
                "port": sshd.port, "identityFile": str(sshd.key)}  # fmt: skip
        ask(daemon, "/api/remote-hosts", body)
        path = f"/api/remote-hosts/{name}"
        shown = ask(daemon, f"{path}/check")["fingerprint"]
        ask(daemon, f"{path}/trust", {"fingerprint": shown})
        case = {"name": name, "hostId": name, "remotePath": str(sshd.home)}
        ask(daemon, "/api/cases/remote-link", case)
        words = sshd.ssh(sshd.folder / "floor")
        held.callback(
            subprocess.run,
            [*words[:-1], "-O", "exit", words[-1]],
            check=False,
            capture_output=True,
        )

        def far() -> list[int]:
            wanted = f"TMUX_TMPDIR={sshd.sockets}".encode()
            return [*with_variable(wanted), *sshd.connections(), *grandchildren(sshd)]

        yield Somewhere(
            name=name,
            fields={"caseName": name},
            cat=[*words, "cat"],
            far=far,
        )


@contextmanager
def in_a_container(daemon: DaemonHarness) -> Iterator[Somewhere]:
    """A podman, and a case in a container of it; the daemon is started anew."""
    podman = PodmanEngine()
    try:
        podman.image(IMAGE)
        engine = {k: v for k, v in podman.environ.items() if k.startswith("CONTAINERS")}
        daemon.environment |= engine
        daemon.restart()
        host = {"label": "Box", "engine": "podman", "image": IMAGE, "network": "none"}
        ask(daemon, "/api/container-hosts", host)
        (daemon.folder / "box").mkdir()
        case = {"name": "box", "hostId": "box", "workspacePath": str(daemon.folder / "box")}
        ask(daemon, "/api/cases/container-link", case)
        name = "service-case-box"
        inner = podman.run("inspect", "--format", "{{.Id}}", name).encode()

        def far() -> list[int]:
            listed = podman.run("top", name, "hpid").split()[1:]
            return [*map(int, listed), *with_word(inner)]

        cat = [str(PodmanEngine.program()), "exec", "--interactive", name, "cat"]
        yield Somewhere(
            name="container", fields={"caseName": "box"}, cat=cat, env=podman.environ, far=far,
            podman=podman.run,
        )  # fmt: skip
        daemon.request("DELETE", "/api/cases/box").data()
    finally:
        podman.close()


def ask(daemon: DaemonHarness, path: str, body: Any = None) -> Any:
    """What a POST answers."""
    return daemon.request("POST", path, body).data()


def with_variable(wanted: bytes) -> list[int]:
    """The processes that have C{wanted} in their environment."""
    return _matching("environ", wanted)


def with_word(wanted: bytes) -> list[int]:
    """The processes that have C{wanted} on their command line: what holds a container's pipes."""
    return _matching("cmdline", wanted)


def _matching(file: str, wanted: bytes) -> list[int]:
    found = []
    for entry in Path("/proc").glob(f"[0-9]*/{file}"):
        try:
            if wanted in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            continue  # it is over
    return found


def grandchildren(sshd: SshServer) -> list[int]:
    """What the processes that serve connections run, where it is an sshd still."""
    return [
        child
        for pid in sshd.connections()
        for child in find_children(pid)
        if Path(f"/proc/{child}/comm").read_text().strip() == "sshd"
    ]


def rows_of(places: Sequence[Somewhere], daemon: DaemonHarness) -> Iterator[Row]:
    """Their figures; the first place is this machine."""
    here = places[0]
    for share, name in ((0.5, "p50"), (0.99, "p99")):
        near = percentile(here.keys, share)
        for place in places:
            ours, floor = percentile(place.keys, share), percentile(place.floor, share)
            label, against = f"echo {name}, {place.name}", f"cat at the end of {place.name}"
            yield Row(name=label, ours=ours, peer=floor, unit="ms", against=against)
            if place is not here:
                added = max(ours - floor - near, 0.0)
                yield Row(
                    name=f"{label}, beyond one here and the way",
                    ours=added, peer=ADDED, unit="ms", against="goal",
                )  # fmt: skip
    base = percentile([here.start(daemon) for _ in range(STARTS)], 0.5)
    for place in places[1:]:
        made = percentile([place.start(daemon) for _ in range(STARTS)], 0.5)
        label = f"create to first prompt byte, p50, {place.name}"
        yield Row(name=label, ours=made, peer=base, unit="ms", against="here")
        own, far = place.memory(daemon)
        label = f"memory of a session here, {place.name}"
        yield Row(name=label, ours=own, peer=far, unit="MB", against="there, its shell included")


def round_trip_rows(place: Somewhere, daemon: DaemonHarness) -> Iterator[Row]:
    """What a further session costs where every round trip counts."""
    held = place.session(daemon)
    made, floor = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        session = place.session(daemon)
        made.append((time.perf_counter() - began) * 1000)
        daemon.request("DELETE", f"/api/sessions/{session}").data()
        floor.append(first_word(place.cat) * 1000)
    daemon.request("DELETE", f"/api/sessions/{held}").data()
    ours, trip = percentile(made, 0.5), TRIP * 1000
    name = "start of a further session, p50, 50 ms away by ssh"
    yield Row(name=name, ours=ours, peer=trip, unit="ms", against="one round trip")
    against = "a program there that is given by its standard input"
    yield Row(name=name, ours=ours, peer=percentile(floor, 0.5), unit="ms", against=against)


def first_word(cat: Sequence[str]) -> float:
    """Seconds until C{cat} there has said what it was given."""
    began = time.perf_counter()
    subprocess.run(cat, input=b"a", capture_output=True, check=True)
    return time.perf_counter() - began


def run(daemon: DaemonHarness) -> list[Row]:
    """The rows of this bench; without containers where the machine runs none."""
    with ExitStack() as held:
        places = [Somewhere(name="here")]
        why = engine_obstacle(EngineKind.PODMAN)
        if why is None:
            places.append(held.enter_context(in_a_container(daemon)))
        else:
            print(f"no containers: {why}")
        places.append(held.enter_context(by_ssh(daemon)))
        for _ in range(ROUNDS):
            for place in places:
                place.measure_keys(daemon)
        away = held.enter_context(by_ssh(daemon, "away", TRIP / 2))
        found = [*rows_of(places, daemon), *round_trip_rows(away, daemon)]
        box = next((place for place in places if place.podman is not None), None)
        return found if box is None else [*found, *box.told(daemon)]
