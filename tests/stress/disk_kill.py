"""Changes of all kinds while the disk is full, and kill -9: what was acknowledged is there.

In turns the rounds find the disk of the data folder full, with room, without files to be had, and
with some KB left.  What is refused has changed nothing, unless the answer says that it holds until
a restart; what was not refused is there after the kill.

C{python -m tests.stress.disk_kill --kills 40 --seed 1}
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field

from tests.integration.harness import DaemonAnswer
from tests.integration.small_disk import SmallDiskDaemon
from tests.stress.command import report
from tests.unit.http.gate_harness import basic_headers

WORD = "long enough"
WHO = basic_headers("admin", WORD)
CHANGES = 25
NOWHERE = "http://127.0.0.1:9/"
"""A port that nobody listens on."""
READ = (
    "/api/sessions", "/api/settings", "/api/cases", "/api/cron/jobs", "/api/tokens",
    "/api/webviews", "/api/webhook", "/api/model-endpoints", "/api/remote-hosts",
    "/api/container-hosts", "/api/clis", "/api/admin/users",
)  # fmt: skip
"""All that is compared; what is written below one of them is told by it."""
PASSING = frozenset(
    ("lastActivityAt", "lastUsedAt", "status", "statusReason", "pid", "nextRunAt", "current")
)
"""Fields that change by themselves, or are not kept."""
HOLDS = "but a restart now would"
"""What an answer says of that which holds although it is not kept."""

State = Mapping[str, Any]


@define
class DiskKillScene:
    """One service on its small disk, and the ids of what was made there, by the path of making."""

    daemon: SmallDiskDaemon
    dice: random.Random
    made: dict[str, list[str]] = field(factory=dict)
    figures: Counter[str] = field(factory=Counter)
    count: int = 0

    def ask(self, method: str, path: str, body: object = None) -> DaemonAnswer:
        """As an admin."""
        return self.daemon.request(method, path, body, WHO)

    def word(self) -> str:
        """One that was not there yet."""
        self.count += 1
        return f"w{self.count}"

    def any(self, path: str) -> str:
        """The path of something that was made at C{path}."""
        found = self.made.get(path, [])
        return f"{path}/{self.dice.choice(found) if found else 'none'}"

    def state(self) -> dict[str, Any]:
        """All that is to outlive a kill."""
        return {path: _lasting(self.ask("GET", path).data()) for path in READ}


def run(kills: int, seed: int) -> dict[str, object]:
    """Kill so often; the figures.

    @raise AssertionError: something acknowledged is gone, a refused change was made, or a refusal
        does not say why.
    """
    daemon = SmallDiskDaemon(SERVICE_MULTIUSER="1", SERVICE_PASSWORD=WORD)
    try:
        daemon.start()
        scene = DiskKillScene(daemon, random.Random(seed))
        on = {"customModelEndpointsEnabled": True, "cliManagementEnabled": True}
        scene.ask("PUT", "/api/settings", on).data()
        for _ in range(CHANGES * 2):
            _change(scene)
        for _ in range(kills):
            _round(scene)
        if "Traceback" in daemon.log:
            raise AssertionError(daemon.log[-3000:])
    finally:
        daemon.close()
    return dict(scene.figures)


def _round(scene: DiskKillScene) -> None:
    daemon, held = scene.daemon, set()
    tight = TIGHT[scene.figures["kills"] % len(TIGHT)]
    _do(scene, *_makings(scene)[0])
    first = ("DELETE", f"/api/sessions/{scene.made['/api/sessions'][-1]}", None)
    tight(scene)
    for number in range(CHANGES):
        before = scene.state()
        path, answer = _do(scene, *first) if number == 0 else _change(scene)
        if answer.status == 422:
            held |= _judge_refused(scene, path, answer, before)
    before = scene.state()
    daemon.kill()
    if scene.dice.random() < 0.5:
        _make_room(scene)
    daemon.start()
    after = scene.state()
    _make_room(scene)
    for path, made in scene.made.items():
        missing = [each for each in made if f"'{each}'" not in str(after[path])]
        if missing:
            raise AssertionError(f"{tight.__name__}: {path} had made {missing}")
    scene.figures["kills"] += 1
    lost = {path for path in READ if before[path] != after[path]} - held
    if lost:
        told = {path: (before[path], after[path]) for path in lost}
        raise AssertionError(f"{tight.__name__}: a kill changed {told}")


def _judge_refused(
    scene: DiskKillScene, path: str, answer: DaemonAnswer, before: State
) -> set[str]:
    """Where a refusal says that the change holds until a restart."""
    said = answer.json()["error"]
    if "the disk is full" not in said:
        raise AssertionError(f"{path} was refused for no full disk: {said}")
    scene.figures["refused"] += 1
    if HOLDS in said:
        scene.figures["held"] += 1
        return {read for read in READ if path.startswith(read)}
    after = scene.state()
    changed = [read for read in READ if before[read] != after[read]]
    if changed:
        raise AssertionError(f"{path} was refused ({said}), and changed {changed}")
    return set()


# -- the disk


def _with_room(scene: DiskKillScene) -> None:
    pass


def _full(scene: DiskKillScene) -> None:
    scene.daemon.fill()


def _almost_full(scene: DiskKillScene) -> None:
    scene.daemon.fill()
    room = scene.dice.choice([4, 8, 16, 40])
    scene.daemon.inside("truncate", "-s", f"-{room}k", str(scene.daemon.filler))


def _without_files(scene: DiskKillScene) -> None:
    scene.daemon.use_up_inodes()


TIGHT = (_full, _with_room, _without_files, _almost_full)
"""What the rounds find, in turns: an end on a full disk holds until a restart."""


def _make_room(scene: DiskKillScene) -> None:
    scene.daemon.inside("rm", "-f", str(scene.daemon.filler))
    scene.daemon.give_inodes()


# -- what is changed


def _change(scene: DiskKillScene) -> tuple[str, DaemonAnswer]:
    """Make one of all changes: where, and what came of it."""
    changes = [*_makings(scene), *_makings(scene), *_settings(scene), *_removals(scene)]
    return _do(scene, *scene.dice.choice(changes))


def _do(scene: DiskKillScene, method: str, path: str, body: Any) -> tuple[str, DaemonAnswer]:
    answer = scene.ask(method, path, body() if callable(body) else body)
    if answer.status >= 500:
        raise AssertionError(f"{method} {path}: {answer.status} {answer.body!r}")
    where, _, last = path.rpartition("/")
    gone = answer.status == 200 or HOLDS in answer.body.decode()
    if method == "DELETE" and gone and last in scene.made.get(where, []):
        scene.made[where].remove(last)
    if answer.status != 200:
        return path, answer
    scene.figures["changes"] += 1
    if method == "POST" and path in READ:
        scene.made.setdefault(path, []).append(_id(answer.data()))
    return path, answer


_Change = tuple[str, str, Any]


def _makings(scene: DiskKillScene) -> list[_Change]:
    word, home = scene.word, str(scene.daemon.home)
    long = "x" * scene.dice.choice([3, 900])
    host = {"host": "127.0.0.1", "username": "nobody", "port": 9}
    image = {"engine": "podman", "image": "none:1"}
    program = {"shortBadge": "xx", "binaries": ["bash"], "argv": ["bash"]}
    bodies: dict[str, Callable[[], dict[str, Any]]] = {
        "/api/sessions": lambda: {"mode": "shell", "name": word(), "workingDir": home},
        "/api/cases": lambda: {"name": word(), "description": long},
        "/api/cron/jobs": lambda: _job(word(), home, long),
        "/api/tokens": lambda: {"name": word(), "scopes": ["waits"]},
        "/api/webviews": lambda: {"name": word(), "url": NOWHERE},
        "/api/model-endpoints": lambda: {"label": word(), "baseUrl": NOWHERE, "apiKey": long},
        "/api/remote-hosts": lambda: {"label": word(), **host},
        "/api/container-hosts": lambda: {"label": word(), **image},
        "/api/clis": lambda: {"id": word(), "label": "x", **program},
        "/api/admin/users": lambda: {"username": word(), "password": WORD, "role": "user"},
    }
    return [("POST", path, body) for path, body in bodies.items()]


def _job(name: str, folder: str, notes: str) -> dict[str, Any]:
    return {
        "name": name,
        "agentType": "shell",
        "workingDir": folder,
        "promptMode": "inline_text",
        "promptText": notes,
        "inputMode": "paste",
        "scheduleType": "cron",
        "cronExpression": "0 0 1 1 *",
        "enabled": True,
        "concurrencyPolicy": "warn_only",
        "notes": notes,
    }


def _settings(scene: DiskKillScene) -> list[_Change]:
    session, job = scene.any("/api/sessions"), scene.any("/api/cron/jobs")
    user, on = scene.any("/api/admin/users"), scene.dice.random() < 0.5
    number = scene.dice.randint(30_000, 90_000)
    order = list(scene.made.get("/api/sessions", []))
    scene.dice.shuffle(order)
    return [
        ("PUT", f"{session}/name", {"name": scene.word()}),
        ("PUT", f"{session}/color", {"color": scene.dice.choice(["red", "blue", "pink"])}),
        ("PUT", f"{session}/pin", {"pinned": on}),
        ("PUT", f"{session}/nice", {"enabled": True, "value": number % 19 + 1}),
        ("PUT", f"{session}/auto-compact", {"enabled": on, "threshold": number}),
        ("PUT", f"{session}/auto-clear", {"enabled": on, "threshold": number}),
        ("PUT", f"{session}/intent", {"goals": scene.word()}),
        ("PUT", "/api/session-order", {"order": order}),
        ("PUT", job, {"notes": scene.word()}),
        ("PUT", f"{job}/enabled", {"enabled": on}),
        ("PATCH", user, {"role": "admin" if on else "user"}),
        ("PATCH", user, {"enabled": on}),
        ("PATCH", user, {"canBypassPermissions": on}),
        ("PATCH", scene.any("/api/webviews"), {"name": scene.word()}),
        ("PUT", scene.any("/api/model-endpoints"), {"label": scene.word()}),
        ("PUT", "/api/webhook", {"enabled": on, "kind": "generic", "url": NOWHERE + str(number)}),
        ("PUT", "/api/settings", {"displayName": scene.word()}),
        ("PUT", "/api/settings", {"historyLimit": number // 10}),
    ]


def _removals(scene: DiskKillScene) -> list[_Change]:
    gone = [path for path in READ if path not in ("/api/settings", "/api/webhook", "/api/clis")]
    return [("DELETE", scene.any(path), None) for path in gone]


def _id(made: Mapping[str, Any]) -> str:
    """That of a record, which stands in its own answer or in a part of it."""
    parts = [made, *(part for part in made.values() if isinstance(part, dict))]
    names = [part.get(name) for part in parts for name in ("id", "username", "name")]
    return next(str(name) for name in names if name is not None)


def _lasting(found: Any) -> Any:
    """What is to be the same after a kill."""
    if isinstance(found, dict):
        return {name: _lasting(each) for name, each in found.items() if name not in PASSING}
    if isinstance(found, list):
        return [_lasting(each) for each in found]
    return found


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "kills", 40))
