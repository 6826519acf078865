"""The CLIs that the service knows from the start, one folder each.

C{entry.yaml} has the same fields as an entry of C{clis.json}, and is checked by the same rules.
Its flags, marks and file names are those of the versions that its first comment names.

C{env.harmless} is what accounts without the grant to bypass permissions may set.  A name is
listed only after it was looked up in the program.  It must not be able to run a program, choose a
model or an endpoint, replace a configuration, or loosen what is asked.  An
entry without the list has no such name.  Codex and Gemini CLI read keys, folders, addresses and
commands, and a few names without a use; Antigravity's are not documented; shell and pi need the
grant as such.

C{capabilities.folderConfig} is what a working folder can bring that makes the agent run or permit
something unasked.  Its harmless keys were looked up like the variables: a key that the list does
not name counts, so a new key of the agent's counts until it was looked up.
"""
