#!/bin/sh
# Stands in for compute-sanitizer where there is no GPU: runs the program that it should check and leaves a log of the
# real one. A file beside it with a tool's name says what that tool does: "hang", "hang at once", "refuse", or which log to leave.
here=$(dirname "$0")
[ "$1" = --version ] && { printf 'NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 36400806) (public-release)\n'; exit 0; }
while case "$1" in --*) true ;; *) false ;; esac; do
    case "$1" in --tool) tool=$2 ;; --log-file) log=$2 ;; esac
    shift 2
done
[ "$WARPBOARD_APART$PYTORCH_NO_CUDA_MEMORY_CACHING" = 11 ] || { echo "the harness is not told" >&2; exit 2; }
does=none
[ "$tool" = racecheck ] && does=no_race
[ -e "$here/$tool" ] && does=$(cat "$here/$tool")
case $does in
refuse) echo "Unable to find injection library libsanitizer-collection.so" >&2; exit 1 ;;
"hang at once") sleep 1000 ;;
hang) cp "$here/memcheck.txt" "$log"; sleep 1000 ;;
esac
"$@"
code=$?
cp "$here/$does.txt" "$log"
exit $code
