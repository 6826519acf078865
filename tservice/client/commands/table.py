"""Table of all commands (protocol-tsctl).

The module contains data only, because every start of C{tsctl} imports it.
"""

from __future__ import annotations

from typing import get_args

from tservice.client.commands.record import CommandOption, CommandSpec
from tservice.client.wait_limits import Signal

SIGNALS = ",".join(get_args(Signal))
SHELLS = ("bash", "zsh", "fish")
SNOOZES = ("30m", "tomorrow", "asks", "off")
CATEGORIES = ("core", "office", "other")

JSON = CommandOption(("--json",), "Print the records as JSON")
SESSION = CommandOption(
    ("SESSION",), "Id, beginning of an id (4 or more), or name", completes="session"
)
SESSIONS = SESSION._replace(repeat="+")
TIMEOUT = CommandOption(
    ("--timeout",), "Give up after so long", value="SECONDS", number=True, default="60"
)
DATA_DIR = CommandOption(
    ("--data-dir",), "Data folder of the service", value="FOLDER", completes="folder"
)
OPTION = CommandOption(("--option",), "Choose this option of the dialog", value="N", number=True)
TEXT = CommandOption(("--text",), "Answer with this text", value="TEXT")
REASON = CommandOption(
    ("--reason",), "Tell the agent why; it continues with that", value="TEXT", apart="how"
)
ANSI = CommandOption(("--ansi",), "Leave colours and other escape sequences in; trust the program")
BASE = CommandOption(
    ("--base",), "Compare with this branch, tag, commit, session:ID or turn:AT", value="REF"
)
TARGET = CommandOption(
    ("--target",), "Compare this, named like the base; default: the files as they are", value="REF"
)
NAME = CommandOption(("NAME",), "Name of the case")
REPO = CommandOption(
    ("--repo",), "Repository in the session's folder; default: the first", value="PATH"
)
LINES = CommandOption(("--lines",), "The last N lines of the history", value="N", number=True)
RULE = (
    CommandOption(
        ("--action",),
        "What the rule does",
        value="ACTION",
        default="allow",
        choices=("allow", "deny", "ask"),
    ),
    CommandOption(("--prefix",), "First words of a command", value="WORDS", apart="match"),
    CommandOption(("--pattern",), "All words of a command, with *", value="WORDS", apart="match"),
    CommandOption(("--exact",), "Exact text of a command", value="TEXT", apart="match"),
    CommandOption(
        ("--path",), "Files, as a glob in the session's folder", value="GLOB", apart="match"
    ),
    CommandOption(("--url",), "Host of an address", value="HOST", apart="match"),
    CommandOption(
        ("--mcp",), "MCP tool, or all of a server with *", value="SERVER/TOOL", apart="match"
    ),
    CommandOption(("--tool",), "Tool of the agent, such as Bash, Edit or Read", value="TOOL"),
    CommandOption(
        ("--session",), "Only this session", value="SESSION", apart="scope", completes="session"
    ),
    CommandOption(("--case",), "Only sessions of this case", value="CASE", apart="scope"),
    CommandOption(("--minutes",), "End the rule after so long", value="N", number=True),
    CommandOption(("--note",), "Name of the rule", value="TEXT"),
)

GLOBAL = (
    CommandOption(("--at",), "A service of ~/.config/tservice/tsctl.yaml", value="NAME"),
    CommandOption(("--version",), "Print the version and exit"),
)

COMMANDS = (
    CommandSpec(
        ("ls",), "sessions:ls", "list the sessions, children below their parents",
        (CommandOption(("--watch",), "Keep running, and print the list after each change"), JSON),
        "With --watch and --json each change is one line.",
        aliases=("list",),
    ),
    CommandSpec(
        ("new",), "sessions:new", "make and start a session, and print its id",
        (
            CommandOption(("MODE",), "Program to run: shell, primary or another CLI", repeat="?",
                   dest="mode_argument"),
            CommandOption(("--mode",), "The same, as an option", value="MODE"),
            CommandOption(("--name",), "Name of the session", value="NAME"),
            CommandOption(("--dir",), "Folder to work in", value="FOLDER", apart="place",
                   completes="folder"),
            CommandOption(("--case",), "Case to work in", value="CASE", apart="place"),
            CommandOption(("--worktree",), "Work in a new worktree of the case, on this branch",
                   value="BRANCH"),
            CommandOption(("--model",), "The model its agent uses", value="MODEL"),
            CommandOption(("--prompt",), "Type this after the start", value="TEXT"),
            CommandOption(("--wait",), f"Then wait for one of these signals, of {SIGNALS}",
                   value="SIGNALS", bare=True, completes="signals"),
            TIMEOUT, JSON,
        ),
        "FOLDER is on the host that the service runs on.  --wait alone waits for the end of"
        " the turn.",
    ),
    CommandSpec(
        ("send",), "turns:send", "type text and press Enter",
        (
            SESSION,
            CommandOption(("TEXT",), "What to type; - or nothing reads it from stdin", repeat="?"),
            CommandOption(("--wait",),
                          f"Then wait for one of these signals, of {SIGNALS}, and print it",
                   value="SIGNALS", completes="signals"),
            TIMEOUT,
            CommandOption(("--raw",), "Type exactly these characters, without Enter"),
            JSON,
        ),
        "The text is typed only once, even if an answer is lost and the request is repeated.",
    ),
    CommandSpec(
        ("wait",), "turns:wait", "wait until sessions give a signal, and print it",
        (
            SESSIONS,
            CommandOption(("--until",), f"Signals that end the wait, of {SIGNALS}", value="SIGNALS",
                   completes="signals"),
            CommandOption(("--any",), "Until the first session gives one (default)", apart="need"),
            CommandOption(("--all",), "Until every session has given one", apart="need"),
            CommandOption(("--fresh",), "Ignore signals that already hold"),
            TIMEOUT, JSON,
        ),
        "With several sessions each line has the id and the signal.  Without --until: stop, idle"
        " and exit.",
    ),
    CommandSpec(
        ("read",), "reading:read", "print the screen as text",
        (
            SESSION,
            CommandOption(("--full",), "The history too", apart="part"),
            LINES._replace(apart="part"), ANSI, JSON,
        ),
    ),
    CommandSpec(
        ("last",), "reading:last", "print the agent's last answer", (SESSION, JSON),
        "From the agent's own transcript.",
    ),
    CommandSpec(
        ("conversation",), "conversation:conversation",
        "print what the agent said and did",
        (
            SESSION,
            CommandOption(("-f", "--follow"), "Then print new items until it is interrupted"),
            CommandOption(("--lines",), "The last N items", value="N", number=True, default="50"),
            CommandOption(("--branch",), "The conversation of this sub-agent", value="ID"),
            JSON,
        ),
        "From the agent's own transcript: prompts, answers, and a line for each tool.  With -f"
        " and --json each change is one line.",
    ),
    CommandSpec(
        ("tail",), "reading:tail", "print the end of the output",
        (
            SESSION,
            CommandOption(("-f", "--follow"), "Follow the output until the session ends"),
            LINES._replace(default="10"), ANSI,
        ),
        "After a lost connection the output continues where it was cut; a line on stderr says"
        " where output is missing, for example after a restart of the service.",
    ),
    CommandSpec(
        ("attach",), "attach:attach", "use a session in this terminal",
        (
            SESSION,
            CommandOption(("--read-only",), "Watch only; the session keeps its size"),
            CommandOption(("--detach-keys",), "Ctrl-KEY, or Ctrl-KEY and another key", value="KEYS",
                   default="Ctrl-\\ d"),
        ),
        "Ctrl-\\ d detaches, Ctrl-\\ Ctrl-\\ types one Ctrl-\\.  A lost connection is restored"
        " and continues where it was cut; text typed in between arrives once.  Queries of"
        " programs to the terminal, titles and the clipboard are filtered out.",
    ),
    CommandSpec(
        ("approvals",), "inbox:approvals", "list dialogs that wait for a person", (JSON,),
    ),
    CommandSpec(
        ("approve",), "inbox:approve", "approve a dialog, or choose an option",
        (SESSION, OPTION._replace(apart="how"), TEXT._replace(apart="how"), JSON),
    ),
    CommandSpec(
        ("deny",), "inbox:deny", "deny a dialog, or choose an option",
        (SESSION, OPTION._replace(apart="how"), TEXT._replace(apart="how"), REASON, JSON),
    ),
    CommandSpec(
        ("rules", "ls"), "rules:ls", "list the rules that answer agents, and suggestions", (JSON,)
    ),
    CommandSpec(
        ("rules", "add"), "rules:add", "make a rule that answers agents, and print its id",
        (*RULE, JSON),
        "A rule answers what agents ask: by the first words of a command, by all words with *, by"
        " its exact text, by a file, a host or an MCP tool.",
    ),
    CommandSpec(
        ("rules", "preview"), "rules:preview", "show what a rule would have answered",
        (*RULE, JSON),
    ),
    CommandSpec(
        ("rules", "rm"), "rules:rm", "remove a rule",
        (CommandOption(("RULE",), "Id, beginning of an id (4 or more), or name"), JSON),
    ),
    CommandSpec(("kill",), "sessions:kill", "end and remove sessions", (SESSIONS,)),
    CommandSpec(
        ("start",), "sessions:start", "start a session that is not running",
        (SESSION, CommandOption(("--fresh",), "Begin a new conversation instead of the last one"),
         JSON),
    ),
    CommandSpec(
        ("rename",), "sessions:rename", "give a session a name",
        (SESSION, CommandOption(("NAME",), "New name; empty to remove the name"), JSON),
    ),
    CommandSpec(
        ("snooze",), "sessions:snooze", "pause the notices about a session",
        (
            SESSION,
            CommandOption(("UNTIL",), "End of the pause; off ends it now", repeat="?",
                   choices=SNOOZES),
            JSON,
        ),
        "30m is half an hour, tomorrow is 8:00 in the time zone of TZ or of the service, asks lasts"
        " until the session asks something.",
    ),
    CommandSpec(
        ("away",), "sessions:away", "list what sessions did since you looked at them", (JSON,),
    ),
    CommandSpec(("cases", "ls"), "cases:ls", "list the cases", (JSON,)),
    CommandSpec(
        ("cases", "new"), "cases:new", "make a case, and print its folder",
        (
            NAME,
            CommandOption(("--path",), "Make it in this folder", value="FOLDER",
                          completes="folder"),
            CommandOption(("--description",), "Purpose of the case", value="TEXT"),
            JSON,
        ),
        "Without --path the folder is made among the cases of the service.",
    ),
    CommandSpec(
        ("cases", "link"), "cases:link", "make a case from an existing folder",
        (
            NAME,
            CommandOption(("FOLDER",), "The folder; nothing is written into it",
                          completes="folder"),
            JSON,
        ),
    ),
    CommandSpec(
        ("cases", "clone"), "cases:clone", "clone a repository into a new case",
        (
            NAME,
            CommandOption(("REPOSITORY",), "https, http, ssh or git address, or user@host:path"),
            CommandOption(("--ref",), "Check out this branch or tag", value="REF"),
            CommandOption(("--shallow",), "Only the last commit of each branch"),
            JSON,
        ),
        "Prints the folder.  Every user of this machine can read a command line: use a credential"
        " helper on the host of the service, and no password in the address.",
    ),
    CommandSpec(
        ("cases", "prepare"), "cases:prepare", "fetch submodules and files of Git LFS",
        (NAME, JSON),
        "Clones and worktrees are made without them.  A shell in the case runs the git of its user;"
        " its id is printed, or nothing if nothing is missing.",
    ),
    CommandSpec(
        ("cases", "rm"), "cases:rm", "remove cases",
        (
            NAME._replace(help="Names of the cases", repeat="+"),
            CommandOption(("--force",), "Even if work is not committed or pushed"),
        ),
        "A folder made by the service goes to the trash for 7 days, a worktree is removed and its"
        " branch stays, any other folder is only unlinked.",
    ),
    CommandSpec(
        ("review", "changes"), "review:changes", "list the files that a session changed",
        (SESSION, BASE, TARGET, JSON),
        "Without --base they are compared with where the branch began, else with the commit at the"
        " session's start.",
    ),
    CommandSpec(
        ("review", "diff"), "review:diff", "print the changes of one file",
        (
            SESSION,
            CommandOption(("PATH",), "Path as the list of changes has it"),
            BASE,
            TARGET,
            JSON,
        ),
    ),
    CommandSpec(
        ("review", "comments"), "review:comments", "list the comments on a session's changes",
        (SESSION, JSON),
        "The places are those of the lines as the files are now.",
    ),
    CommandSpec(
        ("review", "comment"), "review:comment", "comment on a line of a changed file",
        (
            SESSION,
            CommandOption(("PLACE",), "Path and line, such as src/main.py:12"),
            CommandOption(("TEXT",), "The comment"),
            JSON,
        ),
        "Prints the id of the comment.  Nothing is sent yet.",
    ),
    CommandSpec(
        ("review", "send"), "review:send", "send all open comments to the agent as one prompt",
        (
            SESSION,
            CommandOption(("--note",), "Text for the agent, after the comments", value="TEXT"),
            CommandOption(("--even-while-busy",), "Also while the agent works"),
            JSON,
        ),
    ),
    CommandSpec(
        ("pr", "show"), "pulls:show", "show the pull request of a session's branch",
        (SESSION, REPO, JSON),
        "Prints its state, its checks and the comments of people, by the gh or glab of the user of"
        " the session.",
    ),
    CommandSpec(
        ("pr", "create"), "pulls:create", "push the branch and open its pull request",
        (
            SESSION,
            CommandOption(("--title",), "Title; default: one from the commits", value="TEXT"),
            CommandOption(("--body",), "Description; default: the list of commits", value="TEXT"),
            CommandOption(("--base",), "Branch to merge into", value="BRANCH"),
            CommandOption(("--draft",), "Open it as a draft"),
            CommandOption(("--reviewers",), "Names at the forge, with commas", value="NAMES"),
            REPO,
            JSON,
        ),
        "Pushes with the git of the session's user and its hooks.  Prints the address.",
    ),
    CommandSpec(
        ("pr", "log"), "pulls:log", "print the end of a failed check's log",
        (SESSION, CommandOption(("CHECK",), "Name of the check"), REPO),
    ),
    CommandSpec(
        ("pr", "mend"), "pulls:mend", "send the failed checks to the agent as one prompt",
        (SESSION, CommandOption(("--even-while-busy",), "Also while the agent works"), REPO, JSON),
        "The prompt has the ends of their logs.  Prints the names of the checks.",
    ),
    CommandSpec(
        ("checks", "ls"), "checks:ls", "list the results of a session's checks", (SESSION, JSON),
        "Shows the last run.  Checks run after a turn that changed the workspace.",
    ),
    CommandSpec(
        ("checks", "log"), "checks:log", "print the end of a check's output",
        (SESSION, CommandOption(("NAME",), "Name of the check")),
    ),
    CommandSpec(
        ("checks", "run"), "checks:run", "run the checks of a session now", (SESSION, JSON),
        "Prints the id of the run.  \"tsctl wait --until checks\" waits for its end.",
    ),
    CommandSpec(
        ("checks", "cancel"), "checks:cancel", "cancel the running checks of a session", (SESSION,),
    ),
    CommandSpec(
        ("checks", "get"), "checks:get", "print the checks of a case as JSON", (NAME,),
    ),
    CommandSpec(
        ("checks", "set"), "checks:set_checks", "replace the checks of a case",
        (NAME, CommandOption(("FILE",), "JSON as \"checks get\" prints it; - reads it from the"
                             " standard input", completes="file"), JSON),
        "They run commands later, as the user of the sessions.",
    ),
    CommandSpec(
        ("checks", "file"), "checks:show_file", "print the file with checks of a session's folder",
        (SESSION, JSON),
        "Prints the state and the hash of .tservice.yaml, and its text or what changed in it since"
        " it was approved.",
    ),
    CommandSpec(
        ("checks", "approve"), "checks:approve_file", "approve the checks that a repository brings",
        (SESSION, CommandOption(("HASH",), "Hash that \"checks file\" printed"), JSON),
        "They run commands later, as the user of the session.  Another content than the one with"
        " this hash is not approved.",
    ),
    CommandSpec(
        ("checks", "withdraw"), "checks:withdraw_file", "withdraw the approval of those checks",
        (SESSION,),
    ),
    CommandSpec(
        ("files", "ls"), "files:ls", "list a folder of a session's workspace",
        (
            SESSION,
            CommandOption(("PATH",), "Folder; default is the workspace", repeat="?"),
            CommandOption(("--all",), "Hidden files too"),
            JSON,
        ),
    ),
    CommandSpec(
        ("files", "get"), "files:get", "fetch a file, or a folder as .tar.gz",
        (
            SESSION,
            CommandOption(("PATH",), "Path in the workspace"),
            CommandOption(("-o", "--output"), "File or folder to write to; - is stdout",
                          value="FILE",
                   completes="file"),
            CommandOption(("--force",), "Replace an existing file"),
        ),
        "Prints the local path.  Files with secrets are refused, and left out of archives.",
    ),
    CommandSpec(
        ("files", "put"), "files:put", "upload files to a session's workspace",
        (
            SESSION,
            CommandOption(("FILES",), "Files, at most 20 of 100 MB", repeat="+", completes="file"),
            JSON,
        ),
        "Stored in its folder .service-uploads for a week: name a path in a prompt and the agent"
        " reads it.  Prints the paths.",
    ),
    CommandSpec(("cron", "ls"), "cron:ls", "list the scheduled jobs", (JSON,)),
    CommandSpec(
        ("cron", "run"), "cron:run", "run a scheduled job now",
        (CommandOption(("JOB",), "Id, beginning of an id (4 or more), or name"), JSON),
        "Prints the id of the new session.",
    ),
    CommandSpec(
        ("history",), "history:history", "list past conversations, newest first",
        (
            CommandOption(("QUERY",), "Only those with this in title, folder, mode or id",
                          repeat="?"),
            JSON,
        ),
    ),
    CommandSpec(
        ("mcp",), "mcp:mcp", "serve MCP on stdin and stdout: tools for agents",
        (
            CommandOption(("--scopes",),
                          "Offer only the tools that need no other scopes than these",
                   value="SCOPES"),
        ),
        "Ends with its input.  The tools have the rights of TSCTL_TOKEN; use a token with few"
        " scopes.",
    ),
    CommandSpec(
        ("skill",), "skill:skill", "print a skill file that teaches an agent to use tsctl",
        (CommandOption(("--agents",), "A section for AGENTS.md instead"),),
        "Nothing is written: tsctl skill > .claude/skills/tservice/SKILL.md, or"
        " tsctl skill --agents >> AGENTS.md.",
        local=True,
    ),
    CommandSpec(
        ("doctor",), "local:doctor", "report programs that are missing or too old",
        (
            CommandOption(("CATEGORY",), "Only these", repeat="?", choices=CATEGORIES),
            DATA_DIR, JSON,
        ),
        "Searches your PATH for the CLIs that the clis.json of the data folder"
        " enables.  Needs no running service.  The exit status is 1 when a required check"
        " fails, and 2 when there is no report.",
        local=True,
    ),
    CommandSpec(
        ("tls",), "local:tls", "make a key and a self-signed certificate",
        (
            CommandOption(("NAMES",), "DNS names and IP addresses of the certificate", repeat="+"),
            CommandOption(("--out",), "Folder to write to", value="FOLDER", default=".",
                   completes="folder"),
            CommandOption(("--days",), "Validity in days, at most 825", value="N", number=True,
                   default="397"),
        ),
        "Writes key.pem (mode 0600) and certificate.pem, and prints the endpoint to listen on and"
        " the fingerprint to compare with what the browser shows.  A name may begin with *. ;"
        " anything that is neither a name nor an address is refused.  Nothing is overwritten.",
        local=True,
    ),
    CommandSpec(
        ("call",), "call:call", "send one request to the API, and print the payload",
        (
            CommandOption(("METHOD",), "GET, POST, PUT, PATCH or DELETE"),
            CommandOption(("PATH",),
                          "Part after /api/v1, with or without its first slash: /sessions"),
            CommandOption(("BODY",), "JSON; - reads it from stdin", repeat="?"),
        ),
    ),
    CommandSpec(
        ("completion",), "local:completion", "print a completion script",
        (CommandOption(("SHELL",), "Shell", choices=SHELLS),),
        "bash: source <(tsctl completion bash) in .bashrc.",
        local=True,
    ),
)  # fmt: skip


def find_command(words: tuple[str, ...]) -> CommandSpec:
    """Return the command with this name."""
    return next(command for command in COMMANDS if command.words == words)
