"""Cases: named folders in which sessions work."""
