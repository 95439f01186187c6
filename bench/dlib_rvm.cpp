// One RVM regression by dlib, for bench/race.R: reads a problem from a binary file (rows N, inputs d, test rows n, gamma;
// x by rows, y, test x by rows, truth; all double), prints seconds, vectors, test RMSE and peak memory in MB.
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
#include <dlib/svm.h>

typedef dlib::matrix<double, 0, 1> sample;
typedef dlib::radial_basis_kernel<sample> kernel;

static std::ifstream file;
static double number() { double value; file.read(reinterpret_cast<char *>(&value), sizeof value); return value; }
static std::vector<sample> samples(long rows, long inputs)
{
  std::vector<sample> all(rows, sample(inputs));
  for (sample &row : all) for (long j = 0; j < inputs; j++) row(j) = number();
  return all;
}
static std::vector<double> numbers(long rows)
{
  std::vector<double> all(rows);
  for (double &value : all) value = number();
  return all;
}
static double peak_memory()
{
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) if (word == "VmHWM:") { double kb; status >> kb; return kb / 1024; }
  return NAN;
}

int main(int, char **argv)
{
  file.open(argv[1], std::ios::binary);
  const long rows = number(), inputs = number(), test_rows = number();
  const double gamma = number();
  const std::vector<sample> x = samples(rows, inputs);
  const std::vector<double> y = numbers(rows);
  const std::vector<sample> test_x = samples(test_rows, inputs);
  const std::vector<double> truth = numbers(test_rows);

  dlib::rvm_regression_trainer<kernel> trainer;
  trainer.set_kernel(kernel(gamma));
  const auto start = std::chrono::steady_clock::now();
  const dlib::decision_function<kernel> fit = trainer.train(x, y);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  double squares = 0;
  for (long i = 0; i < test_rows; i++) squares += std::pow(fit(test_x[i]) - truth[i], 2);
  std::cout << seconds.count() << " " << fit.basis_vectors.size() << " " << std::sqrt(squares / test_rows) << " " << peak_memory() << "\n";
}
