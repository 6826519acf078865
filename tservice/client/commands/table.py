"""Table of all commands (protocol-tsctl).  It contains data only, as each start of C{tsctl} reads
it.
"""

from __future__ import annotations

from tservice.client.commands.record import Command, Option

SIGNALS = "exit,blocked,stop,idle,working"
SHELLS = ("bash", "zsh", "fish")
CATEGORIES = ("core", "office", "other")

JSON = Option(("--json",), "Print the records as JSON")
SESSION = Option(("SESSION",), "Id, beginning of an id (4 or more), or name", completes="session")
SESSIONS = SESSION._replace(repeat="+")
TIMEOUT = Option(
    ("--timeout",), "Give up after so long", value="SECONDS", number=True, default="60"
)
DATA_DIR = Option(("--data-dir",), "Data folder of the service", value="FOLDER", completes="folder")
OPTION = Option(("--option",), "Choose this option of the dialog", value="N", number=True)
TEXT = Option(("--text",), "Answer with this text", value="TEXT")
ANSI = Option(("--ansi",), "Leave colours and other escape sequences in; trust the program")
NAME = Option(("NAME",), "Name of the case")
LINES = Option(("--lines",), "The last N lines of the history", value="N", number=True)

GLOBAL = (
    Option(("--at",), "A service of ~/.config/tservice/tsctl.yaml", value="NAME"),
    Option(("--version",), "Print the version and exit"),
)

COMMANDS = (
    Command(
        ("ls",), "sessions:ls", "list the sessions, children below their parents",
        (Option(("--watch",), "Keep running, and print the list after each change"), JSON),
        "With --watch and --json each change is one line.",
        aliases=("list",),
    ),
    Command(
        ("new",), "sessions:new", "make and start a session, and print its id",
        (
            Option(("MODE",), "Program to run: shell, primary or another CLI", repeat="?",
                   dest="mode_argument"),
            Option(("--mode",), "The same, as an option", value="MODE"),
            Option(("--name",), "Name of the session", value="NAME"),
            Option(("--dir",), "Folder to work in", value="FOLDER", apart="place",
                   completes="folder"),
            Option(("--case",), "Case to work in", value="CASE", apart="place"),
            Option(("--worktree",), "Work in a new worktree of the case, on this branch",
                   value="BRANCH"),
            Option(("--model",), "The model its agent uses", value="MODEL"),
            Option(("--prompt",), "Type this after the start", value="TEXT"),
            Option(("--wait",), f"Then wait for one of these signals, of {SIGNALS}",
                   value="SIGNALS", bare=True, completes="signals"),
            TIMEOUT, JSON,
        ),
        "FOLDER is on the host that the service runs on.  --wait alone waits for the end of"
        " the turn.",
    ),
    Command(
        ("send",), "turns:send", "type text and press Enter",
        (
            SESSION,
            Option(("TEXT",), "What to type; - or nothing reads it from stdin", repeat="?"),
            Option(("--wait",), f"Then wait for one of these signals, of {SIGNALS}, and print it",
                   value="SIGNALS", completes="signals"),
            TIMEOUT,
            Option(("--raw",), "Type exactly these characters, without Enter"),
            JSON,
        ),
        "The text is typed only once, even if an answer is lost and the request is repeated.",
    ),
    Command(
        ("wait",), "turns:wait", "wait until sessions give a signal, and print it",
        (
            SESSIONS,
            Option(("--until",), f"Signals that end the wait, of {SIGNALS}", value="SIGNALS",
                   completes="signals"),
            Option(("--any",), "Until the first session gives one (default)", apart="need"),
            Option(("--all",), "Until every session has given one", apart="need"),
            Option(("--fresh",), "Ignore signals that already hold"),
            TIMEOUT, JSON,
        ),
        "With several sessions each line has the id and the signal.  Without --until: stop, idle"
        " and exit.",
    ),
    Command(
        ("read",), "reading:read", "print the screen as text",
        (
            SESSION,
            Option(("--full",), "The history too", apart="part"),
            LINES._replace(apart="part"), ANSI, JSON,
        ),
    ),
    Command(
        ("last",), "reading:last", "print the agent's last answer", (SESSION, JSON),
        "From the agent's own transcript.",
    ),
    Command(
        ("tail",), "reading:tail", "print the end of the output",
        (
            SESSION,
            Option(("-f", "--follow"), "Follow the output until the session ends"),
            LINES._replace(default="10"), ANSI,
        ),
        "After a lost connection the output continues where it was cut; a line on stderr says"
        " where output is missing, for example after a restart of the service.",
    ),
    Command(
        ("attach",), "attach:attach", "use a session in this terminal",
        (
            SESSION,
            Option(("--read-only",), "Watch only; the session keeps its size"),
            Option(("--detach-keys",), "Ctrl-KEY, or Ctrl-KEY and another key", value="KEYS",
                   default="Ctrl-\\ d"),
        ),
        "Ctrl-\\ d detaches, Ctrl-\\ Ctrl-\\ types one Ctrl-\\.  A lost connection is restored"
        " and continues where it was cut; text typed in between arrives once.  Queries of"
        " programs to the terminal, titles and the clipboard are filtered out.",
    ),
    Command(
        ("approvals",), "inbox:approvals", "list dialogs that wait for a person", (JSON,),
    ),
    Command(
        ("approve",), "inbox:approve", "approve a dialog, or choose an option",
        (SESSION, OPTION._replace(apart="how"), TEXT._replace(apart="how"), JSON),
    ),
    Command(
        ("deny",), "inbox:deny", "deny a dialog, or choose an option",
        (SESSION, OPTION._replace(apart="how"), TEXT._replace(apart="how"), JSON),
    ),
    Command(("kill",), "sessions:kill", "end and remove sessions", (SESSIONS,)),
    Command(
        ("start",), "sessions:start", "start a session that is not running",
        (SESSION, Option(("--fresh",), "Begin a new conversation instead of the last one"), JSON),
    ),
    Command(
        ("rename",), "sessions:rename", "give a session a name",
        (SESSION, Option(("NAME",), "New name; empty to remove the name"), JSON),
    ),
    Command(("cases", "ls"), "cases:ls", "list the cases", (JSON,)),
    Command(
        ("cases", "new"), "cases:new", "make a case, and print its folder",
        (
            NAME,
            Option(("--path",), "Make it in this folder", value="FOLDER", completes="folder"),
            Option(("--description",), "Purpose of the case", value="TEXT"),
            JSON,
        ),
        "Without --path the folder is made among the cases of the service.",
    ),
    Command(
        ("cases", "link"), "cases:link", "make a case from an existing folder",
        (
            NAME,
            Option(("FOLDER",), "The folder; nothing is written into it", completes="folder"),
            JSON,
        ),
    ),
    Command(
        ("cases", "clone"), "cases:clone", "clone a repository into a new case",
        (
            NAME,
            Option(("REPOSITORY",), "https, http, ssh or git address, or user@host:path"),
            Option(("--ref",), "Check out this branch or tag", value="REF"),
            Option(("--shallow",), "Only the last commit of each branch"),
            JSON,
        ),
        "Prints the folder.  Every user of this machine can read a command line: use a credential"
        " helper on the host of the service, and no password in the address.",
    ),
    Command(
        ("cases", "prepare"), "cases:prepare", "fetch submodules and files of Git LFS",
        (NAME, JSON),
        "Clones and worktrees are made without them.  A shell in the case runs the git of its user;"
        " its id is printed, or nothing if nothing is missing.",
    ),
    Command(
        ("cases", "rm"), "cases:rm", "remove cases",
        (
            NAME._replace(help="Names of the cases", repeat="+"),
            Option(("--force",), "Even if work is not committed or pushed"),
        ),
        "A folder made by the service goes to the trash for 7 days, a worktree is removed and its"
        " branch stays, any other folder is only unlinked.",
    ),
    Command(
        ("files", "ls"), "files:ls", "list a folder of a session's workspace",
        (
            SESSION,
            Option(("PATH",), "Folder; default is the workspace", repeat="?"),
            Option(("--all",), "Hidden files too"),
            JSON,
        ),
    ),
    Command(
        ("files", "get"), "files:get", "fetch a file, or a folder as .tar.gz",
        (
            SESSION,
            Option(("PATH",), "Path in the workspace"),
            Option(("-o", "--output"), "File or folder to write to; - is stdout", value="FILE",
                   completes="file"),
            Option(("--force",), "Replace an existing file"),
        ),
        "Prints the local path.  Files with secrets are refused, and left out of archives.",
    ),
    Command(
        ("files", "put"), "files:put", "upload files to a session's workspace",
        (
            SESSION,
            Option(("FILES",), "Files, at most 20 of 100 MB", repeat="+", completes="file"),
            JSON,
        ),
        "Stored in its folder .service-uploads for a week: name a path in a prompt and the agent"
        " reads it.  Prints the paths.",
    ),
    Command(("cron", "ls"), "cron:ls", "list the scheduled jobs", (JSON,)),
    Command(
        ("cron", "run"), "cron:run", "run a scheduled job now",
        (Option(("JOB",), "Id, beginning of an id (4 or more), or name"), JSON),
        "Prints the id of the new session.",
    ),
    Command(
        ("history",), "history:history", "list past conversations, newest first",
        (
            Option(("QUERY",), "Only those with this in title, folder, mode or id", repeat="?"),
            JSON,
        ),
    ),
    Command(
        ("mcp",), "mcp:mcp", "serve MCP on stdin and stdout: tools for agents",
        (
            Option(("--scopes",), "Offer only the tools that need no other scopes than these",
                   value="SCOPES"),
        ),
        "Ends with its input.  The tools have the rights of TSCTL_TOKEN; use a token with few"
        " scopes.",
    ),
    Command(
        ("skill",), "skill:skill", "print a skill file that teaches an agent to use tsctl",
        (Option(("--agents",), "A section for AGENTS.md instead"),),
        "Nothing is written: tsctl skill > .claude/skills/tservice/SKILL.md, or"
        " tsctl skill --agents >> AGENTS.md.",
        local=True,
    ),
    Command(
        ("doctor",), "local:doctor", "report programs that are missing or too old",
        (
            Option(("CATEGORY",), "Only these", repeat="?", choices=CATEGORIES),
            DATA_DIR, JSON,
        ),
        "Searches your PATH for the CLIs that the clis.json of the data folder"
        " enables.  Needs no running service.  The exit status is 1 when a required check"
        " fails, and 2 when there is no report.",
        local=True,
    ),
    Command(
        ("tls",), "local:tls", "make a key and a self-signed certificate",
        (
            Option(("NAMES",), "DNS names and IP addresses of the certificate", repeat="+"),
            Option(("--out",), "Folder to write to", value="FOLDER", default=".",
                   completes="folder"),
            Option(("--days",), "Validity in days, at most 825", value="N", number=True,
                   default="397"),
        ),
        "Writes key.pem (mode 0600) and certificate.pem, and prints the endpoint to listen on and"
        " the fingerprint to compare with what the browser shows.  A name may begin with *. ;"
        " anything that is neither a name nor an address is refused.  Nothing is overwritten.",
        local=True,
    ),
    Command(
        ("call",), "call:call", "send one request to the API, and print the payload",
        (
            Option(("METHOD",), "GET, POST, PUT, PATCH or DELETE"),
            Option(("PATH",), "Part after /api/v1, with or without its first slash: /sessions"),
            Option(("BODY",), "JSON; - reads it from stdin", repeat="?"),
        ),
    ),
    Command(
        ("completion",), "local:completion", "print a completion script",
        (Option(("SHELL",), "Shell", choices=SHELLS),),
        "bash: source <(tsctl completion bash) in .bashrc.",
        local=True,
    ),
)  # fmt: skip


def find(words: tuple[str, ...]) -> Command:
    """Return the command with this name."""
    return next(command for command in COMMANDS if command.words == words)
