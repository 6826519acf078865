"""Capabilities of an agent CLI: how to read its screen, and where its files are."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator

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
    """The prompt contains the path. The agent opens the file with its tools."""
    AT = "at"
    """The prompt contains C{@} and the path. The agent includes the file's contents in the
    prompt.
    """
    PASTE = "paste"
    """The path of an image is entered alone as a bracketed paste. Other files are entered as with
    C{PATH}.
    """

    def format_path(self, path: str) -> str:
        """Return the text to type into the prompt for a file.

        @param path: absolute path of the file.
        """
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
    """Way in which an agent is configured to use a custom model endpoint (protocol-models)."""

    NONE = "none"
    CLAUDE_ENV = "claude-env"
    OPENCODE_CONTENT = "opencode-content"
    CODEX_HOME = "codex-home"
    GEMINI_ENV = "gemini-env"
    PI_HOME = "pi-home"


class ConfigReader(StrEnum):
    """Parser for the configuration file of one agent."""

    CLAUDE = "claude-json"
    CODEX = "codex-toml"
    OPENCODE = "opencode-json"
    GEMINI = "gemini-json"


class ModelDetection(CliRecord):
    """Rules for finding the name of the model in use.

    @ivar pattern: regular expression that is searched in each of the last C{rows} rows of the
        screen. Its only group is the model name.
    @ivar window: regular expression that is searched in the same rows. Its only group is the size
        of the model's context window, such as C{128k}.
    @ivar one_style: true if text in another colour after the name does not belong to the name.
    @ivar config_reader: parser of the agent's configuration file, which contains the model too.
    """

    pattern: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    rows: Annotated[int, Field(ge=1, le=200)]
    window: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    one_style: bool = False
    config_reader: ConfigReader | None = None

    @field_validator("pattern", "window")
    @classmethod
    def _one_group(cls, pattern: str | None) -> str | None:
        if pattern is not None and compile_pattern(pattern).groups != 1:
            raise ValueError("must have exactly one group")
        return pattern


_Move = Literal["Up", "Down", "Left", "Right"]


class AnswerKeys(CliRecord):
    """Keys that an agent's dialogs accept, in addition to the digits and Enter.

    @ivar deny: key that refuses the request.
    @ivar back: key that highlights the previous option, for agents whose dialogs ignore digits.
    @ivar forward: key that highlights the next option.
    """

    deny: Literal["Escape", "C-c"] = "Escape"
    back: _Move = "Up"
    forward: _Move = "Down"


class ConfigRelocation(CliRecord):
    """Environment variable that moves an agent's configuration file.

    The variable holds a folder, and C{path} is the file's path below that folder.
    """

    env_var: EnvName
    path: Word


class McpConfigFile(CliRecord):
    """MCP configuration file of an agent. C{path} is relative to the home folder."""

    path: Word
    format: McpFormat
    relocation: ConfigRelocation | None = None


class FolderSource(CliRecord):
    """File in a working folder that can make the agent run a program (protocol-trust).

    @ivar path: path below the working folder. A path that ends with C{/} means every file below
        that folder.
    @ivar harmless: dotted keys that neither run nor permit anything. Any other key counts as
        dangerous. The keys are those of a JSON file, or of a Markdown file's front matter. If there
        are none, the whole file counts.
    """

    path: Annotated[
        str, StringConstraints(pattern=r"^(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]+/?$", max_length=100)
    ]
    harmless: Annotated[
        # The length apart: {1,64} of a class as large as \w takes 7 MB as a compiled expression.
        tuple[Annotated[str, StringConstraints(pattern=r"^[\w$@/.-]+$", max_length=64)], ...],
        Field(max_length=32),
    ] = ()


def is_agent_configuration(path: str, sources: Iterable[FolderSource]) -> bool:
    """Return true if creating, moving or linking something at C{path} can configure an agent.

    A session may work in any folder of the path, so a matching name counts at any depth. A folder
    that contains the file's path counts too. Case is ignored, as on some file systems.

    @param path: relative or absolute, without C{..}.
    @param sources: files by which agents are configured.
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
    """Support of custom model endpoints by an agent."""

    style: CustomModelStyle = CustomModelStyle.NONE


class CliCapabilities(CliRecord):
    """Capabilities of an agent CLI. The defaults are safe for unknown programs.

    @ivar privileged_command_gate: true if the program can run any command without asking. Launching
        it then needs the grant to bypass permissions.
    @ivar composer_ready_mark: text that is on the screen when the composer accepts a prompt.
    @ivar working_line: regular expression that is searched in each row of the screen. A match means
        that the agent is busy.
    @ivar working_title: regular expression that is searched in the pane's title. A match means that
        the agent is busy.
    @ivar starting_line: regular expression that is searched in each row during the start. A match
        means that the composer does not accept keys yet.
    @ivar resuming_screen: regular expression that is searched in the screen of an agent that
        resumes a conversation. A match means that the conversation is still loading and typed input
        would be lost.
    @ivar prompt_glyph: text at the beginning of the composer's row, without leading blanks.
    @ivar colored_hint: true if the composer shows a suggestion of the agent's own in a colour, with
        the caret on its first letter.
    @ivar composer_shape: shape of the composer. C{None} means C{framed} if there is a glyph,
        otherwise C{mark}.
    @ivar folder_config: files of a working folder that can make the agent run a program. C{None} if
        unknown; the files of every other entry are then assumed.
    @ivar attachment: form in which the agent accepts a file in a prompt.
    @ivar submission: rules for submitting a prompt with Enter.
    @ivar screen_signals: true if the screen shows dialogs and ends of turns reliably. The inbox and
        the signals C{blocked} and C{stop} depend on that.
    @ivar answers: keys that answer the agent's dialogs.
    @ivar controls: settings that can be changed while the agent runs.
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
    colored_hint: bool = False
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
    def _require_valid_pattern(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            compile_pattern(pattern)
        return pattern
