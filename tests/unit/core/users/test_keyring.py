"""Tests for L{tservice.core.users.keyring}."""

from __future__ import annotations

import ctypes
import errno

from twisted.trial.unittest import SynchronousTestCase

from tservice.core.users import keyring


class FakeKernel:
    """Notes what it is asked; C{error} is its answer."""

    def __init__(self, error: int = 0) -> None:
        self.error = error
        self.asked: list[tuple[object, ...]] = []

    def syscall(self, *words: object) -> int:
        self.asked.append(words)
        return -1 if self.error else 7


class KeyringTests(SynchronousTestCase):
    def kernel(self, error: int = 0) -> FakeKernel:
        kernel = FakeKernel(error)
        self.patch(keyring, "_libc", kernel)
        self.patch(keyring, "_KEYCTL", 250)
        self.patch(ctypes, "get_errno", lambda: error)
        return kernel

    def test_new_keyring_is_used_and_left(self) -> None:
        """Also when the start fails: the child's is not kept."""
        kernel = self.kernel()
        with keyring.use_fresh_keyring():
            self.assertEqual([(250, 1, None)], kernel.asked)
        self.assertEqual(2, len(kernel.asked))
        with self.assertRaises(KeyError), keyring.use_fresh_keyring():
            {1: 1}[2]
        self.assertEqual(4, len(kernel.asked))

    def test_kernel_without_keys_is_accepted(self) -> None:
        for error in (errno.ENOSYS, errno.EPERM):
            self.kernel(error)
            with keyring.use_fresh_keyring():
                pass

    def test_refused_keyring_starts_nothing(self) -> None:
        """Then nothing is started with somebody else's keys."""
        started: list[int] = []
        self.kernel(errno.EDQUOT)
        with self.assertRaises(OSError), keyring.use_fresh_keyring():
            started.append(1)
        self.patch(keyring, "_KEYCTL", None)
        with self.assertRaises(OSError), keyring.use_fresh_keyring():
            started.append(1)
        self.assertEqual([], started)
