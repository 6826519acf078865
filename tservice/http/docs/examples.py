"""Example body for each operation that accepts one; the tests send every one of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_SESSION = "6f1c2a9e-3b7d-4c58-9a10-2f4e6d8b0c11"
_JOB: Mapping[str, Any] = {
    "name": "Nightly tests",
    "agentType": "shell",
    "workingDir": "/srv/project",
    "promptMode": "inline_text",
    "promptText": "make test",
    "inputMode": "paste",
    "scheduleType": "cron",
    "cronExpression": "30 2 * * 1-5",
    "enabled": True,
    "concurrencyPolicy": "warn_only",
}
_CLI: Mapping[str, Any] = {
    "label": "Mine",
    "shortBadge": "MI",
    "binaries": ["true"],
    "argv": ["true"],
}
_HOST: Mapping[str, Any] = {
    "label": "Build machine",
    "host": "build.example.org",
    "username": "ada",
}
_CONTAINERS: Mapping[str, Any] = {
    "label": "Containers",
    "engine": "podman",
    "image": "localhost/agents:latest",
}
_FILE_HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
_HASH = "8c7e5a667f1b771847fe88c01c3de34413a1b220"
_PUSH = "https://push.example.org/send/abc"

_RULE = {
    "scope": {"all": True},
    "tool": "Bash",
    "match": {"command": {"prefix": ["git", "status"]}},
    "action": "allow",
}

EXAMPLES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "POST /api/login": {"username": "admin", "password": "correct horse battery staple"},
        "POST /api/auth/revoke": {},
        "POST /api/auth/password": {"password": "correct horse battery"},
        "PUT /api/me/password": {
            "currentPassword": "correct horse", "newPassword": "battery staple, twice",
        },
        "POST /api/admin/users": {"username": "ada", "role": "user"},
        "PATCH /api/admin/users/{name}": {"enabled": True},
        "POST /api/admin/users/{name}/logout": {"tokens": True},
        "POST /api/tokens": {"name": "nightly", "scopes": ["sessions:read", "waits"]},
        "POST /api/sessions": {"mode": "shell", "name": "tests", "start": True},
        "POST /api/approval-rules": _RULE,
        "PUT /api/approval-rules/{rule}": {**_RULE, "note": "git reads"},
        "POST /api/approval-rules/preview": {"rule": _RULE},
        "POST /api/quick-start": {"mode": "shell", "caseName": "scratch"},
        "POST /api/sessions/{id}/start": {},
        "POST /api/sessions/{id}/interactive": {},
        "POST /api/sessions/{id}/shell": {},
        "PUT /api/sessions/{id}/name": {"name": "tests of the parser"},
        "PUT /api/sessions/{id}/color": {"color": "green"},
        "PUT /api/sessions/{id}/pin": {"pinned": True},
        "POST /api/sessions/{id}/snooze": {"until": "tomorrow", "timeZone": "Europe/Berlin"},
        "POST /api/sessions/{id}/look": {"device": "d3b07384", "looking": True},
        "PUT /api/notification-rules": {
            "push": {"enabled": True, "events": ["permission_prompt", "elicitation_dialog"]},
            "webhooks": [
                {"id": "phone", "name": "Phone", "kind": "ntfy", "url": "https://ntfy.sh/a-topic"}
            ],
            "quietHours": {
                "enabled": True, "start": "22:00", "end": "07:00", "timeZone": "Europe/Berlin",
            },
        },
        "PUT /api/sessions/{id}/nice": {"enabled": True, "value": 10},
        "PUT /api/sessions/{id}/flicker-filter": {"flickerFilter": True},
        "PUT /api/sessions/{id}/auto-compact": {"enabled": True, "threshold": 110000},
        "PUT /api/sessions/{id}/auto-clear": {"enabled": False, "threshold": 140000},
        "PUT /api/sessions/{id}/auto-resume": {"enabled": True},
        "PUT /api/sessions/{id}/model": {"model": "opus"},
        "PUT /api/sessions/{id}/effort": {"effort": "high"},
        "PUT /api/sessions/{id}/permission-mode": {"permissionMode": "plan"},
        "POST /api/sessions/{id}/custom-model": {"clear": True},
        "PUT /api/session-order": {"order": [_SESSION]},
        "POST /api/sessions/{id}/send-key": {"key": "Enter"},
        "POST /api/sessions/{id}/resize": {"cols": 120, "rows": 40},
        "POST /api/sessions/{id}/input": {"input": "make test\r", "useMux": True},
        "PUT /api/sessions/{id}/file-content": {
            "path": "notes.txt", "content": "mend the parser\n", "baseHash": None,
        },
        "POST /api/sessions/{id}/file-link": {"path": "report.html"},
        "PUT /api/sessions/{id}/changes/base": {"base": "main"},
        "PUT /api/sessions/{id}/changes/viewed": {"path": "src/parser.py", "hash": None},
        "POST /api/sessions/{id}/changes/revert": {"path": "src/parser.py", "hash": _HASH},
        "POST /api/sessions/{id}/changes/revert/undo": {"undoId": "5b1c2a9e3b7d4c58"},
        "POST /api/sessions/{id}/changes/commit": {"message": "Mend the parser", "all": True},
        "POST /api/sessions/{id}/changes/push": {"setUpstream": True},
        "POST /api/sessions/{id}/changes/pull-request": {"title": "Mend the parser", "draft": True},
        "POST /api/sessions/{id}/changes/pull-request/mend": {"evenWhileBusy": False},
        "POST /api/sessions/{id}/comments": {
            "path": "src/parser.py", "line": 12, "text": "An empty file ends here.",
        },
        "PATCH /api/sessions/{id}/comments/{comment}": {"state": "resolved"},
        "POST /api/sessions/{id}/comments/{comment}/reply": {
            "state": "done", "text": "Empty files are read now.",
        },
        "POST /api/sessions/{id}/review/send": {"note": "The tests stay as they are."},
        "PUT /api/cases/{name}/checks": {
            "checks": [
                {"name": "tests", "command": "npm test", "timeoutSeconds": 600},
                {"name": "lint", "command": "npm run lint", "timeoutSeconds": 120,
                 "paths": ["src/*"]},
            ],
            "onFailure": "send_back", "maxAttempts": 3,
        },
        "PUT /api/cases/{name}/checks/file": {"hash": _FILE_HASH},
        "PUT /api/sessions/{id}/checks/file": {"hash": _FILE_HASH},
        "POST /api/sessions/{id}/readmymind": {},
        "PUT /api/sessions/{id}/intent": {"goals": "A parser that reads every file"},
        "POST /api/hook-event/decision": {"sessionId": _SESSION, "data": {}},
        "POST /api/hook-event": {"event": "stop", "sessionId": _SESSION, "data": {}},
        "POST /api/status-telemetry": {"sessionId": _SESSION, "data": {}},
        "POST /api/approvals/{item}/answer": {"action": "approve"},
        "PUT /api/webhook": {"enabled": False},
        "POST /api/push/subscriptions": {
            "endpoint": _PUSH,
            "keys": {
                "p256dh": "BGsX0fLhLEJH-Lzm5WOkQPJ3A32BLeszoPShOUXYmMKW"
                "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
                "auth": "YWFhYWFhYWFhYWFhYWFhYQ",
            },
        },
        "DELETE /api/push/subscriptions": {"endpoint": _PUSH},
        "POST /api/cron/jobs": _JOB,
        "POST /api/cron/preview": _JOB,
        "PUT /api/cron/jobs/{id}": {"name": "Nightly tests and types"},
        "PUT /api/cron/jobs/{id}/enabled": {"enabled": False},
        "POST /api/reboot-restore/restore": {},
        "PUT /api/settings": {"displayName": "Build machine"},
        "PUT /api/clis/{id}": {"enabled": True},
        "POST /api/clis": {"id": "mine", **_CLI},
        "PUT /api/clis/custom/{id}": {**_CLI, "label": "My own"},
        "POST /api/model-endpoints": {"label": "Local", "baseUrl": "http://127.0.0.1:11434"},
        "PUT /api/model-endpoints/{id}": {"label": "Local models"},
        "POST /api/cases": {"name": "parser"},
        "POST /api/cases/link": {"name": "project", "path": "/srv/project"},
        "POST /api/cases/clone": {
            "name": "library", "repository": "https://git.example.org/library.git",
        },
        "POST /api/cases/{name}/worktree": {"branch": "mend-parser"},
        "POST /api/cases/remote-link": {
            "name": "far", "hostId": "build-box", "remotePath": "/srv/project",
        },
        "POST /api/cases/container-link": {
            "name": "boxed", "hostId": "default", "workspacePath": "/srv/project",
        },
        "POST /api/cases/container-create": {"name": "sandbox", "memory": "2g"},
        "POST /api/remote-hosts": _HOST,
        "PUT /api/remote-hosts/{id}": {**_HOST, "label": "The build machine"},
        "POST /api/remote-hosts/{id}/trust": {
            "fingerprint": "SHA256:2Yl0cJmTq0o0QJX1r7o9m4b6n3u5l8v2w1x0z9y8a7c",
        },
        "POST /api/container-hosts": _CONTAINERS,
        "PUT /api/container-hosts/{id}": {**_CONTAINERS, "label": "Boxes"},
        "POST /api/scheduled": {"prompt": "Go on with the parser", "durationMinutes": 30},
        "POST /api/webviews": {"name": "Preview", "url": "http://localhost:5173/"},
        "PATCH /api/webviews/{id}": {"name": "Preview of the page"},
        "POST /api/webviews/probe": {"url": "http://localhost:5173/"},
        "PUT /api/cases/order": {"order": ["parser"]},
    }
)  # fmt: skip
"""Example bodies by the name of the operation.

Ids, names and folders are placeholders, which the tests replace by existing ones.
"""
