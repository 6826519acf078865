"""Tests of the command tservice."""
