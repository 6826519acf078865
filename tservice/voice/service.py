"""Whether there is dictation, for whom it is asked, and how many there are (protocol-voice)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from attrs import frozen
from twisted.internet.interfaces import IReactorTime

from tservice.core.clock import now_ms
from tservice.core.doors.threads import IThreads
from tservice.core.logs.redact import Redactor
from tservice.settings.interfaces import ISettings, Settings
from tservice.voice.dialects import DIALECTS
from tservice.voice.model import (
    CREDENTIALS_BYTES,
    OF_ONE,
    STREAMS,
    Provider,
    Reason,
    Source,
    Unavailable,
    read_credentials,
)
from tservice.voice.shown import VoiceStatus
from tservice.voice.upstream import LineRequest


class Dictating(Protocol):
    """One dictation under way, as the service knows it."""

    def switched_off(self) -> None:
        """The setting was taken back, or another account is asked from now on."""


@frozen(kw_only=True)
class VoiceDependencies:
    """What the service is made of.

    @ivar credentials: the primary CLI's file.
    @ivar bases: where each speech service is.
    @ivar shared: whether there are several accounts.
    """

    clock: IReactorTime
    settings: ISettings
    threads: IThreads
    redactor: Redactor
    credentials: Path
    bases: Mapping[Provider, str]
    shared: bool = False


class Voice:
    """Knows the dictations under way, and with which secret a new one is made."""

    def __init__(self, deps: VoiceDependencies) -> None:
        self._deps = deps
        self._under_way: dict[Dictating, str] = {}
        self._unobserve: Callable[[], None] = lambda: None

    @property
    def count(self) -> int:
        """How many dictations are under way."""
        return len(self._under_way)

    @property
    def enabled(self) -> bool:
        """Whether an administrator has switched dictation on."""
        return self._deps.settings.get().primary_voice_enabled

    def start(self) -> None:
        """Begin to hear of settings."""
        self._unobserve = self._deps.settings.observe(self._changed)

    def stop(self) -> None:
        """Hear nothing more; what is under way ends with its WebSocket."""
        self._unobserve()

    def enter(self, one: Dictating, username: str) -> bool:
        """One more of that account's; L{leave} gives the place back.

        @return: false where there are L{STREAMS}, or L{OF_ONE} of one account among several.
        """
        own = sum(owner == username for owner in self._under_way.values())
        if len(self._under_way) >= STREAMS or (self._deps.shared and own >= OF_ONE):
            return False
        self._under_way[one] = username
        return True

    def leave(self, one: Dictating) -> None:
        """It is over."""
        self._under_way.pop(one, None)

    async def status(self) -> VoiceStatus:
        """Whether there is dictation by the service."""
        try:
            source = await self.source()
        except Unavailable as error:
            return VoiceStatus(available=False, reason=error.reason.value)
        found = source.credentials
        if found is None:
            return VoiceStatus(available=True)
        return VoiceStatus(
            available=True,
            subscription_type=found.subscription_type,
            expires_at=found.expires_at,
        )

    async def source(self) -> Source:
        """Whom a dictation is sent to now.

        @raise Unavailable: to nobody.
        @raise ServiceError: the folder of the credentials does not answer.
        """
        settings = self._deps.settings.get()
        wanted, key = settings.voice_settings.provider, settings.voice_settings.api_key
        if not settings.primary_voice_enabled or wanted == "browser":
            raise Unavailable(Reason.DISABLED)
        if wanted == "third_party":
            return _third_party(key)
        try:
            return await self._primary()
        except Unavailable:
            if wanted == "primary" or not key:
                raise
        return _third_party(key)

    def request(
        self, source: Source, language: str | None, keyterms: Sequence[str] | None
    ) -> tuple[LineRequest, Callable[[], None]]:
        """What the speech service is asked, C{None} being what the settings say.

        @return: also what is to be called when the secret is not in use any more.
        """
        chosen = self._deps.settings.get().voice_settings
        dialect = DIALECTS[source.provider]
        terms = chosen.keyterms if keyterms is None else keyterms
        asked = LineRequest(
            url=self._deps.bases[source.provider],
            query=dialect.query(language or chosen.language, terms),
            headers=dialect.headers(source.secret),
        )
        return asked, self._deps.redactor.register(source.secret)

    # -- inside

    async def _primary(self) -> Source:
        path = self._deps.credentials
        content = await self._deps.threads.run(partial(_read, path), at=str(path.parent))
        found = read_credentials(content, now_ms(self._deps.clock))
        return Source(provider=Provider.PRIMARY, secret=found.token, credentials=found)

    def _changed(self, before: Settings, after: Settings) -> None:
        def asked(settings: Settings) -> tuple[object, ...]:
            chosen = settings.voice_settings
            return settings.primary_voice_enabled, chosen.provider, chosen.api_key

        if asked(before) != asked(after):
            for one in tuple(self._under_way):
                one.switched_off()


def _third_party(key: str) -> Source:
    if not key:
        raise Unavailable(Reason.NO_CREDENTIALS)
    return Source(provider=Provider.THIRD_PARTY, secret=key)


def _read(path: Path) -> bytes | None:
    """A small regular file; C{None}: there is none.

    @raise Unavailable: it is something else, or may not be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        raise Unavailable(Reason.MALFORMED) from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > CREDENTIALS_BYTES:
            raise Unavailable(Reason.MALFORMED)
        return os.read(descriptor, CREDENTIALS_BYTES)
    finally:
        os.close(descriptor)
