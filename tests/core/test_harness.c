/* The harness itself: a check that holds and one that does not are counted as such. */
#include "tests.h"

void test_harness(void)
{
  struct counts before = counts, after;
  count(1);
  count(0);
  after = counts;
  counts = before;      /* the failure above was on purpose */
  CHECK(after.passed == before.passed + 1);
  CHECK(after.failed == before.failed + 1);
  CHECK_NEAR(1 + 1e-12, 1.0, 1e-10);
}
