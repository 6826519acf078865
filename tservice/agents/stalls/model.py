"""Facts about an agent at work, and stalls that follow from them.

Times are in Unix milliseconds.
"""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class ToolOutcome:
    """Call of a tool that has ended.

    @ivar title: one line that names the call, such as C{Bash npm test}.
    @ivar call: digest of its input; equal for equal calls.
    @ivar path: file that it wrote; C{None} if it wrote none.
    """

    title: str
    call: str
    failed: bool
    path: str | None = None


@frozen(kw_only=True)
class TerminalWait:
    """Program in a session that waits for a person at the terminal.

    @ivar name: name of the program.
    @ivar since: time at which it was seen first.
    """

    name: str
    since: int


@frozen(kw_only=True)
class StallFacts:
    """Facts about one agent.

    @ivar busy_since: time since which a turn runs; C{None} if none runs.
    @ivar has_dialog: true if a dialog waits for a person, which is no stall.
    @ivar progress_at: time of the last change of the screen, apart from clocks and spinners, or of
        the conversation.
    @ivar usual_silence: longest time in milliseconds without progress after which the agent went
        on by itself.
    @ivar error_since: time since which the screen shows an API error; C{None} without one.
    @ivar is_retrying: true if the agent says that it tries again.
    @ivar tools: tool calls of the turn that have ended, oldest first.
    @ivar is_tool_running: true if a tool call has not ended.
    @ivar cpu_at: time at which a program that the agent started used the processor last; C{None}
        if it is unknown or there is none.
    @ivar terminal_wait: program that waits for a person; C{None} without one.
    @ivar untaken_since: time at which a prompt was submitted that began no turn; C{None} without
        one.
    """

    now: int
    busy_since: int | None
    has_dialog: bool = False
    progress_at: int
    usual_silence: int = 0
    error_since: int | None = None
    is_retrying: bool = False
    tools: tuple[ToolOutcome, ...] = ()
    is_tool_running: bool = False
    cpu_at: int | None = None
    terminal_wait: TerminalWait | None = None
    untaken_since: int | None = None


@frozen(kw_only=True)
class StallThresholds:
    """Times, in milliseconds, after which something counts as a stall.

    @ivar silence: without progress, outside of a tool.
    @ivar tool: without progress and use of the processor, inside of a tool.
    @ivar error: with an API error on the screen.
    """

    silence: int = 5 * 60_000
    tool: int = 20 * 60_000
    error: int = 60_000


@frozen(kw_only=True)
class FoundStall:
    """Stall of an agent.

    @ivar detail: one line for people.
    """

    reason: str
    since: int
    detail: str
