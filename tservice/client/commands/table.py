"""Every command (protocol-tsctl).  Data only: each start of C{tsctl} reads it."""

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
NAME = Option(("NAME",), "What the case is called")
LINES = Option(("--lines",), "The last N lines of the history", value="N", number=True)

GLOBAL = (
    Option(("--at",), "A service of ~/.config/tservice/tsctl.yaml", value="NAME"),
    Option(("--version",), "Print the version and exit"),
)

COMMANDS = (
    Command(
        ("ls",), "sessions:ls", "list the sessions, children below their parents",
        (Option(("--watch",), "Go on, and print them anew at each change"), JSON),
        "With --watch and --json each change is one line.",
        aliases=("list",),
    ),
    Command(
        ("new",), "sessions:new", "make and start a session, and print its id",
        (
            Option(("MODE",), "What runs in it: shell, primary or another CLI", repeat="?",
                   dest="mode_argument"),
            Option(("--mode",), "The same as an option", value="MODE"),
            Option(("--name",), "What to call it", value="NAME"),
            Option(("--dir",), "Where it works", value="FOLDER", apart="place",
                   completes="folder"),
            Option(("--case",), "The case it works in", value="CASE", apart="place"),
            Option(("--worktree",), "Work in a new worktree of the case, on this branch",
                   value="BRANCH"),
            Option(("--model",), "The model its agent uses", value="MODEL"),
            Option(("--prompt",), "Type this once it has started", value="TEXT"),
            Option(("--wait",), f"Then wait for one of these signals, of {SIGNALS}",
                   value="SIGNALS", bare=True, completes="signals"),
            TIMEOUT, JSON,
        ),
        "A folder is one of the host that the service runs on.  --wait alone waits for the end of"
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
        "What was typed once is not typed again when an answer is lost and asked for anew.",
    ),
    Command(
        ("wait",), "turns:wait", "wait until sessions give a signal, and print it",
        (
            SESSIONS,
            Option(("--until",), f"Which signals end the wait, of {SIGNALS}", value="SIGNALS",
                   completes="signals"),
            Option(("--any",), "Until the first session gives one; as without it", apart="need"),
            Option(("--all",), "Until every session has given one", apart="need"),
            Option(("--fresh",), "What already holds does not count"),
            TIMEOUT, JSON,
        ),
        "Of several sessions each line holds the id and the signal.  Without --until: stop, idle"
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
            Option(("-f", "--follow"), "Go on with what is printed, until the session ends"),
            LINES._replace(default="10"), ANSI,
        ),
        "A lost connection is made again, and goes on where it was cut; a line on stderr tells"
        " where output is missing, as after a restart of the service.",
    ),
    Command(
        ("attach",), "attach:attach", "use a session in this terminal",
        (
            SESSION,
            Option(("--read-only",), "Only look on; the session keeps its size"),
            Option(("--detach-keys",), "Ctrl-KEY, or Ctrl-KEY and another key", value="KEYS",
                   default="Ctrl-\\ d"),
        ),
        "Ctrl-\\ d detaches, Ctrl-\\ Ctrl-\\ types one Ctrl-\\.  A lost connection is made again"
        " and goes on where it was cut; what was typed meanwhile arrives, once.  Questions of"
        " programs to the terminal, titles and the clipboard are kept from it.",
    ),
    Command(
        ("approvals",), "inbox:approvals", "list what waits for a person", (JSON,),
    ),
    Command(
        ("approve",), "inbox:approve", "answer a dialog by yes, or as an option says",
        (SESSION, OPTION._replace(apart="how"), TEXT._replace(apart="how"), JSON),
    ),
    Command(
        ("deny",), "inbox:deny", "answer a dialog by no, or as an option says",
        (SESSION, OPTION._replace(apart="how"), TEXT._replace(apart="how"), JSON),
    ),
    Command(("kill",), "sessions:kill", "end and remove sessions", (SESSIONS,)),
    Command(
        ("start",), "sessions:start", "start a session that does not run",
        (SESSION, Option(("--fresh",), "Begin a new conversation, not the last one anew"), JSON),
    ),
    Command(
        ("rename",), "sessions:rename", "give a session a name",
        (SESSION, Option(("NAME",), "Its new name; an empty one takes it away"), JSON),
    ),
    Command(("cases", "ls"), "cases:ls", "list the cases", (JSON,)),
    Command(
        ("cases", "new"), "cases:new", "make a case, and print its folder",
        (
            NAME,
            Option(("--path",), "Make it in this folder", value="FOLDER", completes="folder"),
            Option(("--description",), "What it is for", value="TEXT"),
            JSON,
        ),
        "Without --path the folder is made among the cases of the service.",
    ),
    Command(
        ("cases", "link"), "cases:link", "make a case of a folder that is there",
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
        " its id is printed, and nothing where nothing is lacking.",
    ),
    Command(
        ("cases", "rm"), "cases:rm", "remove cases",
        (
            NAME._replace(help="Names of the cases", repeat="+"),
            Option(("--force",), "Also with work that is neither committed nor pushed"),
        ),
        "A folder of the service's goes to the trash for 7 days, a worktree is removed and its"
        " branch stays, any other folder is only unlinked.",
    ),
    Command(
        ("files", "ls"), "files:ls", "list a folder of a session's workspace",
        (
            SESSION,
            Option(("PATH",), "Which folder; the workspace itself", repeat="?"),
            Option(("--all",), "Hidden files too"),
            JSON,
        ),
    ),
    Command(
        ("files", "get"), "files:get", "fetch a file, or a folder as .tar.gz",
        (
            SESSION,
            Option(("PATH",), "What to fetch, in the workspace"),
            Option(("-o", "--output"), "File or folder to write to; - is stdout", value="FILE",
                   completes="file"),
            Option(("--force",), "Replace what is there"),
        ),
        "Prints where it is now.  Files with secrets are refused, and left out of archives.",
    ),
    Command(
        ("files", "put"), "files:put", "keep files in a session's workspace, and print where",
        (
            SESSION,
            Option(("FILES",), "What to send, 20 of 100 MB at most", repeat="+", completes="file"),
            JSON,
        ),
        "In its folder .service-uploads, for a week: name a path in a prompt and the agent reads"
        " it.",
    ),
    Command(("cron", "ls"), "cron:ls", "list the scheduled jobs", (JSON,)),
    Command(
        ("cron", "run"), "cron:run", "run a scheduled job now",
        (Option(("JOB",), "Id, beginning of an id (4 or more), or name"), JSON),
        "Prints the id of the session that it makes.",
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
        "Ends with its input.  What its tools may do is what TSCTL_TOKEN may; give it one with few"
        " scopes.",
    ),
    Command(
        ("skill",), "skill:skill", "print what teaches an agent to use this: a skill file",
        (Option(("--agents",), "A section for AGENTS.md instead"),),
        "Nothing is written: tsctl skill > .claude/skills/tservice/SKILL.md, or"
        " tsctl skill --agents >> AGENTS.md.",
        local=True,
    ),
    Command(
        ("doctor",), "local:doctor", "say which programs are missing or too old",
        (
            Option(("CATEGORY",), "Only these", repeat="?", choices=CATEGORIES),
            DATA_DIR, JSON,
        ),
        "Looks by the PATH of whoever asks, for the CLIs that the clis.json of the data folder"
        " switches on.  Needs no running service.  The exit status is 1 when a required one"
        " fails, and 2 when there was no report.",
        local=True,
    ),
    Command(
        ("tls",), "local:tls", "make a key and a self-signed certificate",
        (
            Option(("NAMES",), "DNS names and IP addresses that it is for", repeat="+"),
            Option(("--out",), "Folder to write to", value="FOLDER", default=".",
                   completes="folder"),
            Option(("--days",), "How long it holds, 825 at most", value="N", number=True,
                   default="397"),
        ),
        "Writes key.pem (mode 0600) and certificate.pem, and prints the endpoint to listen on and"
        " the fingerprint to compare with what the browser shows.  A name may begin with *. ;"
        " what is neither name nor address is refused.  Nothing is overwritten.",
        local=True,
    ),
    Command(
        ("call",), "call:call", "send one request to the API, and print the payload",
        (
            Option(("METHOD",), "GET, POST, PUT, PATCH or DELETE"),
            Option(("PATH",), "From /api/v1 on, with or without its first slash: /sessions"),
            Option(("BODY",), "JSON; - reads it from stdin", repeat="?"),
        ),
    ),
    Command(
        ("completion",), "local:completion", "print a completion script",
        (Option(("SHELL",), "Which shell's", choices=SHELLS),),
        "bash: source <(tsctl completion bash) in .bashrc.",
        local=True,
    ),
)  # fmt: skip


def find(words: tuple[str, ...]) -> Command:
    """The command that is called so."""
    return next(command for command in COMMANDS if command.words == words)
