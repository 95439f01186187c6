#include <stdio.h>
#include "tests.h"

struct counts counts = {0, 0};

int count(int ok)
{
  if (ok) counts.passed++; else counts.failed++;
  return ok;
}

void check(int ok, const char *what, const char *file, int line)
{
  if (!count(ok)) fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}

int main(void)
{
#define RUN_TEST(name) test_##name();
  CORE_TESTS(RUN_TEST)
  printf("%ld passed, %ld failed\n", counts.passed, counts.failed);
  return counts.failed > 0 || counts.passed == 0;
}
