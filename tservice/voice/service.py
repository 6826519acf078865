"""Availability, credentials and limits of dictation (protocol-voice)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.kernel.clock import get_unix_ms
from tservice.core.logs.redact import SecretRedactor
from tservice.core.workers.worker_pool import IThreads
from tservice.settings.interfaces import ISettings, Settings
from tservice.voice.model import (
    CREDENTIALS_BYTES,
    MAX_STREAMS,
    STREAMS_PER_ACCOUNT,
    DictationUnavailable,
    SpeechProvider,
    SpeechSource,
    UnavailableReason,
    parse_credentials,
)
from tservice.voice.responses import VoiceStatusResponse
from tservice.voice.speech_dialects import DIALECTS
from tservice.voice.upstream import UpstreamConnectRequest


class ActiveDictation(Protocol):
    """Dictation under way."""

    def cancel(self) -> None:
        """End the dictation, because dictation was turned off or the account changed."""


@frozen(kw_only=True)
class VoiceDependencies:
    """Dependencies of the service.

    @ivar credentials: path of the primary CLI's credentials file.
    @ivar bases: base URL of each speech service.
    @ivar shared: true if there are several accounts.
    """

    clock: IReactorTime
    settings: ISettings
    threads: IThreads
    redactor: SecretRedactor
    credentials: Path
    bases: Mapping[SpeechProvider, str]
    shared: bool = False


class VoiceService:
    """Service that counts the dictations under way, and provides the secrets for new ones."""

    def __init__(self, deps: VoiceDependencies) -> None:
        self._deps = deps
        self._under_way: dict[ActiveDictation, str] = {}
        self._unobserve: Callable[[], None] = lambda: None

    @property
    def count(self) -> int:
        """Number of dictations under way."""
        return len(self._under_way)

    @property
    def is_enabled(self) -> bool:
        """True if the settings enable dictation."""
        return self._deps.settings.get().primary_voice_enabled

    def start(self) -> None:
        """Start to observe changes of the settings."""
        self._unobserve = self._deps.settings.add_observer(self._cancel_on_settings_change)

    def stop(self) -> None:
        """Stop observing the settings. Open dictations end when their WebSockets are closed."""
        self._unobserve()

    def register_dictation(self, one: ActiveDictation, username: str) -> bool:
        """Register a dictation of the account C{username}. L{unregister_dictation} removes it.

        @return: false if there are L{MAX_STREAMS} dictations already. If there are several
            accounts, also false if this account has L{STREAMS_PER_ACCOUNT}.
        """
        own = sum(owner == username for owner in self._under_way.values())
        if len(self._under_way) >= MAX_STREAMS or (
            self._deps.shared and own >= STREAMS_PER_ACCOUNT
        ):
            return False
        self._under_way[one] = username
        return True

    def unregister_dictation(self, one: ActiveDictation) -> None:
        """Unregister a dictation that has ended."""
        self._under_way.pop(one, None)

    async def get_status(self) -> VoiceStatusResponse:
        """Return the availability of dictation, with a reason if it is not available."""
        try:
            source = await self.find_source()
        except DictationUnavailable as error:
            return VoiceStatusResponse(available=False, reason=error.reason.value)
        found = source.credentials
        if found is None:
            return VoiceStatusResponse(available=True)
        return VoiceStatusResponse(
            available=True,
            subscription_type=found.subscription_type,
            expires_at=found.expires_at,
        )

    async def find_source(self) -> SpeechSource:
        """Return the speech provider and the secret for a new dictation.

        @raise DictationUnavailable: dictation is not available.
        @raise ServiceError: the folder of the credentials does not respond.
        """
        settings = self._deps.settings.get()
        wanted, key = settings.voice_settings.provider, settings.voice_settings.api_key
        if not settings.primary_voice_enabled or wanted == "browser":
            raise DictationUnavailable(UnavailableReason.DISABLED)
        if wanted == "third_party":
            return _third_party_source(key)
        try:
            return await self._primary_source()
        except DictationUnavailable:
            if wanted == "primary" or not key:
                raise
        return _third_party_source(key)

    def build_request(
        self, source: SpeechSource, language: str | None, keyterms: Sequence[str] | None
    ) -> tuple[UpstreamConnectRequest, Callable[[], None]]:
        """Build the request that opens a connection to the speech service.

        @param language: language of the speech. C{None} means the language in the settings.
        @param keyterms: terms to recognize. C{None} means the terms in the settings.
        @return: the request, and a function to call when the secret is no longer in use.
        """
        chosen = self._deps.settings.get().voice_settings
        dialect = DIALECTS[source.provider]
        terms = chosen.keyterms if keyterms is None else keyterms
        asked = UpstreamConnectRequest(
            url=self._deps.bases[source.provider],
            query=dialect.build_query(language or chosen.language, terms),
            headers=dialect.build_headers(source.secret),
        )
        return asked, self._deps.redactor.register_secret(source.secret)

    # -- inside

    async def _primary_source(self) -> SpeechSource:
        path = self._deps.credentials
        content = await self._deps.threads.run(partial(_read_small_file, path), at=str(path.parent))
        found = parse_credentials(content, get_unix_ms(self._deps.clock))
        return SpeechSource(provider=SpeechProvider.PRIMARY, secret=found.token, credentials=found)

    def _cancel_on_settings_change(self, before: Settings, after: Settings) -> None:
        def get_voice_choice(settings: Settings) -> tuple[object, ...]:
            chosen = settings.voice_settings
            return settings.primary_voice_enabled, chosen.provider, chosen.api_key

        if get_voice_choice(before) != get_voice_choice(after):
            for one in tuple(self._under_way):
                one.cancel()


def _third_party_source(key: str) -> SpeechSource:
    if not key:
        raise DictationUnavailable(UnavailableReason.NO_CREDENTIALS)
    return SpeechSource(provider=SpeechProvider.THIRD_PARTY, secret=key)


def _read_small_file(path: Path) -> bytes | None:
    """Return the contents of a small regular file, or C{None} if it does not exist.

    @raise DictationUnavailable: it is not a regular file, or may not be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        raise DictationUnavailable(UnavailableReason.MALFORMED) from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > CREDENTIALS_BYTES:
            raise DictationUnavailable(UnavailableReason.MALFORMED)
        return os.read(descriptor, CREDENTIALS_BYTES)
    finally:
        os.close(descriptor)
