"""Shell text that finds repositories, and reads and replaces files, with what POSIX has.

Each script is run by C{sh -c} in the location, and gets its arguments as positional parameters.
"""

from __future__ import annotations

_FUNCTIONS = r"""
has_link() {
    d=$1
    while :; do
        case $d in */*) d=${d%/*} ;; *) return 1 ;; esac
        [ ! -h "./$d" ] || return 0
    done
}
mode_of() {
    if has_link "$1"; then echo 0
    elif [ -h "./$1" ]; then echo 120000
    elif [ ! -f "./$1" ]; then echo 0
    elif [ -x "./$1" ]; then echo 100755
    else echo 100644
    fi
}
hash_of() {
    if [ -h "$1" ]; then readlink -n "$1" | git hash-object --stdin
    elif [ -f "$1" ]; then git hash-object --no-filters -- "$1"
    elif [ -e "$1" ]; then return 1
    else echo 0000000000000000000000000000000000000000
    fi
}
"""

FIND_REPOSITORIES = r"""
cd -- "$1" || exit 3
say() {
    top=$(cd -- "$1" && git rev-parse --show-toplevel) || return 0
    control=$(cd -- "$1" && git rev-parse --absolute-git-dir) || return 0
    common=$(cd -- "$control" && cd -- "$(git rev-parse --git-common-dir)" && pwd -P) || return 0
    printf '%s\0%s\0%s\0' "$top" "$control" "$common"
}
printf '%s\0' "$(pwd -P)"
if git rev-parse --show-toplevel >/dev/null 2>&1; then say .; exit 0; fi
find . -maxdepth 3 \( -name node_modules -o -name '.?*' ! -name .git \) -prune -o \
    -name .git -print -prune 2>/dev/null | sort | head -n "$2" | while IFS= read -r found; do
    say "${found%/.git}" 2>/dev/null
done
"""
"""Print the workspace, then top, control folder and common folder of each repository, ended by
NUL.

Arguments: the workspace, and the maximum number of repositories.
"""

READ_FILES = (
    _FUNCTIONS
    + r"""
cd -- "$1" || exit 3
shift
exec 3>&1
while [ $# -gt 0 ]; do
    mode=$(mode_of "$1")
    if [ "$mode" = 120000 ]; then echo "M $mode $(readlink -n "./$1" | git hash-object --stdin)" >&3
    else
        echo "M $mode" >&3
        [ "$mode" = 0 ] || printf '%s\n' "$2"
    fi
    shift 2
done | git hash-object --no-filters --stdin-paths
"""
)
"""Print a line C{M mode} for each file, and the hashes of the regular files in their order.

Arguments: the top folder, then each path, followed by the path in C's quotes.
"""

READ_CONTENT = (
    _FUNCTIONS
    + r"""
cd -- "$1" || exit 3
mode=$(mode_of "$2")
echo "$mode"
case $mode in
    0) ;;
    120000) readlink -n "./$2" ;;
    *) head -c "$3" "./$2" ;;
esac
"""
)
"""Print the mode of a file, then its content up to a limit.

Arguments: the top folder, the path, and the limit.
"""

REPLACE_FILE = (
    _FUNCTIONS
    + r"""
trap '' HUP PIPE
cd -- "$1" || exit 3
expected=$3 mode=$4
! has_link "$2" || exit 9
p=./$2
folder=${p%/*}
spare=$folder/.review-$5.part
kept=$folder/.review-$5.old
[ "$mode" = 0 ] || mkdir -p -- "$folder" || exit 13
now=$(hash_of "$p") || exit 8
[ "$now" = "$expected" ] || exit 9
case $mode in
    0) ;;
    120000)
        target=$(cat; printf x)
        ln -s "${target%x}" "$spare" || exit 13
        ;;
    *)
        if [ -f "$p" ] && [ ! -h "$p" ]; then cp -p "$p" "$spare" || exit 13; fi
        cat > "$spare" || { rm -f "$spare"; exit 13; }
        if [ "$mode" = 100755 ]; then chmod +x "$spare"; else chmod a-x "$spare"; fi
        ;;
esac
put_back() {
    [ -e "$p" ] || [ -h "$p" ] || mv "$kept" "$p"
    rm -f "$spare" "$kept"
    exit 9
}
if [ -e "$p" ] || [ -h "$p" ]; then
    before=$(mode_of "$2")
    mv "$p" "$kept" || { rm -f "$spare"; exit 13; }
    [ "$(hash_of "$kept")" = "$expected" ] || put_back
else
    before=0
fi
if [ "$mode" != 0 ]; then
    if [ "$mode" = 120000 ]; then ln -s "${target%x}" "$p" 2>/dev/null || put_back
    else ln "$spare" "$p" 2>/dev/null || put_back
    fi
    rm -f "$spare"
fi
echo "$before"
[ "$before" != 0 ] || exit 0
if [ "$(hash_of "$kept")" != "$expected" ]; then
    # A program that had the file open wrote on.
    mv -f "$kept" "$p"
    exit 9
fi
if [ -h "$kept" ]; then readlink -n "$kept"; else cat "$kept"; fi
rm -f "$kept"
"""
)
"""Replace a file if it has the expected hash; print the mode and the content of the old one.

The old file is moved away before it is compared a last time, and the new one is linked where there
is none, so that nothing is lost that another program writes meanwhile.  The exit status is 9 if the
file was changed, 8 if it is neither a file nor a link, and 13 if it cannot be written.

Arguments: the top folder, the path, the expected hash, the new mode or 0, and a random name.
"""

COUNT_LINES = r"""
cd -- "$1" || exit 3
shift
git grep --no-index -I -c -z -e '' -- "$@" || [ $? = 1 ]
"""
"""Print the path and the number of lines of each text file, ended by NUL and a line end."""
