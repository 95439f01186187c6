#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

SEXP ffi_kernel_matrix(SEXP, SEXP, SEXP);
SEXP ffi_kernel_gradient(SEXP, SEXP, SEXP);
SEXP ffi_fit(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_fit_classes(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_class_statistics(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_gradient(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_class_gradient(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_predict(SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_statistics(SEXP, SEXP, SEXP, SEXP, SEXP, SEXP, SEXP);
SEXP ffi_gains(SEXP, SEXP, SEXP, SEXP);

static const R_CallMethodDef entries[] = {
    { "kernel_matrix", (DL_FUNC) &ffi_kernel_matrix, 3 },
    { "kernel_gradient", (DL_FUNC) &ffi_kernel_gradient, 3 },
    { "fit", (DL_FUNC) &ffi_fit, 7 },
    { "fit_classes", (DL_FUNC) &ffi_fit_classes, 8 },
    { "class_statistics", (DL_FUNC) &ffi_class_statistics, 8 },
    { "gradient", (DL_FUNC) &ffi_gradient, 8 },
    { "class_gradient", (DL_FUNC) &ffi_class_gradient, 10 },
    { "predict", (DL_FUNC) &ffi_predict, 5 },
    { "statistics", (DL_FUNC) &ffi_statistics, 7 },
    { "gains", (DL_FUNC) &ffi_gains, 4 },
    { NULL, NULL, 0 },
};

void attribute_visible R_init_rvm(DllInfo *info)
{
    R_registerRoutines(info, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(info, FALSE);
    R_forceSymbols(info, TRUE);
}
