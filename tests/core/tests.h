/* The core's own tests, built without R (tools/test-core.sh). Each room has tests/core/test_<room>.c
 * with one function test_<room>(); name it in CORE_TESTS and main.c runs it. */
#ifndef CORE_TESTS_H
#define CORE_TESTS_H

#include <math.h>

#define CORE_TESTS(TEST) \
  TEST(harness) TEST(vector) TEST(kernel) TEST(linalg) TEST(dictionary) TEST(order) TEST(basis) TEST(whiten) \
  TEST(evidence) TEST(posterior) TEST(likelihood) TEST(laplace) TEST(predict) TEST(search) TEST(fit) \
  TEST(fit_classes)

#define DECLARE_TEST(name) void test_##name(void);
CORE_TESTS(DECLARE_TEST)

struct counts { long passed, failed; };
extern struct counts counts;

/* Counts one check; returns ok. */
int count(int ok);
/* Counts one check and prints where it stands when it failed. */
void check(int ok, const char *what, const char *file, int line);

#define CHECK(condition) check((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
/* |a - b| <= tolerance * (1 + |b|); a NaN fails. */
#define CHECK_NEAR(a, b, tolerance) \
  check(fabs((a) - (b)) <= (tolerance) * (1 + fabs(b)), #a " near " #b, __FILE__, __LINE__)

#endif
