"""The pure rules: names, sizes, the breaker, model names, the order, what is a prompt."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tests.examples import example_count
from tservice.core.kernel.errors import ErrorCode, ServiceError
from tservice.sessions.input.accept.classify import (
    ClassifiedInput,
    classify_request,
    looks_like_prompt,
    sanitize_prompt,
)
from tservice.sessions.input.entry import InputKind
from tservice.sessions.life.exit_breaker import EXITS, WINDOW_MS, add_failure, has_tripped
from tservice.sessions.record.display import (
    MODEL_LENGTH,
    choose_display_model,
    clean_line,
    models_after_restart,
)
from tservice.sessions.record.model import ModelSource
from tservice.sessions.record.names import NAME_LENGTH, check_name, generate_name
from tservice.sessions.record.ordering import reorder_positions
from tservice.sessions.record.requests import InputRequest
from tservice.sessions.record.viewport import (
    DESKTOP_CLAIM_MS,
    SizeClaims,
    SizeRequest,
    ViewportKind,
    apply_size_request,
    may_resize,
    remove_viewer,
)

thorough = settings(max_examples=example_count(400), deadline=None, database=None)


def wish(
    viewport: ViewportKind | None, viewer: str | None = None, *, cols: int = 80, force: bool = False
) -> SizeRequest:
    return SizeRequest(cols=cols, rows=24, viewport=viewport, viewer=viewer, force=force)


class SessionNameTests(SynchronousTestCase):
    """Session names."""

    def test_names_with_bidirectional_controls_are_refused(self) -> None:
        for sign in "\u202a\u202e\u2066\u2069\u2028":
            self.assertRaises(ServiceError, check_name, f"a{sign}b")
        for name in ("\u05e9\u05dc\u05d5\u05dd\u200f!", "caf\u00e9", "\u4fee\u590d"):
            self.assertEqual(name, check_name(name))

    @thorough
    @given(st.text(max_size=140))
    def test_any_name_is_kept_or_refused(self, name: str) -> None:
        try:
            kept = check_name(name)
        except ServiceError as error:
            self.assertEqual(ErrorCode.INVALID_INPUT, error.code)
            forced = "\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
            odd = (ord(c) < 32 or 127 <= ord(c) < 160 or c in forced for c in name)
            bad = len(name) > NAME_LENGTH or any(odd)
            self.assertTrue(bad, repr(name))
            return
        self.assertEqual(name.strip(), kept)
        self.assertLessEqual(len(kept), NAME_LENGTH)

    @thorough
    @given(st.text(max_size=300), st.sets(st.text(max_size=4), max_size=5))
    def test_placeholder_names_are_unused(self, folder: str, taken: set[str]) -> None:
        first = generate_name(f"/w/{folder}", "shell", taken)
        second = generate_name(f"/w/{folder}", "shell", {*taken, first})
        self.assertEqual(first, check_name(first))
        self.assertEqual(2, len({first, second} - taken))

    def test_root_folder_is_named_by_its_mode(self) -> None:
        self.assertEqual("shell", generate_name("/", "shell", set()))


class ViewportTests(SynchronousTestCase):
    """Whose size counts."""

    def test_phone_waits_for_the_desktop(self) -> None:
        claims = apply_size_request(SizeClaims(), wish(ViewportKind.DESKTOP), 1000)
        for viewport in (ViewportKind.MOBILE, ViewportKind.TABLET):
            end = 1000 + DESKTOP_CLAIM_MS
            self.assertFalse(may_resize(claims, wish(viewport), end - 1))
            self.assertTrue(may_resize(claims, wish(viewport), end))
            self.assertTrue(may_resize(claims, wish(viewport, force=True), 1001))
        for free in (None, ViewportKind.DESKTOP):
            self.assertTrue(may_resize(claims, wish(free), 1001))

    def test_forced_resize_ends_the_desktop_claim(self) -> None:
        claims = apply_size_request(
            SizeClaims(desktop_at=1000), wish(ViewportKind.MOBILE, force=True), 1001
        )
        self.assertTrue(may_resize(claims, wish(ViewportKind.MOBILE), 1002))

    def test_script_keeps_the_claim(self) -> None:
        self.assertEqual(
            1000, apply_size_request(SizeClaims(desktop_at=1000), wish(None), 1001).desktop_at
        )

    def test_leaving_desktop_gives_the_size_to_the_waiting_phone(self) -> None:
        desk, phone = (
            wish(ViewportKind.DESKTOP, "desk"),
            wish(ViewportKind.MOBILE, "phone", cols=40),
        )
        claims = apply_size_request(apply_size_request(SizeClaims(), desk, 1000), phone, 1001)
        self.assertEqual("desk", claims.holder)
        claims, heir = remove_viewer(claims, "desk")
        self.assertEqual(phone, heir)
        self.assertTrue(may_resize(claims, phone, 1002))

    def test_leaving_second_window_returns_the_size_to_the_first(self) -> None:
        one, two = wish(ViewportKind.DESKTOP, "one"), wish(ViewportKind.DESKTOP, "two", cols=50)
        phone = wish(ViewportKind.MOBILE, "phone", cols=40)
        claims = SizeClaims()
        for each in (one, phone, two, phone):
            claims = apply_size_request(claims, each, 1000)
        claims, heir = remove_viewer(claims, "two")
        self.assertEqual(one, heir)
        self.assertEqual(("one", (one, phone)), (claims.holder, claims.wishes))

    def test_viewer_leaving_without_the_size_changes_nothing(self) -> None:
        desk, phone = wish(ViewportKind.DESKTOP, "desk"), wish(ViewportKind.MOBILE, "phone")
        claims = apply_size_request(apply_size_request(SizeClaims(), desk, 1000), phone, 1001)
        claims, heir = remove_viewer(claims, "phone")
        self.assertEqual((None, apply_size_request(SizeClaims(), desk, 1000)), (heir, claims))

    @thorough
    @given(
        st.lists(
            st.tuples(
                st.integers(0, 200_000),
                st.sampled_from([None, *ViewportKind]),
                st.booleans(),
                st.sampled_from(["a", "b", "c", None]),
                st.booleans(),
            ),
            max_size=20,
        )
    )
    def test_size_belongs_to_a_connected_viewer(
        self, asked: list[tuple[int, ViewportKind | None, bool, str | None, bool]]
    ) -> None:
        claims, desktop = SizeClaims(), None
        there: set[str | None] = set()
        for now, viewport, force, viewer, leaves in sorted(asked, key=lambda it: it[0]):
            if leaves and viewer is not None:
                claims, heir = remove_viewer(claims, viewer)
                there.discard(viewer)
                desktop = None if desktop is not None and desktop[1] == viewer else desktop
                self.assertTrue(heir is None or heir.viewer == claims.holder)
            else:
                asks = wish(viewport, viewer, force=force)
                applied = may_resize(claims, asks, now)
                held = desktop is not None and now - desktop[0] < DESKTOP_CLAIM_MS
                self.assertEqual(not (asks.is_small and held and not force), applied)
                claims = apply_size_request(claims, asks, now)
                there |= {viewer} - {None}
                if applied and viewport is ViewportKind.DESKTOP:
                    desktop = (now, viewer)
                elif applied and asks.is_small and force:
                    desktop = None
            self.assertEqual(there, {each.viewer for each in claims.wishes})
            self.assertIn(claims.holder, {None, *there})


class BreakerTests(SynchronousTestCase):
    """Five failures within ten seconds."""

    @thorough
    @given(st.lists(st.integers(0, 30_000), max_size=12).map(sorted))
    def test_breaker_trips_on_the_fifth_failure_within_the_window(self, times: list[int]) -> None:
        failures: tuple[int, ...] = ()
        for number, at in enumerate(times):
            failures = add_failure(failures, at)
            window = [t for t in times[: number + 1] if at - t <= WINDOW_MS]
            self.assertEqual(len(window) >= EXITS, has_tripped(failures))
            self.assertLessEqual(len(failures), EXITS)


class ModelNameTests(SynchronousTestCase):
    """C{displayModel}."""

    def test_model_sources_are_ranked(self) -> None:
        said = {source.value: source.value for source in ModelSource}
        for source in ModelSource:
            self.assertEqual((source.value, source), choose_display_model(said))
            del said[source.value]
        self.assertIsNone(choose_display_model(said))

    def test_untrusted_model_name_is_cleaned(self) -> None:
        shown = choose_display_model({"screen": "\x1b[31m\u202e" + "x" * 100})
        self.assertEqual("[31m" + "x" * (MODEL_LENGTH - 4), shown and shown[0])
        self.assertEqual(
            ("b", ModelSource.LAUNCH), choose_display_model({"screen": "\x07", "launch": "b"})
        )

    def test_configured_model_is_not_restored(self) -> None:
        self.assertEqual({"screen": "a"}, models_after_restart({"screen": "a", "config": "b"}))

    @thorough
    @given(st.text(), st.integers(0, 80))
    def test_cleaned_line_is_bounded_and_printable(self, text: str, limit: int) -> None:
        cleaned = clean_line(text, limit)
        self.assertLessEqual(len(cleaned), limit)
        self.assertFalse(any(ord(c) < 32 or ord(c) == 127 for c in cleaned))


class SessionOrderTests(SynchronousTestCase):
    """L{reorder_positions}."""

    @thorough
    @given(st.permutations(list("abcdef")), st.data())
    def test_unlisted_sessions_keep_their_positions(
        self, start: list[str], data: st.DataObject
    ) -> None:
        positions = {name: place * 3 for place, name in enumerate(start)}
        order = data.draw(st.lists(st.sampled_from(start), unique=True))
        after = positions | reorder_positions(positions, order)
        self.assertEqual(sorted(positions.values()), sorted(after.values()))
        self.assertEqual(order, sorted(order, key=lambda name: after[name]))
        for name in set(start) - set(order):
            self.assertEqual(positions[name], after[name])


class ClassifyTests(SynchronousTestCase):
    """Prompt or raw (protocol-prompts)."""

    def test_text_with_a_final_enter_is_a_prompt(self) -> None:
        for text, prompt in [
            ("hello\r", True),
            ("a\nb\tc\r", True),
            (" \r", False),
            ("hello", False),
            ("\r", False),
            ("\n\r", False),
            ("a\rb\r", True),
            ("a\r\n", True),
            ("a\r\nb\r\n", True),
            ("a\r\r\n", False),
            ("a\r\r", False),
            ("a\x1b\r", False),
            ("a\x7f\r", False),
            ("a\x9b\r", False),
            ("", False),
        ]:
            self.assertEqual(prompt, looks_like_prompt(text), repr(text))

    def test_requested_input_kind_is_used(self) -> None:
        for text, use_mux, kind, data in [
            ("a\r", False, InputKind.RAW, b"a\r"),
            ("a\r\nb\r", True, InputKind.PROMPT, b"a\nb"),
            ("\r", True, InputKind.PROMPT, b""),
        ]:
            request = InputRequest(text=text, use_mux=use_mux)
            self.assertEqual(ClassifiedInput(request, kind, data), classify_request(request))

    @thorough
    @given(st.text())
    def test_pasted_text_contains_no_control_character(self, text: str) -> None:
        pasted = sanitize_prompt(text)
        self.assertFalse(any(ord(c) < 32 and c not in "\n\t" for c in pasted))
        self.assertNotIn("\x9b", pasted)
