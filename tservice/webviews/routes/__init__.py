"""Operations of web tabs, and the relay between a browser and a target."""
