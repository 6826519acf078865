"""Construction of the dictation feature."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tservice.http.metrics import make_gauge
from tservice.http.operation_decorator import collect_operations
from tservice.runtime.feature import FeatureRegistration
from tservice.runtime.runtime import Runtime
from tservice.voice.model import SpeechProvider
from tservice.voice.routes.voice_routes import VoiceRoutes
from tservice.voice.service import VoiceDependencies, VoiceService
from tservice.voice.upstream_connector import UpstreamConnector


def build_voice(ground: Runtime) -> FeatureRegistration[VoiceService]:
    """Build the feature. It uses the primary CLI's account of the service's user, or a key of
    another provider.
    """
    config = ground.config
    voice = VoiceService(
        VoiceDependencies(
            clock=ground.reactor,
            settings=ground.settings,
            threads=ground.worker_pools.files,
            redactor=ground.redactor,
            credentials=find_credentials_file(ground.environ, ground.home),
            bases={
                SpeechProvider.PRIMARY: config.voice_stream_base,
                SpeechProvider.THIRD_PARTY: config.voice_third_party_base,
            },
            shared=config.multiuser,
        )
    )
    opens = UpstreamConnector(ground.reactor).connect
    return FeatureRegistration(
        name="voice",
        service=voice,
        operations=collect_operations(VoiceRoutes(ground.reactor, voice, opens)),
        measures=[make_gauge("dictations", "Running dictations.", lambda: voice.count)],
        start=voice.start,
        close=voice.stop,
    )


def find_credentials_file(environ: Mapping[str, str], home: Path) -> Path:
    """Return the path of the primary CLI's credentials file for the service's own user."""
    moved = environ.get("CLAUDE_CONFIG_DIR", "")
    folder = Path(moved) if moved.startswith("/") else home / ".claude"
    return folder / ".credentials.json"
