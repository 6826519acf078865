"""The operations of web tabs, and what passes between a browser and a target."""
