"""Rules that map programs and their arguments to possible risks.

This module does no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

GONE = "Deletes files for good"
DISK = "Overwrites a disk"
WORK = "Discards commits or changes"
RIGHTS = "Changes file permissions"
ROOT = "Runs with the rights of another user"
DATA = "Deletes data of a database"
ELSEWHERE = "Changes a remote system"
PUBLISH = "Publishes something"
NETWORK = "Exchanges data with another machine"
FETCHED = "Runs a program from the network"
PRINTED = "Runs the output of another program"
CODE = "Runs code that deletes, starts or sends something"
SYSTEM = "Changes the system or a login"
MACHINE = "Stops services, programs or the machine"
SECRETS = "Accesses secrets"
SOFTWARE = "Removes software or its data"
TRACES = "Removes traces"
ENDLESS = "Calls itself endlessly"
UNKNOWN = "Runs a command that is only known at run time"
UNREADABLE = "Cannot be parsed as a shell command"

SHELLS = re.compile(r"sh|bash|dash|zsh|ksh|fish|ash|rbash")
EVALUATORS = frozenset(("eval", "source", "."))
_INTERPRETED = r"python[\d.]*|perl|ruby|node|php|lua|deno|bun"
INTERPRETERS = re.compile(_INTERPRETED)
WRAPPERS = re.compile(
    "env|nohup|nice|ionice|time|timeout|command|builtin|exec|setsid|stdbuf|busybox|watch|xargs"
    "|parallel|find|fd|ssh|docker|podman|kubectl|chroot|nsenter|unshare|flock|script|trap|eval"
    "|sudo|doas|strace|entr|unbuffer|systemd-run|tmux|screen|caffeinate"
)
_FETCHES = re.compile(r"\b(?:curl|wget|fetch|aria2c|httpie?|nc|ncat)\b")
_SECRET = re.compile(
    r"/\.ssh/(?!config|known_hosts|.*\.pub$)|\.aws/credentials|\.netrc|\.gnupg|\.pgpass|/etc/shadow"
    r"|/etc/sudoers|\.kube/config|\.docker/config|\.npmrc|\.pypirc|(?:^|/)\.env(?:\.\w+)?$"
    r"|\bid_(?:rsa|ed25519|ecdsa)$"
)
_PLACES = re.compile(
    r"/(?:etc|usr|boot|bin|sbin|lib\w*|sys|proc|root|var/(?:lib|spool))(?:/|$)"
    r"|(?:^|/)\.(?:bash\w*|zsh\w*|profile|login|ssh|gitconfig)(?:/|$)|\.git/(?:hooks|config)"
    r"|\.config/(?:autostart|systemd|fish)"
)

_RULES = (
    ("rm unlink shred srm wipe rimraf trash-empty truncate", r"", GONE),
    ("find fd", r" -delete\b", GONE),
    ("rsync", r" --del(?:ete\S*)?\b| --remove-source", GONE),
    ("mv cp", r"/dev/null", GONE),
    ("mv", r"^ (?:-\S+ )*(?:/|/?\*|~/?|\$HOME/?)(?: |$)", GONE),
    ("dd", r" of=", DISK),
    (r"mkfs\S* wipefs fdisk sfdisk sgdisk parted blkdiscard mkswap cryptsetup lvremove hdparm", "",
     DISK),
    ("git", r" push\b.*(?:-f\b|--force|--delete|-d\b|--mirror|--prune| \+| :)|"
            r" reset\b.*--(?:hard|merge|keep)| clean\b.*-\w*[fdx]"
            r"| checkout\b.*(?:-f\b|--force| -- | \.)"
            r"| restore (?!--staged \S+$)| branch\b.*(?:-D|--delete .*--force|-\w*d\w*f)"
            r"| stash (?:drop|clear)| reflog (?:expire|delete)| gc\b.*--prune"
            r"| filter-(?:branch|repo)"
            r"| update-ref\b.*-d| tag\b.*-d| worktree remove .*-f| rm "
            r"| switch\b.*(?:-f\b|--discard)",
     WORK),
    ("git", r" config\b.*(?:hooksPath|sshCommand|fsmonitor|alias\.|pager|editor|helper|filter\.)"
            r"| -c \S*(?:sshCommand|fsmonitor|hooksPath|alias)", UNKNOWN),
    ("hg svn jj", r" (?:revert|strip|purge|abandon)", WORK),
    ("chmod chown chgrp setfacl",
     r" -\w*R| --recursive| 0?777\b| \w*\+\w*s| [2467]\d{3}\b", RIGHTS),
    ("setcap chattr chpasswd", r"", RIGHTS),
    ("sudo doas su pkexec run0 sudoedit runuser", r"", ROOT),
    ("psql mysql mariadb sqlite3 mongosh mongo redis-cli clickhouse-client cqlsh duckdb",
     r"(?i)drop_(?:table|database|schema|user|role|index)|truncate|delete_from|flushall|flushdb"
     r"|dropdatabase|\.drop\(|deletemany", DATA),
    ("dropdb dropuser", r"", DATA),
    ("mysqladmin", r" drop", DATA),
    ("rake rails prisma artisan manage.py django-admin alembic knex sequelize",
     r"db:(?:drop|reset)| migrate_?reset| migrate reset| flush| downgrade|migrate:fresh", DATA),
    ("kubectl oc",
     r" (?:delete|drain|replace .*--force|scale .*--replicas=0|apply|cordon)", ELSEWHERE),
    ("helm", r" (?:uninstall|delete|rollback|upgrade)", ELSEWHERE),
    ("terraform tofu pulumi cdk", r" (?:apply|destroy|up|taint|state_rm|state rm)\b", ELSEWHERE),
    ("aws gcloud az doctl ibmcloud oci",
     r" (?:rm|rb|mv|sync\b.*--delete)\b|\b(?:delete|terminate|destroy|remove"
     r"|purge|detach|put-\S*policy)", ELSEWHERE),
    ("gh glab",
     r" (?:repo|release|secret|variable|issue|gist|run|ssh-key) (?:delete|remove|edit|set)"
     r"| pr merge| repo archive|(?:-X ?|--method[ =])(?:DELETE|PUT|PATCH|POST)",
     ELSEWHERE),
    ("heroku flyctl fly vercel netlify vagrant virsh firebase wrangler eksctl ansible-playbook",
     r" \S*(?:destroy|delete|remove|rm|undefine|deploy)| \S+\.ya?ml", ELSEWHERE),
    ("npm pnpm yarn bun cargo gem twine poetry uv flit hatch dotnet docker podman",
     r" (?:publish|unpublish|upload|deprecate|yank|push)\b", PUBLISH),
    ("docker podman docker-compose nerdctl",
     r"^ (?:\S+ )?(?:prune|rm|rmi|kill)\b| down\b.*(?:-v\b|--volumes)", SOFTWARE),
    ("docker podman nerdctl",
     r" --privileged| (?:-v|--volume)[ =]/(?:etc|root|var)?/?:|docker\.sock",
     ROOT),
    ("apt apt-get aptitude dpkg yum dnf zypper pacman apk brew snap flatpak pip pip3 pipx conda",
     r" (?:remove|purge|autoremove|erase|uninstall|del|--purge|--remove)\b", SOFTWARE),
    ("pacman dpkg", r" -[RrP]", SOFTWARE),
    ("pip pip3 npm cargo go", r"(?:git\+|https?:)\S+", FETCHED),
    ("curl",
     r" (?:-d|-F|-T|--data\S*|--form\S*|--upload-file|--json)[ =@]"
     r"| -X ?(?:DELETE|PUT|POST|PATCH)"
     r"| --request[ =](?:DELETE|PUT|POST|PATCH)| -\w*[dFT]@", NETWORK),
    ("wget", r" --(?:post|body|method)", NETWORK),
    ("nc ncat netcat telnet socat ftp tftp sftp ssh-copy-id ngrok cloudflared", r"", NETWORK),
    ("scp rsync rclone", r" \S+:|rclone", NETWORK),
    ("ssh", r" -\w*[RLD]", NETWORK),
    (_INTERPRETED.replace("|", " ") + " awk gawk mawk",
     r"rmtree|unlink|remove\(|removedirs|rmdir|system\(|system_|subprocess|exec\(|popen|child_process"
     r"|rmSync|execSync|rm\(|Remove|requests\.|urlopen|urllib|socket|fetch\(|eval\(|pty\.", CODE),
    ("shutdown reboot halt poweroff init telinit killall pkill", r"", MACHINE),
    ("kill", r" -(?:9|KILL|SIGKILL|1)\b| -- -1", MACHINE),
    ("systemctl service rc-service launchctl initctl supervisorctl",
     r" (?:\S+ )?(?:stop|disable|mask|restart|kill|poweroff|reboot|halt|isolate|unload|enable)",
     MACHINE),
    ("iptables ip6tables nft ufw firewall-cmd setenforce", r"", SYSTEM),
    ("useradd userdel usermod groupadd groupdel passwd visudo vipw adduser deluser chsh",
     r"", SYSTEM),
    ("crontab", r" (?!-l)", SYSTEM),
    ("at batch", r"", SYSTEM),
    ("mount umount swapoff insmod rmmod modprobe kexec", r" ", SYSTEM),
    ("sysctl", r" (?:-w|-p|\S+=)", SYSTEM),
    ("history", r" -[cd]", TRACES),
    ("journalctl", r" --vacuum|--rotate", TRACES),
    ("tar", r" --checkpoint-action| --to-command| -\w*P| --remove-files", UNKNOWN),
    ("vi vim nvim ed ex", r" -c ?[:_]*!| \+!", UNKNOWN),
)  # fmt: skip


def _compile_rule(arguments: str) -> re.Pattern[str]:
    # Only from the first match on: later ones would make a long command quadratic.
    return re.compile(re.sub(r" ([\w-]+)\\b\.\*", r"^(?>.*? \1\\b).*", arguments))


@cache
def _compile_rules() -> tuple[tuple[re.Pattern[str], re.Pattern[str], str], ...]:
    """Compile the rules, which takes 10 ms, when the first command waits for approval."""
    return tuple(
        (re.compile("|".join(names.split())), _compile_rule(arguments), hint)
        for names, arguments, hint in _RULES
    )


_WRITERS = re.compile("cp|mv|tee|install|ln|sed|rsync|touch|chmod|chown|dd|tar|unzip|patch")


def find_command_risk(name: str, arguments: Sequence[str]) -> str | None:
    """Return the possible risk of one command; C{None} without one.

    Blanks within an argument are treated as C{_}, so that quoted text is not mistaken for an
    option.
    """
    said = "".join(f" {re.sub(chr(92) + 's', '_', each)}" for each in arguments)
    for names, pattern, hint in _compile_rules():
        if names.fullmatch(name) and pattern.search(said):
            return hint
    if any(map(_SECRET.search, arguments)):
        return SECRETS
    writes = _WRITERS.fullmatch(name) and (name != "sed" or re.search(r" -\w*i| --in-place", said))
    return next(filter(None, map(find_path_risk, arguments)), None) if writes else None


def find_path_risk(path: str) -> str | None:
    """Return the possible risk of writing to a path; C{None} without one."""
    if re.match(r"/dev/(?:sd|nvme|vd|hd|xvd|mmc|disk|mem|mapper)", path):
        return DISK
    return SYSTEM if _PLACES.search(path) else None


def find_script_output_risk(words: str) -> str:
    """Return the risk of running a script that other programs produce."""
    return FETCHED if _FETCHES.search(words) else PRINTED
