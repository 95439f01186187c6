#!/bin/sh
# Installs what is missing and runs the tests: sh tools/test.sh
# The last line is "N passed, N failed, N skipped"; the exit status says whether all passed.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in *UTF-8 | *utf8) ;; *) export LC_ALL=C.UTF-8 ;; esac

status=0
sh "$tools/setup.sh" build test && sh "$tools/install.sh" &&
  NOT_CRAN=${NOT_CRAN:-true} R_LIBS="$tools/../.Rlib" Rscript --vanilla "$tools/test.R" "$tools/../tests/testthat" || status=$?
# tools/test.R ends with 0 or 3 once it has counted; anything else is a crash on the way.
case $status in
  0 | 3) ;;
  *) echo "The tests did not run to their end (status $status)."
     echo "0 passed, 1 failed, 0 skipped" ;;
esac
exit $status
