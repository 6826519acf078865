"""The commands of C{tsctl}: their records, and one file a theme that does them."""
