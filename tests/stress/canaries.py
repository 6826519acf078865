"""Everybody's words carry a mark of their own, and nobody is told another's.

Four accounts, and tokens of theirs with some scopes and perhaps one session, ask whatever the
document of the API knows, in any order and with each other's ids.  One of the accounts becomes an
admin and a plain account again all the while, and tokens end.  Streams of events and terminals
are open beside.

C{python -m tests.stress.canaries --requests 20000 --seed 1}
"""

from __future__ import annotations

import http.client
import random
import re
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from attrs import define, field
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.integration.harness import DaemonAnswer, job_in
from tests.openapi.fuzzing import TameDaemon
from tests.stress.command import report
from tests.stress.dice import DiceThrow, RequestDice
from tests.stress.turns import BEAT, TURNING, StressTurnTimes
from tests.unit.agents.transcripts.transcript_lines import answer_line, prompt_line, write_lines
from tests.unit.http.gate_harness import basic_headers
from tests.waiting import PATIENCE

WORD = "long enough"
BOSS = basic_headers("admin", WORD)
NAMES = ("al", "bo", "cy", "de")
SESSIONS = 3
TOKENS = 20
ASKING = 6
NOWHERE = "http://127.0.0.1:9/"
"""A port that nobody listens on."""
HISTORY = "/api/history/sessions"
OPEN = 4.0
"""Seconds after which a stream is opened anew, by then perhaps with another right."""
SCOPES = (
    "sessions:read", "sessions:input", "sessions:manage", "waits", "events", "settings", "cron",
    "git", "approvals", "admin",
)  # fmt: skip
LEFT_OUT = re.compile(
    # Streams, which are heard apart; who there is, and what is everybody's.
    r"/api/events|/mcp|/ws/|tail-file|/api/(admin|tunnel|login|logout|auth|doctor|clis|mcp-sync)"
    r"|/q/|webview/|password|remote-hosts|container-hosts|PUT /api/settings|DELETE /api/sessions$"
    # Tokens and a restore of everybody's are made apart; a clone needs somebody to clone from.
    r"|POST /api/tokens|clone|/api/hook-event|/api/status-telemetry|voice"
)


@define(eq=False)
class OwnedToken:
    """One of C{owner}'s.

    @ivar session: the only one that it is for, if there is one.
    @ivar ended: when it was told to be over.
    """

    owner: str
    id: str
    word: str
    scopes: frozenset[str]
    session: str | None
    ended: float | None = None


@define
class CanaryService:
    """One service, and what there is in it.

    @ivar sessions: ids by owner, of the sessions that everybody began with.
    @ivar records: ids of what else everybody has, by owner and the path that it was made at.
    @ivar broken: what was told or done that should not have been.
    """

    daemon: TameDaemon
    seed: int
    left: int
    turns: StressTurnTimes = field(factory=StressTurnTimes)
    sessions: dict[str, list[str]] = field(factory=dict)
    records: dict[str, dict[str, str]] = field(factory=dict)
    tokens: list[OwnedToken] = field(factory=list)
    broken: list[str] = field(factory=list)
    figures: Counter[str] = field(factory=Counter)
    _lock: threading.Lock = field(factory=threading.Lock)

    def take(self) -> bool:
        """Whether one more is to be asked."""
        with self._lock:
            self.left -= 1
            return not self.over

    @property
    def over(self) -> bool:
        """Whether all was asked and a right has ended meanwhile, or something is broken."""
        return (self.left < 0 and self.figures["turns"] > 0) or bool(self.broken)

    def others(self, name: str, text: str, said: str = "") -> list[str]:
        """Whose marks are in C{text}, but C{name}'s and those that were said by the asker."""
        text = text.lower()
        marks = [other for other in NAMES if other not in (name, TURNING)]
        return [other for other in marks if mark_of(other) in text and mark_of(other) not in said]

    def told(self, name: str, text: str, what: str, said: str = "") -> None:
        """Judge what C{name} was told by now."""
        found = self.others(name, text, said)
        if found and self.turns.may_be_told(name):
            self.figures["told an admin"] += 1
        elif found:
            self.broken.append(f"{name} was told of {found} by {what}: {text[:500]}")


def mark_of(name: str, session: int | None = None) -> str:
    """What stands in all that C{name} says, or in the name of one of its first sessions."""
    return f"mark{name}" if session is None else f"mark{name}-{session}-"


def run(requests: int, seed: int) -> dict[str, object]:
    """Ask so often; the figures.

    @raise AssertionError: somebody was told, or did, what was not theirs; or an answer was a 500.
    """
    daemon = TameDaemon()
    # What only repeats what it hears is an agent that never asks anything.
    (daemon.folder / "bin" / "claude").symlink_to("bash")
    daemon.environment |= {"SERVICE_MULTIUSER": "1", "SERVICE_PASSWORD": WORD}
    daemon.environment["SERVICE_MAX_SESSIONS"] = "24"
    try:
        daemon.start()
        place = CanaryService(daemon, seed, requests)
        _settle(place)
        document = daemon.request("GET", "/api/openapi.json", headers=BOSS).json()
        _all_at_once(place, document)
        if "Traceback" in daemon.log:
            place.broken.append(daemon.log[-3000:])
        # All at once, and not one after the other as they are with the daemon.
        for name in NAMES:
            daemon.request("DELETE", "/api/sessions", headers=basic_headers(name, WORD)).data()
    finally:
        daemon.close()
    if place.broken:
        raise AssertionError(f"seed {seed}: {place.broken[0]}")
    return dict(place.figures)


def _settle(place: CanaryService) -> None:
    """Accounts, each with a case that others may name and one that they cannot, and sessions."""
    for name in NAMES:
        account = {"username": name, "password": WORD, "canBypassPermissions": True}
        place.daemon.request("POST", "/api/admin/users", account, BOSS).data()
        for case in (f"plain-{name}", mark_of(name)):
            place.daemon.request(
                "POST", "/api/cases", {"name": case}, basic_headers(name, WORD)
            ).data()
        place.sessions[name] = [_session(place, name, number) for number in range(SESSIONS)]
        _leave(place, name)


def _leave(place: CanaryService, name: str) -> None:
    """One of all that an account can have, and words of it in the session that it begins with."""
    own, session = mark_of(name), f"/api/sessions/{place.sessions[name][0]}"
    made = {
        "/api/cron/jobs": job_in(f"plain-{name}", own) | {"name": own, "notes": own},
        "/api/webviews": {"name": own, "url": f"{NOWHERE}{own}"},
        "/api/scheduled": {"prompt": own, "durationMinutes": 60},
    }
    put = {
        f"{session}/intent": {"goals": own},
        f"{session}/file-content": {"path": "own.txt", "content": own, "baseHash": None},
    }
    who = basic_headers(name, WORD)
    place.records[name] = {
        path: _id(place.daemon.request("POST", path, body, who).data())
        for path, body in made.items()
    }
    for path, body in put.items():
        place.daemon.request("PUT", path, body, who).data()
    place.records[name][HISTORY] = _conversation(place, name)


def _conversation(place: CanaryService, name: str) -> str:
    """What Claude Code leaves behind of one; accounts without an OS user share the home."""
    conversation = f"{NAMES.index(name)}1111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa"
    folder = place.daemon.cases_of(name) / f"plain-{name}"
    kept = place.daemon.home / ".claude/projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    first = {**prompt_line(mark_of(name)), "sessionId": conversation, "cwd": str(folder)}
    write_lines(kept / f"{conversation}.jsonl", first, answer_line(mark_of(name)))
    return conversation


def _id(made: Mapping[str, Any]) -> str:
    """That of a record, which stands in its own answer or in a part of it."""
    parts = [made, *(part for part in made.values() if isinstance(part, dict))]
    return next(str(part["id"]) for part in parts if "id" in part)


def _session(place: CanaryService, name: str, number: int) -> str:
    folder = place.daemon.cases_of(name) / (mark_of(name) if number else f"plain-{name}")
    body = {
        "mode": "shell",
        "name": f"{mark_of(name, number)}session",
        "workingDir": str(folder),
        "start": True,
    }
    who = basic_headers(name, WORD)
    made = place.daemon.request("POST", "/api/sessions", body, who).data()["session"]["id"]
    typed = {"input": f"{mark_of(name, number)}typed\r"}
    place.daemon.request("POST", f"/api/sessions/{made}/input", typed, who).data()
    return str(made)


def _all_at_once(place: CanaryService, document: Mapping[str, Any]) -> None:
    askers = [
        CanaryAsker(place, document, random.Random(place.seed * 100 + number))
        for number in range(ASKING)
    ]
    work: list[Callable[[], None]] = [asker.run for asker in askers]
    work += [partial(each, place) for each in (_beat, _turn, _deal, _watch, _follow)]
    work += [partial(_hear, place, name) for name in NAMES]
    threads = [threading.Thread(target=_noted, args=(place, each)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _noted(place: CanaryService, work: Callable[[], None]) -> None:
    """No thread ends by a fault that nobody sees."""
    try:
        work()
    except Exception:
        place.broken.append(traceback.format_exc())


@define
class CanaryAsker:
    """Asks, in everybody's name."""

    place: CanaryService
    document: Mapping[str, Any]
    source: random.Random

    def run(self) -> None:
        """Until enough was asked."""
        dice = RequestDice(self.document, self.source, LEFT_OUT)
        while self.place.take():
            token = self._token() if self.source.random() < 0.35 else None
            name = self.source.choice(NAMES) if token is None else token.owner
            self._ask(dice.throw(partial(self._word, name)), name, token)

    def _token(self) -> OwnedToken | None:
        """One that holds, and now and then one that does not."""
        living = [token for token in self.place.tokens if token.ended is None]
        over = [token for token in self.place.tokens if token.ended is not None]
        found = over if over and self.source.random() < 0.02 else living
        return self.source.choice(found) if found else None

    def _word(self, name: str, field: str) -> str:
        """An id of anybody's, a folder, or a text with the mark."""
        owner = name if self.source.random() < 0.6 else self.source.choice(NAMES)
        if field == "resumeSessionId":
            return self.place.records[owner][HISTORY]
        if field.startswith("/api/sessions") or field.lower().endswith("sessionid"):
            return self.source.choice(self.place.sessions[owner])
        if "/session/" in field:
            return self.source.choice(self.place.sessions[owner])
        for made_at, record in self.place.records[owner].items():
            if field.startswith(made_at):
                return record
        if field.startswith("/api/cases") or "case" in field.lower():
            return f"plain-{owner}"
        if "dir" in field.lower():
            return str(self.place.daemon.cases_of(owner) / f"plain-{owner}")
        if field == "path":
            return "own.txt"
        if field in ("mode", "agentType"):
            return self.source.choice(["shell", "primary"])
        return f"{mark_of(name)}-{self.source.randint(0, 99)}"

    def _ask(self, throw: DiceThrow, name: str, token: OwnedToken | None) -> None:
        who = basic_headers(name, WORD)
        if token is not None:
            who = {"Authorization": f"Bearer {token.word}"}
        begun = time.monotonic()
        try:
            answer = self.place.daemon.request(throw.method, throw.path, throw.body, who)
        except TimeoutError as error:
            raise AssertionError(f"no answer: {throw}") from error
        except (OSError, http.client.HTTPException):
            # What is long is cut off when the right to it ends.
            self.place.figures["cut off"] += 1
            return
        self.place.figures[f"{answer.status}"] += 1
        what = f"{throw.method} {throw.path} {throw.body}: {answer.status} {answer.body[:300]!r}"
        if answer.status >= 500:
            self.place.broken.append(what)
        text = answer.body.decode("utf-8", "replace")
        self.place.told(name, text, what, throw.said)
        self._judge_done(throw, name, answer, begun, what)
        if token is not None:
            self._judge_token(throw, token, answer, begun, what)

    def _judge_done(
        self, throw: DiceThrow, name: str, answer: DaemonAnswer, begun: float, what: str
    ) -> None:
        """Nothing is done to what is another's."""
        if answer.status != 200 or throw.method == "GET":
            return
        strangers = [
            record
            for owner in NAMES
            for record in (*self.place.sessions[owner], *self.place.records[owner].values())
            if owner != name and record in throw.path
        ]
        if strangers and not self.place.turns.may_be_admin(name, begun, time.monotonic()):
            self.place.broken.append(f"{name} did {what}")

    def _judge_token(
        self, throw: DiceThrow, token: OwnedToken, answer: DaemonAnswer, begun: float, what: str
    ) -> None:
        if token.ended is not None and begun > token.ended:
            self.place.figures["by ended tokens"] += 1
            if answer.status not in (401, 429) and not throw.public:
                self.place.broken.append(f"an ended token: {what}")
        if answer.status == 200 and not throw.public:
            self.place.figures["by tokens"] += 1
            if throw.scopes is None or not throw.scopes <= token.scopes:
                self.place.broken.append(f"{set(token.scopes)}: {what}")
        if token.session is not None:
            self._judge_bound(token, answer.body.decode("utf-8", "replace").lower(), throw, what)

    def _judge_bound(self, token: OwnedToken, text: str, throw: DiceThrow, what: str) -> None:
        """A token for one session tells of no other of its owner's."""
        for number, session in enumerate(self.place.sessions[token.owner][:SESSIONS]):
            if session == token.session:
                continue
            named = mark_of(token.owner, number)
            if (named in text and named not in throw.said) or (
                session in text and session not in throw.said
            ):
                self.place.broken.append(f"for {token.session} alone: {what}")


def _beat(place: CanaryService) -> None:
    while not place.over:
        place.turns.beat()
        time.sleep(BEAT)


def _turn(place: CanaryService) -> None:
    """Make one an admin, and no admin again."""
    source = random.Random(place.seed)
    path = f"/api/admin/users/{TURNING}"
    while not place.over:
        _rest(place, source.uniform(0.1, 1.0))
        place.turns.spans.append([time.monotonic(), float("inf")])
        place.daemon.request("PATCH", path, {"role": "admin"}, BOSS).data()
        _rest(place, source.uniform(0.1, 1.0))
        place.daemon.request("PATCH", path, {"role": "user"}, BOSS).data()
        place.turns.spans[-1][1] = time.monotonic()
        place.figures["turns"] += 1


def _deal(place: CanaryService) -> None:
    """Make tokens, and end them."""
    source = random.Random(place.seed + 1)
    while not place.over:
        _rest(place, source.uniform(0.05, 0.3))
        living = [token for token in place.tokens if token.ended is None]
        if len(living) >= TOKENS:
            token = source.choice(living)
            path = f"/api/tokens/{token.id}"
            place.daemon.request("DELETE", path, headers=basic_headers(token.owner, WORD)).data()
            token.ended = time.monotonic()
            continue
        _make_token(place, source)


def _make_token(place: CanaryService, source: random.Random) -> None:
    name = source.choice(NAMES)
    scopes = source.sample(SCOPES, source.randint(1, 5))
    session = source.choice(place.sessions[name]) if source.random() < 0.5 else None
    body: dict[str, Any] = {"name": mark_of(name), "scopes": scopes}
    if session is not None:
        body["sessions"] = [session]
    answer = place.daemon.request("POST", "/api/tokens", body, basic_headers(name, WORD))
    if answer.status != 200:  # its session is gone
        return
    made = answer.data()
    place.tokens.append(
        OwnedToken(name, made["record"]["id"], made["token"], frozenset(scopes), session)
    )


def _hear(place: CanaryService, name: str) -> None:
    """The events of an account, opened anew now and then."""
    where = urlsplit(place.daemon.url)
    while not place.over:
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=1)
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/api/events", headers=basic_headers(name, WORD))
            _judge_lines(place, name, connection.getresponse())
        connection.close()


def _judge_lines(place: CanaryService, name: str, answer: Iterable[bytes]) -> None:
    end = time.monotonic() + OPEN
    for line in answer:
        place.figures["bytes of events"] += len(line)
        text = line.decode("utf-8", "replace")
        place.told(name, text, "an event")
        if place.over or time.monotonic() > end:
            return


def _watch(place: CanaryService) -> None:
    """The turning account looks at the terminals of others, as far as it may."""
    source = random.Random(place.seed + 2)
    url = place.daemon.url.replace("http", "ws", 1)
    while not place.over:
        _rest(place, 0.05)
        session = place.sessions[source.choice(["al", "bo", "de"])][0]
        with (
            suppress(OSError, WebSocketException),
            connect(
                f"{url}/ws/sessions/{session}/terminal",
                additional_headers=basic_headers(TURNING, WORD),
                open_timeout=PATIENCE,
                max_size=None,
            ) as socket,
        ):
            _judge_frames(place, socket)


def _follow(place: CanaryService) -> None:
    """The turning account follows files of others, as far as it may."""
    source = random.Random(place.seed + 3)
    where = urlsplit(place.daemon.url)
    while not place.over:
        _rest(place, 0.05)
        session = place.sessions[source.choice(["al", "bo", "de"])][0]
        connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=1)
        path = f"/api/sessions/{session}/tail-file?path=own.txt"
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", path, headers=basic_headers(TURNING, WORD))
            _judge_lines(place, TURNING, connection.getresponse())
        connection.close()


def _judge_frames(place: CanaryService, socket: Any) -> None:
    end = time.monotonic() + OPEN
    while not place.over and time.monotonic() < end:
        with suppress(TimeoutError):
            frame = socket.recv(0.2)
            text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
            place.figures["frames of terminals"] += 1
            place.told(TURNING, text, "a terminal")


def _rest(place: CanaryService, seconds: float) -> None:
    """Let so much time pass, or less once all is over."""
    end = time.monotonic() + seconds
    while not place.over and time.monotonic() < end:
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(report(__doc__, run, "requests", 20_000))
