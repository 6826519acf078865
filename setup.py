"""Packaging hook: the browser UI is built into the wheel (see C{setup.cfg})."""

from setuptools import setup

setup()
