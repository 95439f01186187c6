#!/bin/sh
# Installs what is missing, then fits the sinc example and draws it: sh tools/demo.sh
# The picture, rvm-sinc.png, goes to the current directory.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)
case ${LC_ALL:-${LC_CTYPE:-${LANG:-}}} in *UTF-8 | *utf8) ;; *) export LC_ALL=C.UTF-8 ;; esac
sh "$tools/setup.sh" build
sh "$tools/install.sh"
R_LIBS="$tools/../.Rlib" Rscript --vanilla "$tools/demo.R"
