"""Control of the terminal in which C{tsctl} was started."""
