"""Input path: types the inputs of a session in order, each accepted input exactly once.

C{accept} decides about an input when its turn comes, and C{type} types it.  C{recover} holds what
outlives this process, and continues with it after a restart.

An accepted input passes through these states.  The columns are state, input, new state and effect::

    accepted     begin_typing  typing
    accepted     confirm       confirmed    finish_entry
    accepted     fail          failed       finish_entry
    typing       press_enter   submitted    announce_enter
    typing       find_enter    submitted
    typing       confirm       confirmed    finish_entry
    typing       doubt         unconfirmed  keep_unconfirmed
    typing       revoke        revoked      revoke_entry
    typing       fail          failed       finish_entry
    submitted    confirm       confirmed    finish_entry
    submitted    doubt         unconfirmed  keep_unconfirmed
    submitted    revoke        revoked      revoke_entry
    submitted    fail          failed       finish_entry
    unconfirmed  press_enter   unconfirmed  announce_enter
    unconfirmed  doubt         unconfirmed
    unconfirmed  confirm       confirmed    drop_unconfirmed

A new input begins as C{accepted}, and so does one that a restart finds in the journal.  A prompt
that a restart finds among the unconfirmed prompts begins as C{unconfirmed}.  The stop of the
service is no input: the journal keeps what is C{accepted}, C{typing} or C{submitted} for the next
run.  The end of the process drops every entry.
"""
