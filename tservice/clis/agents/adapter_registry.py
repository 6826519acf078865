"""The adapters of the packaged CLIs, found by their folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules

from tservice.clis import agents
from tservice.clis.agents.adapter import AgentAdapter, OneShotCommand
from tservice.clis.agents.conversation_store import ConversationStore
from tservice.clis.agents.model_injection import BuildInjection
from tservice.clis.agents.server_channel import ServerChannel
from tservice.clis.capabilities import CustomModelStyle


def _iterate_adapters() -> Iterator[AgentAdapter]:
    """Yield the adapters in the order of their folders' names."""
    for name in sorted(each.name for each in iter_modules(agents.__path__) if each.ispkg):
        adapter: AgentAdapter = import_module(f"{agents.__name__}.{name}.adapter").ADAPTER
        yield adapter


# All are imported now: a thread that acts as another user may be unable to load a module.
ADAPTERS: Mapping[str, AgentAdapter] = {adapter.mode: adapter for adapter in _iterate_adapters()}
"""Adapters by mode. A mode without code is not in it."""

CONVERSATION_STORES: Mapping[str, ConversationStore] = {
    mode: adapter.conversations
    for mode, adapter in ADAPTERS.items()
    if adapter.conversations is not None
}
"""Locations by mode, for the modes whose conversations the service can read."""

ONE_SHOT_COMMANDS: Mapping[str, OneShotCommand] = {
    mode: adapter.one_shot for mode, adapter in ADAPTERS.items() if adapter.one_shot is not None
}
"""Commands by mode, for the CLIs that answer one prompt without a terminal."""

MODEL_INJECTIONS: Mapping[CustomModelStyle, BuildInjection] = {
    adapter.model_injection.style: adapter.model_injection.build
    for adapter in ADAPTERS.values()
    if adapter.model_injection is not None
}
"""Builders of injections by style, which an entry of C{clis.json} can name too."""

SERVER_CHANNELS: Mapping[str, ServerChannel] = {
    mode: adapter.server_channel
    for mode, adapter in ADAPTERS.items()
    if adapter.server_channel is not None
}
"""Channels by mode, for the CLIs that start with a server of their own."""
