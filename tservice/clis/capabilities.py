"""Capabilities of an agent: how to read its screen, where its files are."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from tservice.clis.answer_keys import AnswerKeys
from tservice.clis.controls import ControlCapabilities
from tservice.clis.field_types import CliRecord, EnvName, Text, Word, compile_pattern
from tservice.clis.submission import SubmissionRules


class HookSupport(StrEnum):
    """Support of hooks by an agent."""

    NONE = "none"
    ALWAYS = "always"


class TrustDialogPolicy(StrEnum):
    """Policy for the agent's folder-trust dialog."""

    NONE = "none"
    ANSWER = "answer"


class ComposerShape(StrEnum):
    """Shape of the composer: see L{tservice.terminal.screen_rules.ScreenRules}."""

    FRAMED = "framed"
    ROW = "row"
    BAR = "bar"
    MARK = "mark"


class AttachmentForm(StrEnum):
    """Form in which the agent takes a file in a prompt (protocol-uploads)."""

    PATH = "path"
    """The path, which the agent's tools read."""
    AT = "at"
    """C{@} and the path, which includes the file in the prompt."""
    PASTE = "paste"
    """The path of an image, pasted alone in brackets; other files as with C{PATH}."""

    def format_path(self, path: str) -> str:
        """Return the text to type for the file C{path}, which is absolute."""
        return f"@{path}" if self is AttachmentForm.AT else path


class TranscriptFormat(StrEnum):
    """Format of the agent's transcript files."""

    NONE = "none"
    CLAUDE = "claude"
    CODEX = "codex"


class McpFormat(StrEnum):
    """Dialect of an MCP configuration file (protocol-mcp-dialects)."""

    CLAUDE = "claude-json"
    GEMINI = "gemini-json"
    ANTIGRAVITY = "antigravity-json"
    OPENCODE = "opencode-json"
    CODEX = "codex-toml"
    COPILOT = "copilot-json"


class CustomModelStyle(StrEnum):
    """Way to configure a custom model endpoint in the agent (protocol-models)."""

    NONE = "none"
    CLAUDE_ENV = "claude-env"
    OPENCODE_CONTENT = "opencode-content"
    CODEX_HOME = "codex-home"
    GEMINI_ENV = "gemini-env"
    PI_HOME = "pi-home"


class ConfigReader(StrEnum):
    """Reader of an agent's own configuration file."""

    CLAUDE = "claude-json"
    CODEX = "codex-toml"
    OPENCODE = "opencode-json"
    GEMINI = "gemini-json"


class ModelDetection(CliRecord):
    """Detection of the model name on the screen.

    @ivar pattern: searched in each of the last C{rows} rows; its one group is the name.
    @ivar one_style: text after the name in another colour does not belong to it.
    @ivar config_reader: a reader of the agent's own configuration file.
    """

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    rows: Annotated[int, Field(ge=1, le=200)]
    one_style: bool = False
    config_reader: ConfigReader | None = None

    @field_validator("pattern")
    @classmethod
    def _one_group(cls, pattern: str) -> str:
        if compile_pattern(pattern).groups != 1:
            raise ValueError("must have exactly one group")
        return pattern


class ConfigRelocation(CliRecord):
    """Environment variable that moves the file: to C{path} below the folder that it names."""

    env_var: EnvName
    path: Word


class McpConfigFile(CliRecord):
    """The agent's own MCP configuration file; C{path} is below the home folder."""

    path: Word
    format: McpFormat
    relocation: ConfigRelocation | None = None


class FolderSource(CliRecord):
    """A file of a working folder that can make the agent run something (protocol-trust).

    @ivar path: below the working folder; one that ends with C{/} is every file below that folder.
    @ivar harmless: dotted keys that run and permit nothing; all others count.  Of a JSON file they
        are its own, of a Markdown file those of its front matter.  Without any, the whole file
        counts.
    """

    path: Annotated[
        str, StringConstraints(pattern=r"^(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]+/?$", max_length=100)
    ]
    harmless: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=r"^[\w$@/.-]{1,64}$")], ...],
        Field(max_length=32),
    ] = ()


def is_agent_configuration(path: str, sources: Iterable[FolderSource]) -> bool:
    """Return whether writing, moving or linking something to C{path} can configure an agent.

    A session may work in any folder of the path, so a name counts in every position.  A folder that
    leads to such a file counts too.  Case is ignored, as on some file systems.

    @param path: relative or absolute, without C{..}.
    """
    names = [name for name in path.casefold().split("/") if name not in ("", ".")]
    tails = ["/".join(names[at:]) + "/" for at in range(len(names))]
    known = [source.path.casefold() for source in sources]
    return any(
        f"{one}/".startswith(tail) or (one.endswith("/") and tail.startswith(one))
        for one in known
        for tail in tails
    )


class CustomModelSupport(CliRecord):
    """Support of custom model endpoints."""

    style: CustomModelStyle = CustomModelStyle.NONE


class CliCapabilities(CliRecord):
    """Capabilities of an agent.  The defaults are the conservative ones of custom entries.

    @ivar privileged_command_gate: true: the launched program can run any command without asking, so
        launching it needs the grant to bypass permissions.
    @ivar composer_ready_mark: text on the screen once a prompt can be entered.
    @ivar working_line: pattern searched in each row of the screen; a match means busy.
    @ivar working_title: pattern searched in the pane's title; a match means busy.
    @ivar starting_line: pattern searched in each row of the screen during the start; a match means
        that the composer takes no keys yet.
    @ivar resuming_screen: pattern searched in the whole screen of an agent that resumes a
        conversation; a match means that the conversation is not loaded yet, and typed input is
        dropped.
    @ivar prompt_glyph: beginning of the composer's row, without leading blanks.
    @ivar composer_shape: C{None}: C{framed} if there is a glyph, else C{mark}.
    @ivar folder_config: files of a working folder that can make it run something; C{None}: unknown,
        so the files of every entry count.
    @ivar attachment: form in which it takes a file in a prompt.
    @ivar submission: its treatment of a prompt's end and of Enter.
    @ivar screen_signals: its screen shows dialogs and ends of turns reliably enough for the inbox
        and for C{blocked} and C{stop}.
    @ivar answers: the keys that answer its dialogs.
    @ivar controls: settings that can be changed while it runs.
    """

    hooks: HookSupport = HookSupport.NONE
    trust: TrustDialogPolicy = TrustDialogPolicy.NONE
    transcript: TranscriptFormat = TranscriptFormat.NONE
    alt_screen: bool = False
    privileged_command_gate: bool = True
    composer_ready_mark: Annotated[Text, StringConstraints(min_length=1, max_length=200)] | None = (
        None
    )
    working_line: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    working_title: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    starting_line: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    resuming_screen: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    prompt_glyph: Annotated[Text, StringConstraints(min_length=1, max_length=8)] | None = None
    composer_shape: ComposerShape | None = None
    model_detect: ModelDetection | None = None
    mcp_config: McpConfigFile | None = None
    custom_model: CustomModelSupport = CustomModelSupport()
    folder_config: Annotated[tuple[FolderSource, ...], Field(max_length=32)] | None = None
    attachment: AttachmentForm = AttachmentForm.PATH
    submission: SubmissionRules = SubmissionRules()
    screen_signals: bool = False
    answers: AnswerKeys = AnswerKeys()
    controls: ControlCapabilities = ControlCapabilities()

    @field_validator("working_line", "working_title", "starting_line", "resuming_screen")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            compile_pattern(pattern)
        return pattern
