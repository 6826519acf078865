"""Tests for dictation."""
