#!/bin/sh
# Stands in for ncu where there is no GPU: runs the program that it should profile and writes a
# report; asked for a page of a report, it prints what ncu 2025.3.1 printed for one on an H200.
here=$(dirname "$0")
[ "$1" = --version ] && { echo "Version 2025.3.1.0 (build 36398880)"; exit 0; }

if [ "$1" = --import ]; then
    [ -s "$2" ] || { echo "==ERROR== $2 is no report"; exit 1; }
    page=$5
    [ "$7" = cuda,sass ] && exit 1 # these builds had no line information
    zcat "$here/$(cat "$2").$page.csv.gz"
    exit
fi

if [ -e "$here/refuse" ]; then
    echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters"
    exit 1
fi
echo "$*" | grep -q -- "--nvtx-include custom_kernel/ -c [0-9]* --clock-control none" || exit 2
while [ "$1" != -o ]; do shift; done
report=$2.ncu-rep
while [ "$1" != -- ]; do shift; done
shift
"$@" || { code=$?; echo "==ERROR== The application returned an error code ($code)."; exit 1; }
[ -e "$here/unmatched" ] && { printf '==WARNING== No kernels were profiled.\nAvailable Kernels:\n1. saxpy\n2. matmul_naive\n'; exit 0; }
[ -e "$here/empty" ] && { echo "==WARNING== No kernels were profiled."; exit 0; }
printf cuda4 >"$report"
