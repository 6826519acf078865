"""Commands of C{tsctl}: one module for each group, and the records that describe them."""
