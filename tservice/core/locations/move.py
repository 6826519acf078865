"""A folder that was renamed, and what its paths are called since."""

from __future__ import annotations

from attrs import frozen


@frozen
class FolderMove:
    """From one absolute path to another."""

    old: str
    new: str

    def renamed(self, path: str) -> str:
        """Return what C{path} is called now: as before, unless it is the folder or inside it."""
        inside = path == self.old or path.startswith(f"{self.old}/")
        return self.new + path[len(self.old) :] if inside else path
