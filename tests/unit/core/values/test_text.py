"""Tests for texts of any language that are cut, or made into names."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from twisted.trial.unittest import SynchronousTestCase

from tservice.core.values.text import (
    cut_between_letters,
    is_combining_character,
    make_ascii_slug,
    shorten_text,
)

CHINESE = "请 修复登录页面在网络断开之后一直转圈的问题并且补上测试不要改动其他文件谢谢"
THAI = "แก้ไขหน้าเข้าสู่ระบบ"


class CuttingTests(SynchronousTestCase):
    def test_text_is_shortened_at_a_blank(self) -> None:
        self.assertEqual("Mend the login…", shorten_text("Mend the login page of the shop", 20))
        self.assertEqual("Mend the…", shorten_text("Mend the login", 9))
        self.assertEqual("short", shorten_text("short", 5))

    def test_text_with_only_an_early_blank_is_cut_later(self) -> None:
        self.assertEqual(CHINESE[:19] + "…", shorten_text(CHINESE, 20))
        self.assertEqual("a " + "x" * 17 + "…", shorten_text("a " + "x" * 60, 20))

    def test_combined_characters_are_not_split(self) -> None:
        self.assertEqual("แ", cut_between_letters(THAI, 2))
        self.assertEqual("ab", cut_between_letters("abe\u0301", 3))
        self.assertEqual("a", cut_between_letters("a\U0001f469\u200d\U0001f4bb", 3))

    @given(st.text(max_size=80), st.integers(2, 40))
    def test_shortened_text_is_bounded(self, text: str, limit: int) -> None:
        cut = shorten_text(text, limit)
        self.assertLessEqual(len(cut), limit)
        if len(text) <= limit:
            self.assertEqual(text, cut)
        rest = cut_between_letters(text, limit)
        self.assertTrue(text.startswith(rest))
        self.assertLessEqual(len(rest), limit)


class AsciiWordTests(SynchronousTestCase):
    def test_word_is_transliterated_to_ascii(self) -> None:
        self.assertEqual("strasse-4", make_ascii_slug("Straße №4".replace("№", "")))
        self.assertEqual("buro-ouest", make_ascii_slug(" Büro / Ouest!"))
        self.assertEqual("", make_ascii_slug("构建机"))

    def test_combining_marks_are_recognized(self) -> None:
        self.assertTrue(all(is_combining_character(each) for each in "\u0301\u200d\ufe0f\u0e31"))
        self.assertFalse(any(map(is_combining_character, unicodedata.normalize("NFC", "aé登"))))
