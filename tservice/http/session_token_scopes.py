"""Token scopes of operations on sessions and their workspaces: see L{tservice.http.token_scopes}."""

from __future__ import annotations

from tservice.core.scopes import Scope
from tservice.http.token_scope_rule import HOOK_OPERATIONS, Capability, TokenScopeRule, make_rules

SESSIONS: dict[str, TokenScopeRule] = {
    **make_rules(
        Scope.SESSIONS_READ,
        "Reads sessions and their text; the state omits the fields for admins.",
        """
        GET /api/status
        GET /api/sessions
        GET /api/sessions/{id}
        GET /api/sessions/{id}/reachability
        GET /api/sessions/{id}/terminal
        GET /api/sessions/{id}/search
        GET /api/sessions/{id}/last-response
        """,
    ),
    **make_rules(
        Scope.SESSIONS_READ,
        "Reads which models sessions can be given, and what is loaded; no key is shown.",
        """
        GET /api/model-endpoints
        GET /api/model-endpoints/{id}/running-status
        """,
    ),
    **make_rules(
        Scope.SESSIONS_READ,
        "Carries calls of tools, each checked like a separate request with the scopes and sessions"
        " of the token; with the scope approvals it also sends notices of these.",
        """
        POST /mcp
        GET /mcp
        DELETE /mcp
        """,
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "Typing into a shell or an agent is running commands.",
        """
        POST /api/sessions/{id}/input
        POST /api/sessions/{id}/send-key
        POST /api/sessions/{id}/wake
        PUT /api/sessions/{id}/model
        PUT /api/sessions/{id}/effort
        PUT /api/sessions/{id}/permission-mode
        GET /ws/sessions/{id}/terminal
        """,
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "Asks the session's own CLI what to type next, without any tool; nothing is typed.",
        "POST /api/sessions/{id}/readmymind",
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "Words that suggestions are made from.",
        """
        PUT /api/sessions/{id}/intent
        DELETE /api/sessions/{id}/intent
        """,
    ),
    **make_rules(
        Scope.SESSIONS_READ,
        "Goals, and what was said to agents in the workspace.",
        "GET /api/sessions/{id}/intent",
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "Typing includes choosing the size.",
        "POST /api/sessions/{id}/resize",
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Starts programs with arguments, environment and folder of the caller's choice.",
        """
        POST /api/sessions
        POST /api/quick-start
        POST /api/sessions/{id}/start
        POST /api/sessions/{id}/interactive
        POST /api/sessions/{id}/shell
        """,
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Opens a shell that runs git on what a repository of the caller's cases names.",
        "POST /api/cases/{name}/prepare",
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Restarts a session's agent, with a model of an endpoint that an admin has made.",
        "POST /api/sessions/{id}/custom-model",
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Changes or ends the owner's sessions.",
        """
        DELETE /api/sessions/{id}
        DELETE /api/sessions
        PUT /api/sessions/{id}/name
        PUT /api/sessions/{id}/color
        PUT /api/sessions/{id}/pin
        PUT /api/sessions/{id}/nice
        PUT /api/sessions/{id}/flicker-filter
        PUT /api/sessions/{id}/auto-compact
        PUT /api/sessions/{id}/auto-clear
        PUT /api/sessions/{id}/auto-resume
        PUT /api/session-order
        """,
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "Reads files of a workspace, as any program in the session can.",
        """
        GET /api/sessions/{id}/files
        GET /api/sessions/{id}/file-content
        GET /api/sessions/{id}/file-raw
        GET /api/sessions/{id}/tail-file
        GET /api/download
        GET /api/screenshots
        GET /api/screenshots/{name}
        """,
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "Stores the upload in a separate folder, under a generated name.",
        """
        POST /api/sessions/{id}/uploads
        POST /api/sessions/{id}/paste-image
        POST /api/screenshots
        """,
    ),
    **make_rules(
        Scope.SESSIONS_INPUT,
        "The file can be a program that a person or another program runs.",
        "PUT /api/sessions/{id}/file-content",
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **make_rules(
        None,
        "The address opens a file without further credentials; a program sends its token.",
        "POST /api/sessions/{id}/file-link",
        Capability.CREDENTIAL,
        opens=frozenset({"GET /api/file-link/{word}"}),
    ),
    **make_rules(
        Scope.SESSIONS_READ,
        "Names of folders that sessions work in; a bound token sees those of its sessions.",
        """
        GET /api/cases
        GET /api/cases/agent-created
        GET /api/cases/{name}
        """,
    ),
    **make_rules(
        Scope.SESSIONS_READ,
        "What a case's container is made of and uses.",
        """
        GET /api/cases/{name}/container
        """,
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Makes, names and removes folders that sessions may be started in, and looks for them.",
        """
        GET /api/cases/browse
        GET /api/folder-trust
        POST /api/cases
        POST /api/cases/link
        POST /api/cases/remote-link
        POST /api/cases/container-link
        POST /api/cases/container-create
        POST /api/cases/clone
        POST /api/cases/clone/{name}/cancel
        POST /api/cases/{name}/worktree
        PUT /api/cases/order
        DELETE /api/cases/{name}
        """,
    ),
    **make_rules(
        Scope.SESSIONS_READ,
        "Lists sessions that a reboot has ended.",
        "GET /api/reboot-restore",
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Starts sessions again, as starting each of them would.",
        "POST /api/reboot-restore/restore",
        Capability.SHELL,
        opens=HOOK_OPERATIONS,
    ),
    **make_rules(
        Scope.SESSIONS_MANAGE,
        "Only the offer goes; each session can still be started.",
        "POST /api/reboot-restore/dismiss",
    ),
    **make_rules(
        Scope.GIT,
        "Reads the state of the folder of a session or a case.",
        """
        GET /api/cases/{name}/git-status
        GET /api/sessions/{id}/git-status
        GET /api/sessions/{id}/git-diff
        """,
    ),
}
