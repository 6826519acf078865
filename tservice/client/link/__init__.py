"""How C{tsctl} reaches a service: addresses, requests, streams.  Blocking, standard library."""
