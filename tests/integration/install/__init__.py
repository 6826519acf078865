"""Tests of how the program is installed and upgraded."""
