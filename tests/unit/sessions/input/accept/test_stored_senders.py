"""Input of somebody whose right to type ends while it waits (protocol-prompts, protocol-wake)."""

from __future__ import annotations

from attrs import evolve

from tests.unit.sessions.harness import start_coroutine
from tests.unit.sessions.input.accept.offline_harness import KEPT, OfflineHostCase
from tests.unit.sessions.input.harness import DONE, HeldGate, InputCase
from tservice.core.callers.identity import Identity
from tservice.core.kernel.errors import ErrorCode
from tservice.sessions.input.accept.stored_senders import NOBODY, dump_sender, load_sender

ANN = Identity(username="ann", admin=False, method="cookie", auth_session="s1")
BOB = Identity(username="bob", admin=False, method="token", token="t1")


class HeldInputTests(InputCase):
    """At the gate, and behind what is at the gate."""

    def setUp(self) -> None:
        super().setUp()
        self.gate = HeldGate()
        self.machine.gate = self.gate
        self.machine.restart()
        self.entitled = {ANN, BOB}
        self.sessions.set_sender_check(lambda who, session: who in self.entitled)

    def test_right_lost_while_held_refuses_the_input(self) -> None:
        """Nothing is typed, and the number is free again."""
        held = self.type(self.agent_session, "hello\r", client_id="c", seq=1, sender=ANN)
        self.entitled.discard(ANN)
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual(ErrorCode.FORBIDDEN, self.code(held))
        self.assertEqual([], self.pane(self.agent_session).pastes)
        again = self.type(self.agent_session, "hello\r", client_id="c", seq=1, sender=BOB)
        self.gate.held[1].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(again))

    def test_input_of_the_service_itself_needs_no_right(self) -> None:
        self.entitled.clear()
        held = self.type(self.agent_session, "hello\r")
        self.gate.held[0].callback(None)
        self.spend(1)
        self.assertEqual(DONE, self.successResultOf(held))

    def test_held_keys_and_raw_bytes_need_the_right(self) -> None:
        self.entitled.clear()
        raw = self.type(self.agent_session, "\x1b", sender=ANN)
        key = start_coroutine(self.sessions.send_key(self.agent_session.id, "Down", ANN))
        self.assertEqual(ErrorCode.FORBIDDEN, self.code(raw))
        self.failureResultOf(key)
        pane = self.pane(self.agent_session)
        self.assertEqual(([], b""), (pane.keys, bytes(pane.typed)))


class SenderKeptInputTests(OfflineHostCase):
    """While the session's host is away."""

    def setUp(self) -> None:
        super().setUp()
        self.gone: set[str] = set()
        self.judged: list[Identity] = []
        self.sessions.set_sender_check(self.judge)

    def judge(self, who: Identity, session_id: str) -> bool:
        self.judged.append(who)
        return session_id == self.session.id and who.username not in self.gone

    def test_kept_input_is_typed_only_for_senders_with_the_right(self) -> None:
        sent = [("one ", ANN, 1), ("two ", BOB, 2), ("three", ANN, 3)]
        for text, sender, seq in sent:
            self.assertEqual(KEPT, self.send(text, seq, sender=sender))
        self.gone.add("ann")
        self.back()
        self.assertEqual(b"two ", self.typed)
        lost = self.last("session:inputLost")
        self.assertEqual((self.session.id, 2), (lost["id"], lost["chunks"]))
        self.assertIn("permission to type", str(lost["reason"]))
        self.back()
        self.assertEqual((b"two ", 1), (self.typed, self.names.count("session:inputLost")))

    def test_sender_of_kept_input_survives_a_restart(self) -> None:
        bound = evolve(BOB, sessions=frozenset({self.session.id, "x"}), scopes=frozenset({"waits"}))
        self.send("one ", sender=ANN)
        self.send("two", sender=bound)
        self.machine.restart()
        self.gone.add("ann")
        self.sessions.set_sender_check(self.judge)
        self.back()
        self.assertEqual(b"two", self.typed)
        here = frozenset({self.session.id})
        typing = frozenset({"sessions:input"})
        kept = [evolve(who, sessions=here, scopes=typing) for who in (ANN, BOB)]
        self.assertEqual(kept, self.judged)

    def test_kept_input_without_a_sender_is_not_typed(self) -> None:
        self.assertEqual(NOBODY, load_sender(dump_sender(None), "s"))
