"""The command C{tservice}: start the service, keep it running, update it and back it up.

It is a thin front of C{twistd tservice}, which does the work; see tservice(1).
"""
