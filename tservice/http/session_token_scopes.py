"""Token scopes of operations on sessions and workspaces, see L{tservice.http.token_scopes}."""

from __future__ import annotations

from attrs import frozen

from tservice.core.scopes import Scope


@frozen
class TokenScopeRule:
    """Decision which token scope an operation needs.

    @ivar scope: the scope that a token needs.  C{None} if no token may call the operation.
    @ivar why: the reason, as a sentence.
    """

    scope: Scope | None
    why: str


def make_scope_rules(scope: Scope | None, why: str, names: str) -> dict[str, TokenScopeRule]:
    """Return the same rule for several operations.

    @param why: the reason, as a sentence.
    @param names: the operations' names, one per line.
    """
    rule = TokenScopeRule(scope, why)
    return {line.strip(): rule for line in names.strip().splitlines()}


SESSIONS: dict[str, TokenScopeRule] = {
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Reads sessions and their text. The initial state omits the fields for admins.",
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
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Reads the models that sessions can use, and the loaded ones. No key is shown.",
        """
        GET /api/model-endpoints
        GET /api/model-endpoints/{id}/running-status
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Makes tool calls. Each is checked with the scopes and sessions of the token like a"
        " separate request. Notifications of approvals also need the scope approvals.",
        """
        POST /mcp
        GET /mcp
        DELETE /mcp
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "Typing into a shell or an agent runs commands.",
        """
        POST /api/sessions/{id}/input
        POST /api/sessions/{id}/send-key
        POST /api/sessions/{id}/wake
        PUT /api/sessions/{id}/model
        PUT /api/sessions/{id}/effort
        PUT /api/sessions/{id}/permission-mode
        GET /ws/sessions/{id}/terminal
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "Asks the session's own CLI for the next input, without any tool. Nothing is typed.",
        "POST /api/sessions/{id}/readmymind",
    ),
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "Text from which suggestions are made.",
        """
        PUT /api/sessions/{id}/intent
        DELETE /api/sessions/{id}/intent
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Reads goals, and the prompts to agents in the workspace.",
        "GET /api/sessions/{id}/intent",
    ),
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "The size is set by the client that types.",
        "POST /api/sessions/{id}/resize",
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Starts programs with arguments, an environment and a folder that the caller chooses.",
        """
        POST /api/sessions
        POST /api/quick-start
        POST /api/sessions/{id}/start
        POST /api/sessions/{id}/interactive
        POST /api/sessions/{id}/shell
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Opens a shell that runs git on the sources named in a repository of the caller's cases.",
        "POST /api/cases/{name}/prepare",
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Restarts a session's agent with a model of an endpoint that an admin has added.",
        "POST /api/sessions/{id}/custom-model",
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Changes or ends your own sessions.",
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
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "Reads files of a workspace. A caller who can type there can read them as well.",
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
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "Saves an upload in a separate folder, under a generated name.",
        """
        POST /api/sessions/{id}/uploads
        POST /api/sessions/{id}/paste-image
        POST /api/screenshots
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_INPUT,
        "The written file can be a program that a user runs, or that runs automatically.",
        "PUT /api/sessions/{id}/file-content",
    ),
    **make_scope_rules(
        None,
        "The address opens a file for anyone who has it. A program uses its token instead.",
        "POST /api/sessions/{id}/file-link",
    ),
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Reads the names of folders that sessions work in. A token limited to some sessions sees"
        " only their folders.",
        """
        GET /api/cases
        GET /api/cases/agent-created
        GET /api/cases/{name}
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Reads the settings and the resource use of a case's container.",
        """
        GET /api/cases/{name}/container
        """,
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Lists, creates, names and removes folders that sessions may be started in.",
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
    **make_scope_rules(
        Scope.SESSIONS_READ,
        "Lists the sessions that a reboot has ended.",
        "GET /api/reboot-restore",
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Restarts sessions, with the same effect as starting each of them.",
        "POST /api/reboot-restore/restore",
    ),
    **make_scope_rules(
        Scope.SESSIONS_MANAGE,
        "Removes only the offer. Each session can still be started.",
        "POST /api/reboot-restore/dismiss",
    ),
    **make_scope_rules(
        Scope.GIT,
        "Reads the git state of the folder of a session or a case.",
        """
        GET /api/cases/{name}/git-status
        GET /api/sessions/{id}/git-status
        GET /api/sessions/{id}/git-diff
        """,
    ),
}
