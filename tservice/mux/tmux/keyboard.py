"""Input into a pane: unconditional, or only while the screen is unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.internet.interfaces import IReactorTime

from tservice.mux.interface import Guard, Mark, PaneGone
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux import commands
from tservice.mux.tmux import guard as guards
from tservice.mux.tmux.capture import capture
from tservice.mux.tmux.channel import PaneChannel
from tservice.mux.tmux.commands import join
from tservice.mux.tmux.control import Block
from tservice.mux.tmux.status import PaneStatus
from tservice.mux.typed import paste_text, pieces
from tservice.terminal.plain_text import plain_text


class Keyboard:
    """Typist of a pane. Each command is one line to the server, so that no other input comes
    between its parts.

    @ivar typed_at: clock seconds of the last typing without a guard.
    """

    def __init__(
        self, clock: IReactorTime, channel: PaneChannel, log: OutputLog, status: PaneStatus
    ) -> None:
        self.typed_at: float | None = None
        self._clock = clock
        self._channel = channel
        self._log = log
        self._status = status
        self._typings = 0

    async def write(self, data: bytes, mark: Mark | None) -> None:
        """See L{IPane.write}."""
        for piece, moved in pieces(data, mark):
            await self._type(moved, *((commands.send_bytes(piece),) if piece else ()))

    async def send_key(self, name: str, mark: Mark | None) -> None:
        """See L{IPane.send_key}."""
        await self._type(mark, commands.press(name))

    async def paste(self, text: str, mark: Mark | None) -> None:
        """See L{IPane.paste}."""
        data = paste_text(text)
        if data:
            await self._type(mark, commands.PASTE, first=(commands.set_buffer(data),))
        else:
            await self._type(mark)

    async def guard(self, extra: bytes) -> Guard:
        """See L{IPane.guard}.

        @param extra: the modes that tmux does not report, as sequences.
        """
        stamps: list[Block] = []

        async def stamped(line: bytes, answers: int) -> list[Block]:
            blocks = await self._channel.send(join(guards.STAMP, line), answers + 1)
            stamps.append(blocks[0])
            return blocks[1:]

        typed, version = self._typings, await self._status.version()
        seen = await capture(stamped, self._log, 0, extra, False, version)
        second = guards.activity(stamps[0])
        return Guard(capture=seen, still=second is not None, seal=(typed, second))

    async def press_if(self, key: str, guard: Guard, rows: Sequence[int], times: int) -> bool:
        """See L{IPane.press_if}."""
        return await self._type_if((commands.press(key),) * times, guard, rows)

    async def paste_if(self, text: str, guard: Guard, rows: Sequence[int]) -> bool:
        """See L{IPane.paste_if}."""
        load = commands.set_buffer(paste_text(text))
        return await self._type_if((commands.PASTE,), guard, rows, (load,), (commands.DROP_PASTE,))

    async def answer(self, data: bytes) -> None:
        """Type a reply of the terminal itself: it is not user input, and no guard fails because of
        it.
        """
        if self._status.ending is None:
            await self._said((commands.while_read(commands.send_bytes(data)),), (data,))

    async def last_mark(self) -> Mark | None:
        """See L{IPane.last_mark}."""
        blocks = await self._channel.send(commands.show("#{@tservice_mark}"), 1)
        return commands.read_mark(b"".join(blocks[0].lines))

    async def _type(self, mark: Mark | None, *keys: bytes, first: tuple[bytes, ...] = ()) -> None:
        """Press C{keys} and set C{mark}, both or neither."""
        typed = keys if mark is None else (*keys, commands.set_mark(mark))
        self._check_alive()
        if not typed:
            return
        self._typings += 1
        self._channel.wanted()
        self.typed_at = self._clock.seconds()
        line = (*first, commands.while_read(*typed))
        said = await self._said(line, typed)
        if commands.IN_MODE in said:
            said = await self._said((commands.leave_copy_mode(), *line), typed)
        if commands.DEAD in said:
            await self._status.look()
            raise PaneGone("its process has ended")

    async def _said(self, line: Sequence[bytes], typed: Sequence[bytes]) -> Sequence[bytes]:
        blocks = await self._channel.send(join(*line), len(line) + len(typed))
        return blocks[-1].lines

    async def _type_if(
        self,
        keys: tuple[bytes, ...],
        guard: Guard,
        rows: Sequence[int],
        before: tuple[bytes, ...] = (),
        otherwise: tuple[bytes, ...] = (),
    ) -> bool:
        self._check_alive()
        typed, second = guard.seal
        if typed != self._typings:
            return False
        # Later input goes through the same channel, after this line.
        self._typings += 1
        screen = [plain_text(line) for line in guard.capture.lines]
        size = (guard.capture.cols, guard.capture.rows)
        test = guards.condition(screen, rows, second, size)
        line = (*before, guards.guarded(test, (commands.leave_copy_mode(), *keys), otherwise))
        answers = len(before) + guards.answers((b"", *keys), otherwise)
        return guards.passed(await self._channel.send(join(*line), answers))

    def _check_alive(self) -> None:
        if self._status.ending is not None:
            raise PaneGone("its process has ended")
