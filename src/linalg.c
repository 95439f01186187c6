#include "linalg.h"

#include <string.h>

/* With R: its declarations and its convention for the length of character
 * arguments (FCONE). Without: the same prototypes, for the core's own tests. */
#ifndef RVM_WITHOUT_R
#  ifndef USE_FC_LEN_T
#    define USE_FC_LEN_T
#  endif
#  include <Rconfig.h>
#  include <R_ext/BLAS.h>
#  include <R_ext/Lapack.h>
#  ifndef FCONE
#    define FCONE
#  endif
#else
#  define F77_CALL(name) name##_
#  define FCONE , (size_t) 1
void dgeqrf_(const int *, const int *, double *, const int *, double *, double *, const int *, int *);
void dorgqr_(const int *, const int *, const int *, double *, const int *, const double *, double *, const int *, int *);
void dtrsm_(const char *, const char *, const char *, const char *, const int *, const int *, const double *,
            const double *, const int *, double *, const int *, size_t, size_t, size_t, size_t);
void dtrsv_(const char *, const char *, const char *, const int *, const double *, const int *, double *, const int *,
            size_t, size_t, size_t);
void dpotrf_(const char *, const int *, double *, const int *, int *, size_t);
void dtrtri_(const char *, const char *, const int *, double *, const int *, int *, size_t, size_t);
void dsyrk_(const char *, const char *, const int *, const int *, const double *, const double *, const int *,
            const double *, double *, const int *, size_t, size_t);
#endif

enum { QR_BLOCK = 32 };

size_t linalg_qr_work(size_t cols) { return cols * (QR_BLOCK + 1) + 1; }

rvm_status linalg_qr(size_t rows, size_t cols, double *A, size_t lda, double *R, size_t ldr, double *work)
{
    if (cols == 0) return RVM_OK;
    int m = (int) rows, n = (int) cols, ld = (int) lda, length = (int) (cols * QR_BLOCK), info = 0;
    double *reflectors = work + cols * QR_BLOCK;
    F77_CALL(dgeqrf)(&m, &n, A, &ld, reflectors, work, &length, &info);
    if (info) return RVM_SINGULAR;
    for (size_t j = 0; j < cols; j++) {
        memcpy(R + j * ldr, A + j * lda, (j + 1) * sizeof(double));
        memset(R + j * ldr + j + 1, 0, (cols - j - 1) * sizeof(double));
    }
    F77_CALL(dorgqr)(&m, &n, &n, A, &ld, reflectors, work, &length, &info);
    return info ? RVM_SINGULAR : RVM_OK;
}

void linalg_solve_upper(size_t n, const double *R, size_t ldr, int transposed, size_t count, double *B, size_t ldb)
{
    if (n == 0 || count == 0) return;
    int order = (int) n, sides = (int) count, ld_r = (int) ldr, ld_b = (int) ldb, step = 1;
    double one = 1;
    const char *side = transposed ? "T" : "N";
    if (count == 1) { /* some BLAS wake all their threads for a dtrsm of any size */
        F77_CALL(dtrsv)("U", side, "N", &order, R, &ld_r, B, &step FCONE FCONE FCONE);
        return;
    }
    F77_CALL(dtrsm)("L", "U", side, "N", &order, &sides, &one, R, &ld_r, B, &ld_b FCONE FCONE FCONE
                    FCONE);
}

int linalg_cholesky(size_t n, double *A, size_t lda)
{
    if (n == 0) return 1;
    int order = (int) n, ld = (int) lda, info = 0;
    F77_CALL(dpotrf)("U", &order, A, &ld, &info FCONE);
    return info == 0;
}

void linalg_invert_upper(size_t n, double *R, size_t ldr)
{
    if (n == 0) return;
    int order = (int) n, ld = (int) ldr, info = 0;
    F77_CALL(dtrtri)("U", "N", &order, R, &ld, &info FCONE FCONE);
    for (size_t j = 0; j < n; j++) memset(R + j * ldr + j + 1, 0, (n - j - 1) * sizeof(double));
}

void linalg_outer_upper(size_t n, const double *R, size_t ldr, double *out, size_t ldo)
{
    if (n == 0) return;
    int order = (int) n, ld = (int) ldr, ld_out = (int) ldo;
    double one = 1, zero = 0;
    F77_CALL(dsyrk)("U", "N", &order, &order, &one, R, &ld, &zero, out, &ld_out FCONE FCONE);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) out[i + j * ldo] = out[j + i * ldo];
}
