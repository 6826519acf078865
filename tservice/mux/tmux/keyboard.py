"""Typing into a pane: unconditionally, or only while the screen is unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from twisted.internet.interfaces import IReactorTime

from tservice.mux.interface import InputMark, PaneGone, ScreenGuard
from tservice.mux.outputlog import OutputLog
from tservice.mux.tmux import commands
from tservice.mux.tmux import guarded_input as guards
from tservice.mux.tmux.capture import capture_pane
from tservice.mux.tmux.commands import join_commands
from tservice.mux.tmux.control_parser import AnswerBlock
from tservice.mux.tmux.pane_channel import PaneChannel
from tservice.mux.tmux.status import PaneStatus
from tservice.mux.typed_input import sanitize_paste, split_input
from tservice.terminal.frames.ansi import plain_text


class PaneKeyboard:
    """Sends input to one pane. Each input is one command line, so that no other input comes between
    its parts.

    @ivar typed_at: time of the last unguarded input, in seconds of the clock.
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

    async def write_bytes(self, data: bytes, mark: InputMark | None) -> None:
        """See L{IPane.write_bytes}."""
        for piece, moved in split_input(data, mark):
            await self._type_keys(moved, *((commands.send_bytes(piece),) if piece else ()))

    async def send_key(self, name: str, mark: InputMark | None) -> None:
        """See L{IPane.send_key}."""
        await self._type_keys(mark, commands.press_key(name))

    async def paste(self, text: str, mark: InputMark | None) -> None:
        """See L{IPane.paste}."""
        data = sanitize_paste(text)
        if data:
            await self._type_keys(mark, commands.PASTE, first=(commands.load_paste_buffer(data),))
        else:
            await self._type_keys(mark)

    async def guard_screen(self, extra: bytes) -> ScreenGuard:
        """See L{IPane.guard_screen}.

        @param extra: escape sequences of the modes that tmux does not report.
        """
        stamps: list[AnswerBlock] = []

        async def send_with_activity_time(line: bytes, answers: int) -> list[AnswerBlock]:
            blocks = await self._channel.send_line(join_commands(guards.STAMP, line), answers + 1)
            stamps.append(blocks[0])
            return blocks[1:]

        typed, version = self._typings, await self._status.get_version()
        seen = await capture_pane(send_with_activity_time, self._log, 0, extra, False, version)
        second = guards.parse_activity(stamps[0])
        return ScreenGuard(capture=seen, still=second is not None, seal=(typed, second))

    async def press_if(self, key: str, guard: ScreenGuard, rows: Sequence[int], times: int) -> bool:
        """See L{IPane.press_if}."""
        return await self._type_if_unchanged((commands.press_key(key),) * times, guard, rows)

    async def paste_if(self, text: str, guard: ScreenGuard, rows: Sequence[int]) -> bool:
        """See L{IPane.paste_if}."""
        load = commands.load_paste_buffer(sanitize_paste(text))
        return await self._type_if_unchanged(
            (commands.PASTE,), guard, rows, (load,), (commands.DROP_PASTE,)
        )

    async def type_reply(self, data: bytes) -> None:
        """Type the terminal's reply to a query. A reply is not user input and does not invalidate a
        guard.
        """
        if self._status.ending is None:
            await self._send_and_read(
                (commands.run_if_readable(commands.send_bytes(data)),), (data,)
            )

    async def read_last_mark(self) -> InputMark | None:
        """See L{IPane.read_last_mark}."""
        blocks = await self._channel.send_line(commands.print_format("#{@tservice_mark}"), 1)
        return commands.parse_mark(b"".join(blocks[0].lines))

    async def _type_keys(
        self, mark: InputMark | None, *keys: bytes, first: tuple[bytes, ...] = ()
    ) -> None:
        """Type keys and store C{mark} by one line of commands, so that tmux does both or neither.

        @param keys: tmux commands that type keys.
        @param first: tmux commands to run before them.
        """
        typed = keys if mark is None else (*keys, commands.set_mark(mark))
        self._check_alive()
        if not typed:
            return
        self._typings += 1
        self._channel.request_connection()
        self.typed_at = self._clock.seconds()
        line = (*first, commands.run_if_readable(*typed))
        said = await self._send_and_read(line, typed)
        if commands.IN_MODE in said:
            said = await self._send_and_read((commands.leave_copy_mode(), *line), typed)
        if commands.DEAD in said:
            await self._status.query_state()
            raise PaneGone("its process has ended")

    async def _send_and_read(
        self, line: Sequence[bytes], typed: Sequence[bytes]
    ) -> Sequence[bytes]:
        blocks = await self._channel.send_line(join_commands(*line), len(line) + len(typed))
        return blocks[-1].lines

    async def _type_if_unchanged(
        self,
        keys: tuple[bytes, ...],
        guard: ScreenGuard,
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
        test = guards.build_condition(screen, rows, second, size)
        line = (
            *before,
            guards.build_guarded_command(test, (commands.leave_copy_mode(), *keys), otherwise),
        )
        answers = len(before) + guards.count_answers((b"", *keys), otherwise)
        return guards.has_guard_passed(await self._channel.send_line(join_commands(*line), answers))

    def _check_alive(self) -> None:
        if self._status.ending is not None:
            raise PaneGone("its process has ended")
