"""Renaming of a folder, and mapping of paths inside it."""

from __future__ import annotations

from attrs import frozen


@frozen
class FolderMove:
    """Renaming of a folder from one absolute path to another."""

    old: str
    new: str

    def map_path(self, path: str) -> str:
        """Return C{path} after the move: changed only for the folder itself and paths inside it."""
        inside = path == self.old or path.startswith(f"{self.old}/")
        return self.new + path[len(self.old) :] if inside else path
