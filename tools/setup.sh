#!/bin/sh
# Installs what this machine lacks: sh tools/setup.sh build|core|test|check|bench ...
#   build   R, and a compiler that links packages to BLAS and LAPACK
#   core    a compiler with sanitizers, BLAS and LAPACK; no R
#   test    what the tests need
#   check   what R CMD check needs
#   bench   the packages we are compared with
# Debian and Ubuntu: by apt-get, as root or through sudo. Elsewhere it says what to install.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
packages=       # what is missing, by its Debian names
elsewhere=      # the same for readers on other systems
has() { command -v "$1" >/dev/null 2>&1; }

lacks() {       # lacks "words for other systems" debian-package ...
  elsewhere="$elsewhere
  $1"
  shift
  packages="$packages $*"
}

r_builds() {
  has Rscript || return 1
  echo '#include <R_ext/Lapack.h>' > "$scratch/probe.c"
  # shellcheck disable=SC2016
  echo 'PKG_LIBS = $(LAPACK_LIBS) $(BLAS_LIBS) $(FLIBS)' > "$scratch/Makevars"
  (cd "$scratch" && R CMD SHLIB probe.c) >/dev/null 2>&1
}

core_builds() {
  echo 'int main(void) { return 0; }' > "$scratch/main.c"
  cc -fsanitize=address,undefined "$scratch/main.c" -o "$scratch/main" -llapack -lblas -lm >/dev/null 2>&1
}

r_packages() {  # r_packages name ...: those that R cannot load
  for name; do
    if has Rscript && Rscript -e "quit(status = !requireNamespace('$name', quietly = TRUE))" >/dev/null 2>&1
    then continue; fi
    lacks "the R package $name: install.packages(\"$name\")" "r-cran-$(echo "$name" | tr '[:upper:]' '[:lower:]')"
  done
}

compiler="gcc libc6-dev libblas-dev liblapack-dev"
for group; do
  case $group in
    build) r_builds || lacks "R 4.2 or later, make, a C and a Fortran compiler, BLAS and LAPACK with headers" \
                             "r-base-core make gfortran $compiler" ;;
    core)  core_builds || lacks "a C compiler with AddressSanitizer, BLAS and LAPACK" "$compiler" ;;
    test)  r_packages testthat ;;
    check) r_packages testthat knitr rmarkdown codetools
           for program in pandoc qpdf; do has $program || lacks $program $program; done ;;
    bench) r_packages kernlab e1071 mlbench MASS
           echo '#include <dlib/revision.h>' | g++ -x c++ -fsyntax-only - >/dev/null 2>&1 ||
             lacks "a C++ compiler and dlib with headers" g++ libdlib-dev ;;
    *)     echo "setup: no such group: $group (build, core, test, check, bench)" >&2; exit 2 ;;
  esac
done
[ -n "$packages" ] || exit 0

if ! has apt-get; then
  echo "setup: please install:$elsewhere" >&2
  exit 1
fi
if has Rscript && ! dpkg -s r-base-core >/dev/null 2>&1; then
  echo "setup: this R does not come from a Debian package; please install for it:$elsewhere" >&2
  exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
  has sudo || { echo "setup: please run as root: apt-get install$packages" >&2; exit 1; }
  root=sudo
fi
echo "setup: installing$packages"
apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" </dev/null >>"$scratch/log" 2>&1; }
apt update || true   # one stale source need not stop the install
# shellcheck disable=SC2086
apt install -y --no-install-recommends $packages || {
  cat "$scratch/log" >&2
  echo "setup: apt-get could not install$packages" >&2
  exit 1
}
