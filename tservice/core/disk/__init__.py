"""Private files and secrets on disk, and the errors of a disk that refuses writes."""
