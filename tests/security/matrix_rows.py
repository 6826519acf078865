"""What each route is meant to let through: written by hand, never read from the table.

A route without a row fails the matrix, and so does a row without a route.
"""

from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen(kw_only=True)
class MatrixRow:
    """One route.

    @ivar access: C{public}, C{user}, C{owner}, C{admin}, C{hook} or C{capability}.
    @ivar scope: what a token needs; C{None}: no token may come.
    @ivar body: one that would have an effect, were it let through.
    @ivar path: parameters other than the session's id.
    @ivar query: what the route needs beside.
    @ivar foreign: the status for a user whose thing it is not; the owner rule is known anyway.
    @ivar socket: a WebSocket.
    @ivar through: how the socket is closed of who is let through; 4004: what it does is off.
    @ivar closes_foreign: a refused Host or Origin is told by a close code.
    """

    access: str
    scope: str | None = None
    body: Any = None
    path: dict[str, str] | None = None
    query: str = ""
    foreign: int | None = None
    socket: bool = False
    closes_foreign: bool = False
    through: int | None = None


READ, INPUT, MANAGE = "sessions:read", "sessions:input", "sessions:manage"


def _owner(scope: str | None, body: Any = None, query: str = "") -> MatrixRow:
    return MatrixRow(access="owner", scope=scope, body=body, query=query)


def _comment(body: Any = None) -> MatrixRow:
    return MatrixRow(access="owner", scope=INPUT, body=body, path={"comment": "c1"})


def _admin(body: Any = None, **path: str) -> MatrixRow:
    return MatrixRow(access="admin", scope="admin", body=body, path=path)


def _person(body: Any = None, **path: str) -> MatrixRow:
    """An admin who is there, and no token of one."""
    return MatrixRow(access="admin", body=body, path=path)


def _job(body: Any = None) -> MatrixRow:
    return MatrixRow(access="user", scope="cron", body=body, path={"id": "{job}"}, foreign=404)


def _tab(body: Any = None) -> MatrixRow:
    return MatrixRow(access="user", body=body, path={"id": "{tab}"}, foreign=404)


def _timed() -> MatrixRow:
    return MatrixRow(access="user", scope="cron", path={"id": "{timed}"}, foreign=404)


def _case(body: Any = None, scope: str | None = "sessions:manage") -> MatrixRow:
    return MatrixRow(access="user", scope=scope, body=body, path={"name": "of-ann"}, foreign=404)


SESSION = "{session}"
"""Stands for ann's session in a body or query."""

TAB = {"name": "app", "url": "http://127.0.0.1:5173/"}
PUSH = "https://push.example/of-mallory"
KEYS = {
    "p256dh": "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKW"
    "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
    "auth": "YWFhYWFhYWFhYWFhYWFhYQ",
}
JOB = {
    "name": "every minute",
    "agentType": "shell",
    "workingDir": "{cases}",
    "promptMode": "inline_text",
    "promptText": "id > pwned",
    "inputMode": "paste",
    "scheduleType": "interval",
    "intervalMinutes": 525600,
    "enabled": True,
    "concurrencyPolicy": "warn_only",
}
RULE = {
    "scope": {"all": True},
    "tool": "Bash",
    "match": {"command": {"prefix": ["touch"]}},
    "action": "allow",
}
CHECKS = {"checks": [{"name": "x", "command": "id > pwned", "timeoutSeconds": 60}]}
CLI_FIELDS = {"label": "Mine", "shortBadge": "MI", "binaries": ["true"], "argv": ["true"]}
CLI = {"id": "mine", **CLI_FIELDS}

ROWS: dict[str, MatrixRow] = {
    "POST /api/login": MatrixRow(access="public", body={"username": "nobody", "password": "x"}),
    "POST /api/logout": MatrixRow(access="user"),
    "POST /api/auth/revoke": _person({}),
    "POST /api/auth/password": _person({"password": "of a stranger"}),
    "POST /api/tunnel/start": _admin(),
    "POST /api/tunnel/stop": _admin(),
    "GET /api/tunnel/status": _admin(),
    "GET /api/tunnel/phone": _admin(),
    "GET /api/tunnel/qr": _person(),
    "POST /api/tunnel/qr/regenerate": _person(),
    "GET /q/{code}": MatrixRow(access="capability", path={"code": "abc123"}),
    "GET /api/me": MatrixRow(access="user"),
    "PUT /api/me/password": MatrixRow(
        access="user", body={"currentPassword": "wrong word", "newPassword": "another one"}
    ),
    "GET /api/away": MatrixRow(access="user", scope=READ),
    "POST /api/away/seen": MatrixRow(access="user"),
    "GET /api/notification-rules": MatrixRow(access="user"),
    "PUT /api/notification-rules": MatrixRow(access="user", body={"custom": True}),
    "GET /api/admin/users": _admin(),
    "POST /api/admin/users": _person({"username": "mallory", "role": "admin"}),
    "PATCH /api/admin/users/{name}": _person({"role": "admin"}, name="bob"),
    "DELETE /api/admin/users/{name}": _person(name="bob"),
    "POST /api/admin/users/{name}/reset-password": _person(name="root"),
    "POST /api/admin/users/{name}/logout": _person({"tokens": True}, name="root"),
    "GET /api/admin/audit": _admin(),
    "POST /api/tokens": MatrixRow(access="user", body={"name": "x", "scopes": ["admin"]}),
    "GET /api/tokens": MatrixRow(access="user"),
    "DELETE /api/tokens/{id}": MatrixRow(access="user", path={"id": "{token}"}, foreign=404),
    "GET /api/sessions": MatrixRow(access="user", scope=READ),
    "POST /mcp": MatrixRow(
        access="user",
        scope=READ,
        body={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
    ),
    "GET /mcp": MatrixRow(access="user", scope=READ),
    "DELETE /mcp": MatrixRow(access="user", scope=READ),
    "GET /api/sessions/{id}": _owner(READ),
    "POST /api/sessions": MatrixRow(
        access="user", scope=MANAGE, body={"mode": "shell", "start": True}
    ),
    "POST /api/quick-start": MatrixRow(access="user", scope=MANAGE, body={"mode": "shell"}),
    "POST /api/sessions/{id}/start": _owner(MANAGE, {}),
    "POST /api/sessions/{id}/interactive": _owner(MANAGE, {}),
    "POST /api/sessions/{id}/shell": _owner(MANAGE, {}),
    "DELETE /api/sessions/{id}": _owner(MANAGE),
    "DELETE /api/sessions": MatrixRow(access="user", scope=MANAGE),
    "PUT /api/sessions/{id}/name": _owner(MANAGE, {"name": "taken over"}),
    "PUT /api/sessions/{id}/color": _owner(MANAGE, {"color": "red"}),
    "PUT /api/sessions/{id}/pin": _owner(MANAGE, {"pinned": True}),
    "POST /api/sessions/{id}/snooze": _owner(MANAGE, {"until": "30m"}),
    "POST /api/sessions/{id}/look": _owner(None, {"device": "d", "looking": True}),
    "PUT /api/sessions/{id}/nice": _owner(MANAGE, {"enabled": False, "value": 5}),
    "PUT /api/sessions/{id}/flicker-filter": _owner(MANAGE, {"flickerFilter": True}),
    "PUT /api/sessions/{id}/auto-compact": _owner(MANAGE, {"enabled": True, "threshold": 9999}),
    "PUT /api/sessions/{id}/auto-clear": _owner(MANAGE, {"enabled": True, "threshold": 9999}),
    "PUT /api/sessions/{id}/auto-resume": _owner(MANAGE, {"enabled": True}),
    "PUT /api/sessions/{id}/model": _owner(INPUT, {"model": "opus"}),
    "PUT /api/sessions/{id}/effort": _owner(INPUT, {"effort": "low"}),
    "PUT /api/sessions/{id}/permission-mode": _owner(INPUT, {"permissionMode": "plan"}),
    "PUT /api/session-order": MatrixRow(
        access="user", scope=MANAGE, body={"order": [SESSION]}, foreign=404
    ),
    "POST /api/sessions/{id}/send-key": _owner(INPUT, {"key": "Enter"}),
    "POST /api/sessions/{id}/resize": _owner(INPUT, {"cols": 99, "rows": 33}),
    "POST /api/sessions/{id}/input": _owner(INPUT, {"input": "id > pwned\r"}),
    "GET /api/sessions/{id}/terminal": _owner(READ),
    "GET /api/sessions/{id}/search": _owner(READ, query="q=x"),
    "GET /api/sessions/{id}/git-status": _owner("git"),
    "GET /api/sessions/{id}/changes": _owner("git"),
    "GET /api/sessions/{id}/changes/file": _owner("git", query="path=x"),
    "GET /api/sessions/{id}/changes/base": _owner("git"),
    "PUT /api/sessions/{id}/changes/base": _owner(MANAGE, {"base": "main"}),
    "PUT /api/sessions/{id}/changes/viewed": _owner(MANAGE, {"path": "x", "hash": "0" * 40}),
    "POST /api/sessions/{id}/changes/revert": _owner(INPUT, {"path": "x", "hash": "0" * 40}),
    "POST /api/sessions/{id}/changes/revert/undo": _owner(INPUT, {"undoId": "x"}),
    "GET /api/sessions/{id}/changes/commit-message": _owner("git"),
    "POST /api/sessions/{id}/changes/commit": _owner(INPUT, {"message": "x", "all": True}),
    "POST /api/sessions/{id}/changes/push": _owner(INPUT, {}),
    "GET /api/sessions/{id}/changes/pull-request": _owner(INPUT),
    "POST /api/sessions/{id}/changes/pull-request": _owner(INPUT, {"title": "x"}),
    "GET /api/sessions/{id}/changes/pull-request/log": _owner(INPUT, query="job=1"),
    "POST /api/sessions/{id}/changes/pull-request/mend": _owner(INPUT, {}),
    "GET /api/sessions/{id}/changes/pull-request/suggestion": _owner("git"),
    "GET /api/sessions/{id}/comments": _owner("git"),
    "POST /api/sessions/{id}/comments": _owner(INPUT, {"path": "x", "line": 1, "text": "x"}),
    "PATCH /api/sessions/{id}/comments/{comment}": _comment({"state": "resolved"}),
    "DELETE /api/sessions/{id}/comments/{comment}": _comment(),
    "POST /api/sessions/{id}/comments/{comment}/reply": _comment({"state": "done"}),
    "POST /api/sessions/{id}/review/send": _owner(INPUT, {}),
    "GET /api/sessions/{id}/git-diff": _owner("git", query="repo=.&path=x&kind=staged"),
    "GET /api/sessions/{id}/files": _owner(INPUT),
    "GET /api/sessions/{id}/file-content": _owner(INPUT, query="path=secret.txt"),
    "PUT /api/sessions/{id}/file-content": _owner(
        INPUT, {"path": "pwned", "content": "x", "baseHash": None}
    ),
    "POST /api/sessions/{id}/file-link": _owner(None, {"path": "."}),
    "GET /api/sessions/{id}/file-raw": _owner(INPUT, query="path=secret.txt"),
    "GET /api/sessions/{id}/tail-file": _owner(INPUT, query="path=secret.txt"),
    "GET /api/download": MatrixRow(
        access="user", scope=INPUT, query=f"sessionId={SESSION}&path=.", foreign=404
    ),
    "GET /api/file-link/{word}": MatrixRow(access="capability", path={"word": "x" * 32}),
    "POST /api/sessions/{id}/uploads": _owner(INPUT, {}),
    "POST /api/sessions/{id}/paste-image": _owner(INPUT, {}),
    "POST /api/screenshots": MatrixRow(access="user", scope=INPUT, body={}),
    "GET /api/screenshots": MatrixRow(access="user", scope=INPUT),
    "GET /api/screenshots/{name}": MatrixRow(access="user", scope=INPUT, path={"name": "none.png"}),
    "POST /api/hook-event": MatrixRow(
        access="hook", body={"event": "stop", "sessionId": SESSION, "data": {}}, foreign=404
    ),
    "POST /api/hook-event/decision": MatrixRow(
        access="hook", body={"sessionId": SESSION, "data": {}}, foreign=404
    ),
    "POST /api/status-telemetry": MatrixRow(
        access="hook", body={"sessionId": SESSION, "data": {}}, foreign=404
    ),
    "GET /api/approvals": MatrixRow(access="user", scope="approvals"),
    "POST /api/approvals/{item}/answer": MatrixRow(
        access="user",
        scope="approvals",
        body={"action": "approve"},
        path={"item": "none"},
        foreign=404,
    ),
    "POST /api/approvals/{item}/dismiss": MatrixRow(
        access="user", scope="approvals", path={"item": "none"}, foreign=404
    ),
    "POST /api/approvals/session/{id}/viewed": _owner("approvals"),
    "GET /api/approval-rules": MatrixRow(access="user", scope="approvals"),
    "GET /api/approval-rules/answers": MatrixRow(access="user", scope="approvals"),
    "POST /api/approval-rules": MatrixRow(access="user", scope="approvals", body=RULE),
    "POST /api/approval-rules/preview": MatrixRow(
        access="user", scope="approvals", body={"rule": RULE}
    ),
    "PUT /api/approval-rules/{rule}": MatrixRow(
        access="user", scope="approvals", body=RULE, path={"rule": "none"}, foreign=404
    ),
    "DELETE /api/approval-rules/{rule}": MatrixRow(
        access="user", scope="approvals", path={"rule": "none"}, foreign=404
    ),
    "GET /api/sessions/{id}/last-response": _owner(READ),
    "GET /api/history/sessions": MatrixRow(access="user"),
    "GET /api/history/sessions/{conversation}": MatrixRow(
        access="user", path={"conversation": "none"}, query="mode=primary"
    ),
    "GET /api/sessions/{id}/conversation": _owner(READ),
    "GET /api/sessions/{id}/conversation/items/{item}": MatrixRow(
        access="owner", scope=READ, path={"item": "0.0"}
    ),
    "GET /api/history/sessions/{conversation}/conversation": MatrixRow(
        access="user", path={"conversation": "none"}, query="mode=primary"
    ),
    "GET /api/history/sessions/{conversation}/conversation/items/{item}": MatrixRow(
        access="user", path={"conversation": "none", "item": "0.0"}, query="mode=primary"
    ),
    "GET /api/webhook": _admin(),
    "PUT /api/webhook": _admin({"enabled": True}),
    "POST /api/webhook/test": _admin(),
    "GET /api/push/key": MatrixRow(access="user"),
    "POST /api/push/subscriptions": MatrixRow(access="user", body={"endpoint": PUSH, "keys": KEYS}),
    "DELETE /api/push/subscriptions": MatrixRow(access="user", body={"endpoint": PUSH}),
    "GET /api/cron/jobs": MatrixRow(access="user", scope="cron"),
    "POST /api/cron/jobs": MatrixRow(access="user", scope="cron", body=JOB),
    "POST /api/cron/preview": MatrixRow(access="user", scope="cron", body=JOB),
    "GET /api/cron/jobs/{id}": _job(),
    "PUT /api/cron/jobs/{id}": _job({"name": "taken over"}),
    "DELETE /api/cron/jobs/{id}": _job(),
    "PUT /api/cron/jobs/{id}/enabled": _job({"enabled": False}),
    "POST /api/cron/jobs/{id}/run": _job(),
    "GET /api/cron/jobs/{id}/runs": _job(),
    "GET /api/cron/runs": MatrixRow(access="user", scope="cron"),
    "POST /api/cron/runs/{id}/stop": _timed(),
    "GET /api/scheduled": MatrixRow(access="user", scope="cron"),
    "POST /api/scheduled": MatrixRow(
        access="user", scope="cron", body={"prompt": "pwned", "durationMinutes": 1}
    ),
    "GET /api/scheduled/{id}": _timed(),
    "DELETE /api/scheduled/{id}": _timed(),
    "GET /api/webviews": MatrixRow(access="user"),
    "POST /api/webviews": MatrixRow(access="user", body=TAB),
    "POST /api/webviews/probe": MatrixRow(access="user", body={"url": "http://127.0.0.1:1/"}),
    "PATCH /api/webviews/{id}": _tab({"name": "taken over"}),
    "DELETE /api/webviews/{id}": _tab(),
    "POST /api/webviews/{id}/open": _tab(),
    "ANY /webview/{capability}/{rest:path}": MatrixRow(
        access="capability", path={"capability": "x" * 32, "rest:path": ""}, foreign=403
    ),
    "POST /api/sessions/{id}/readmymind": _owner(INPUT, {}),
    "GET /api/sessions/{id}/intent": _owner(READ),
    "PUT /api/sessions/{id}/intent": _owner(INPUT, {"goals": "pwned"}),
    "DELETE /api/sessions/{id}/intent": _owner(INPUT),
    "GET /api/reboot-restore": MatrixRow(access="user", scope=READ),
    "POST /api/reboot-restore/restore": MatrixRow(access="user", scope=MANAGE, body={}),
    "POST /api/reboot-restore/dismiss": MatrixRow(access="user", scope=MANAGE),
    "GET /api/sessions/{id}/wait": _owner("waits"),
    "GET /api/sessions/{id}/wait-output": _owner("waits", query="match=x"),
    "GET /api/waits": MatrixRow(
        access="user", scope="waits", query=f"sessions={SESSION}", foreign=404
    ),
    "GET /api/voice/status": MatrixRow(access="user"),
    "GET /ws/voice/stream": MatrixRow(
        access="user", socket=True, closes_foreign=True, through=4004
    ),
    "GET /ws/sessions/{id}/terminal": MatrixRow(
        access="user", scope=INPUT, socket=True, foreign=4003
    ),
    "GET /api/settings": MatrixRow(access="user", scope="settings"),
    "PUT /api/settings": MatrixRow(access="admin", scope="settings", body={"displayName": "pwned"}),
    "GET /api/clis": MatrixRow(access="user", scope="settings"),
    "GET /api/clis/sign-in": MatrixRow(access="user", scope="settings"),
    "GET /api/clis/file": _admin(),
    "PUT /api/clis/{id}": _admin({"enabled": False}, id="codex"),
    "POST /api/clis": _admin(CLI),
    "PUT /api/clis/custom/{id}": _admin({**CLI_FIELDS, "label": "x"}, id="mine"),
    "DELETE /api/clis/{id}": _admin(id="mine"),
    "POST /api/clis/{id}/install": _admin(id="codex"),
    "GET /api/clis/{id}/install": _admin(id="codex"),
    "DELETE /api/clis/{id}/install": _admin(id="codex"),
    "GET /api/mcp-sync": _admin(),
    "POST /api/mcp-sync": _admin(),
    "GET /api/remote-hosts": MatrixRow(access="user", scope="admin"),
    "POST /api/remote-hosts": _admin({"label": "x", "host": "127.0.0.1", "username": "x"}),
    "PUT /api/remote-hosts/{id}": _admin(
        {"label": "x", "host": "127.0.0.1", "username": "x"}, id="none"
    ),
    "DELETE /api/remote-hosts/{id}": _admin(id="none"),
    "GET /api/remote-hosts/{id}/sessions": _admin(id="none"),
    "POST /api/remote-hosts/{id}/check": _admin(id="none"),
    "POST /api/remote-hosts/{id}/trust": _admin({"fingerprint": "SHA256:x"}, id="none"),
    "POST /api/remote-hosts/{id}/wake": _admin(id="none"),
    "GET /api/sessions/{id}/reachability": _owner(READ),
    "POST /api/sessions/{id}/wake": _owner(INPUT),
    "POST /api/cases/remote-link": MatrixRow(
        access="admin",
        scope=MANAGE,
        body={"name": "x", "hostId": "none", "remotePath": "/x"},
    ),
    "GET /api/model-endpoints": MatrixRow(access="user", scope=READ),
    "GET /api/model-endpoints/{id}/running-status": MatrixRow(
        access="user", scope=READ, path={"id": "none"}, foreign=404
    ),
    "POST /api/model-endpoints": _admin({"label": "x", "baseUrl": "http://127.0.0.1:9"}),
    "PUT /api/model-endpoints/{id}": _admin({"label": "x"}, id="none"),
    "DELETE /api/model-endpoints/{id}": _admin(id="none"),
    "POST /api/model-endpoints/{id}/discover-models": _admin(id="none"),
    "POST /api/sessions/{id}/custom-model": _owner(MANAGE, {"clear": True}),
    "GET /api/doctor": _admin(),
    "GET /api/cases": MatrixRow(access="user", scope=READ),
    "GET /api/cases/agent-created": MatrixRow(access="user", scope=READ),
    "GET /api/cases/browse": MatrixRow(access="user", scope=MANAGE, query="path={cases}"),
    "GET /api/cases/repositories": MatrixRow(access="user", scope=MANAGE),
    "GET /api/folder-trust": MatrixRow(access="user", scope=MANAGE, query="mode=primary"),
    "GET /api/cases/{name}": _case(scope=READ),
    "GET /api/cases/{name}/git-status": _case(scope="git"),
    "GET /api/cases/{name}/checks": _case(scope=READ),
    "PUT /api/cases/{name}/checks": _case(CHECKS, "cron"),
    "GET /api/sessions/{id}/checks": _owner(READ),
    "POST /api/sessions/{id}/checks/run": _owner(MANAGE),
    "DELETE /api/sessions/{id}/checks/run": _owner(MANAGE),
    "GET /api/cases/{name}/checks/file": _case(scope=READ),
    "PUT /api/cases/{name}/checks/file": _case({"hash": "0" * 64}, None),
    "DELETE /api/cases/{name}/checks/file": _case(scope=None),
    "GET /api/sessions/{id}/checks/file": _owner(READ),
    "PUT /api/sessions/{id}/checks/file": _owner(None, {"hash": "0" * 64}),
    "DELETE /api/sessions/{id}/checks/file": _owner(None),
    "POST /api/cases": MatrixRow(access="user", scope=MANAGE, body={"name": "pwned"}),
    "POST /api/cases/link": MatrixRow(
        access="admin", scope=MANAGE, body={"name": "pwned", "path": "/srv"}
    ),
    "POST /api/cases/container-link": MatrixRow(
        access="admin",
        scope=MANAGE,
        body={"name": "pwned", "hostId": "none", "workspacePath": "/srv"},
    ),
    "POST /api/cases/container-create": MatrixRow(
        access="admin", scope=MANAGE, body={"name": "pwned"}
    ),
    "GET /api/cases/{name}/container": _case(scope=READ),
    "POST /api/cases/{name}/container/recreate": MatrixRow(
        access="admin", scope="admin", path={"name": "of-ann"}
    ),
    "GET /api/container-hosts": MatrixRow(access="user", scope="admin"),
    "POST /api/container-hosts": _admin({"label": "x", "engine": "podman", "image": "x"}),
    "PUT /api/container-hosts/{id}": _admin(
        {"label": "x", "engine": "podman", "image": "x"}, id="none"
    ),
    "DELETE /api/container-hosts/{id}": _admin(id="none"),
    "GET /api/container-hosts/{id}/containers": _admin(id="none"),
    "POST /api/container-hosts/{id}/build": _admin(id="none"),
    "POST /api/container-hosts/{id}/build/cancel": _admin(id="none"),
    "GET /api/container-hosts/{id}/build/log": _admin(id="none"),
    "POST /api/cases/clone": MatrixRow(
        access="user",
        scope=MANAGE,
        body={"name": "pwned", "repository": "https://host.invalid/x"},
    ),
    "POST /api/cases/clone/{name}/cancel": _case(),
    "POST /api/cases/{name}/worktree": _case({"branch": "pwned"}),
    "POST /api/cases/{name}/prepare": _case(),
    "PUT /api/cases/order": MatrixRow(
        access="user", scope=MANAGE, body={"order": ["of-ann"]}, foreign=404
    ),
    "DELETE /api/cases/{name}": _case(),
    "GET /healthz": MatrixRow(access="public"),
    "GET /api/status": MatrixRow(access="user", scope=READ),
    "GET /api/events": MatrixRow(access="user", scope="events"),
    "GET /metrics": _admin(),
    "GET /api/openapi.json": MatrixRow(access="user"),
    "GET /api/docs": MatrixRow(access="user"),
    "GET /api/docs.css": MatrixRow(access="user"),
}

PREFIXES = (
    "/",
    "/index.html",
    "/favicon.ico",
    "/assets/none.js",
    "/nothing/here",
    "/api",
    "/api/nothing",
    "/api/v1/sessions",
    "/ws/nothing",
    "/q/abc123",
)
"""Paths that no operation of the table has: pages, and what looks like one."""
