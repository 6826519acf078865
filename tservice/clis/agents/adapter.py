"""Interface of the code in a CLI's folder. Every member is optional: the defaults read the screen.

A folder with code is a package whose module C{adapter} has the constant C{ADAPTER}.
"""

from __future__ import annotations

from attrs import frozen

from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import ModelInjection
from tservice.clis.agents.server_channel import ServerChannel


@frozen(kw_only=True)
class OneShotCommand:
    """Arguments that run the CLI once, with the prompt on standard input and no tools.

    @ivar model_flag: option that names the model; C{None} if the CLI's default is always used.
    """

    arguments: tuple[str, ...]
    model_flag: str | None = None

    def build_argv(self, binary: str, model: str) -> tuple[str, ...]:
        """Return the command line.

        @param binary: path of the CLI's program.
        @param model: model to use. If empty, the CLI uses its default model.
        """
        chosen = (self.model_flag, model) if model and self.model_flag else ()
        return (binary, *self.arguments, *chosen)


@frozen(kw_only=True)
class AgentAdapter:
    """Code of one packaged CLI.

    @ivar mode: id of the entry in the same folder.
    @ivar conversations: where the CLI stores conversations; C{None} if the service cannot read
        them.
    @ivar model_injection: how the CLI is made to use a custom model endpoint.
    @ivar one_shot: how the CLI answers one prompt without a terminal.
    @ivar server_channel: how the CLI starts with a server or a file that tells its status.
    """

    mode: str
    conversations: ConversationStore | None = None
    model_injection: ModelInjection | None = None
    one_shot: OneShotCommand | None = None
    server_channel: ServerChannel | None = None
