"""Commands of C{tsctl}: their records, and one module for each group."""
