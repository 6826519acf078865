"""A stream, cut anywhere."""

from __future__ import annotations

from itertools import pairwise


def cut_pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """C{data} cut at the given places."""
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(places)]
