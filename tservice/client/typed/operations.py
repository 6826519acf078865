"""Each operation that a token may call.  Written by C{make docs}."""

from __future__ import annotations

from tservice.client.typed.access import Access
from tservice.client.typed.approvals import Approvals
from tservice.client.typed.audit import Audit
from tservice.client.typed.cases import Cases
from tservice.client.typed.clis import CLIs
from tservice.client.typed.containers import Containers
from tservice.client.typed.cron import Cron
from tservice.client.typed.diagnostics import Diagnostics
from tservice.client.typed.events import Events
from tservice.client.typed.files import Files
from tservice.client.typed.git import Git
from tservice.client.typed.intent import Intent
from tservice.client.typed.mcp_servers import MCPServers
from tservice.client.typed.models import Models
from tservice.client.typed.remote_hosts import RemoteHosts
from tservice.client.typed.restore import Restore
from tservice.client.typed.sessions import Sessions
from tservice.client.typed.settings import Settings
from tservice.client.typed.terminal import Terminal
from tservice.client.typed.timed_runs import TimedRuns
from tservice.client.typed.users import Users
from tservice.client.typed.waits import Waits
from tservice.client.typed.webhook import Webhook


class Operations(
    Access,
    Approvals,
    Audit,
    CLIs,
    Cases,
    Containers,
    Cron,
    Diagnostics,
    Events,
    Files,
    Git,
    Intent,
    MCPServers,
    Models,
    RemoteHosts,
    Restore,
    Sessions,
    Settings,
    Terminal,
    TimedRuns,
    Users,
    Waits,
    Webhook,
):
    """The API, method by method."""
