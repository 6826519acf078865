"""Functions for this process (memory, alarms, early stop) and for the process groups of its
children.
"""
