#!/bin/sh
# Compiles the numerical core without R, under AddressSanitizer and UBSan, and runs its own tests: sh tools/test-core.sh
# The last line is "N passed, N failed".
set -eu
cd "$(dirname "$0")/.."
sh tools/setup.sh core

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sources=
for file in tests/core/*.c src/*.c; do
  case $file in src/r_*.c | src/init.c) ;; *) sources="$sources $file" ;; esac
done
# shellcheck disable=SC2086
cc -std=gnu99 -O1 -g -Wall -Wextra -Wno-unknown-pragmas -fsanitize=address,undefined -fno-sanitize-recover=all \
  -fno-omit-frame-pointer -DRVM_WITHOUT_R -Isrc $sources -o "$scratch/core" -llapack -lblas -lm
"$scratch/core"
