#include "tests/support/mimo.hpp"
#include "tools/checks/mimo_error.hpp"

using namespace tesela;
using namespace tesela::test;

TEST_CASE("the largest gap keeps NaN") {
  double largest = 0;
  for (const double gap : {1e-16, 0.0, 3e-16, 2e-16}) update_nan_max(largest, gap);
  CHECK(largest == 3e-16);
  update_nan_max(largest, std::numeric_limits<double>::quiet_NaN());
  update_nan_max(largest, 1e-17);
  CHECK(std::isnan(largest));
}

TEST_CASE("mimo_error returns the gap of a wrong result, also near the largest number") {
  for (const double scale : {1.0, 1e305, 1e-290}) {
    Problem<double> p = problem<double>({2, 2, 40, 1}, "qpsk", "rayleigh", 30);
    for (auto* const a : {&p.h, &p.y})
      for (index_t e = 0; e < a->size(); ++e) a->data()[e] *= scale;
    Detection found = detect(p, {.method = MimoMethod::brute});
    const Detection reference = detect(p, {.method = MimoMethod::brute});
    const auto error = [&] { return mimo_error(p.shape, p.h, p.y, p.alphabets, found, reference, HostMatrix<int>()); };
    CAPTURE(scale);
    CHECK(error().metric_gap <= 1e-12);
    CHECK(error().mismatches == 0);
    found.labels(1, 7) ^= 1;
    CHECK(error().metric_gap >= 0.01);
    CHECK(error().metric_gap <= 20);
    CHECK(error().mismatches == 1);
  }
}
