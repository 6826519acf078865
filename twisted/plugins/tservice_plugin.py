"""Tells C{twistd} that there is a C{tservice}.  There is no C{__init__.py} here or above."""

from twisted.application.service import ServiceMaker

serviceMaker = ServiceMaker(
    "tservice",
    "tservice.tap",
    "Keep agent CLIs and shells alive in tmux panes and drive them over HTTP.",
    "tservice",
)
