# Runs a pane's program where nothing of ours is installed: what keeper.py does, for any POSIX
# shell with the usual tools.  Comments do not travel; see tservice.mux.remote.remote_programs.
# $TSERVICE_PANE_RUN starts the program, $TSERVICE_PANE_TOKEN makes the words in the stream ours.
say() { printf '\033]7773;%s;%s;%s\007' "$TSERVICE_PANE_TOKEN" "$1" "$2"; }
# A handler and not '', which the program would inherit.
trap : INT QUIT TSTP TTIN TTOU
rm -f -- "$TSERVICE_PANE_CONF"
if [ -n "$TSERVICE_PANE_PREFACE" ]; then
cat -- "$TSERVICE_PANE_PREFACE" 2>/dev/null
rm -f -- "$TSERVICE_PANE_PREFACE"
fi
exec 3>&1
# 128 + n tells an exit with that status and a death by signal n alike.  A shell speaks of the
# second on its own standard error, which nothing else writes to.
note=$(sh -c 'trap : INT QUIT TSTP; (exec sh -c "$TSERVICE_PANE_RUN" >&3 2>&3 3>&-); exit $?' 2>&1)
status=$?
number=0
if [ "$status" -gt 128 ] && [ -n "$note" ]; then
number=$((status - 128))
say signal "$number"
else
say exit "$status"
fi
sleep 1
trap '' HUP
exec 3>&- 0<&- 1>&- 2>&-
sleep 0.2 || sleep 1
[ "$number" = 0 ] && exit "$status"
ulimit -c 0
trap - INT QUIT TSTP TTIN TTOU HUP
kill -"$number" $$
sleep 1
exit "$status"
