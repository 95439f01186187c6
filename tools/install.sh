#!/bin/sh
# Installs the package into the project's private library .Rlib, from a copy, so that no object file stays in src/.
# Does nothing when the library is newer than the sources.
set -eu
cd "$(dirname "$0")/.."
library=$PWD/.Rlib
parts=
for part in DESCRIPTION NAMESPACE LICENSE NEWS.md R data inst man src; do
  [ ! -e $part ] || parts="$parts $part"
done
# shellcheck disable=SC2086
if [ -e "$library/.installed" ] && [ -d "$library/rvm" ] &&
   [ -z "$(find $parts ! -name '*.o' ! -name '*.so' -newer "$library/.installed")" ]; then exit 0; fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$library" "$scratch/rvm"
touch "$scratch/started"
# shellcheck disable=SC2086
cp -R $parts "$scratch/rvm"
rm -f "$scratch"/rvm/src/*.o "$scratch"/rvm/src/*.so
echo "install: building rvm into .Rlib"
MAKEFLAGS=${MAKEFLAGS:--j2} R CMD INSTALL --library="$library" "$scratch/rvm" >"$scratch/log" 2>&1 </dev/null || {
  cat "$scratch/log" >&2
  echo "install: R CMD INSTALL failed" >&2
  exit 1
}
mv "$scratch/started" "$library/.installed"
