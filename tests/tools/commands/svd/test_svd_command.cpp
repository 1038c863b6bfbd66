#include "tests/support/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

const Command svd{{"svd"}};

/// Checks the reported errors against the bounds of docs/svd.md.
void check_errors(const nlohmann::json& report, double size, bool single) {
  const double root = std::sqrt(std::max(1.0, size));
  for (const char* const name : {"max_error", "norm_drift", "residual"})
    CHECK(check(report, name) <= (single ? 1e-6 : 5e-15) * root);
  for (const char* const name : {"orthogonality_u", "orthogonality_v"})
    CHECK(check(report, name) <= (single ? 2e-5 : 1e-13) * root);
  CHECK(report["status"] == "ok");
}

}  // namespace

TEST_CASE("svd decomposes every kind and shape within its bounds") {
  for (const char* const kind :
       {"uniform", "normal", "graded", "kappa:1e10", "rank:1", "rank:5", "zero", "hilbert", "kahan", "band:3"})
    for (const auto& [m, n] :
         std::vector<std::pair<const char*, const char*>>{{"65", "65"}, {"80", "33"}, {"33", "80"}})
      for (const bool single : {false, true}) {
        CAPTURE(kind, m, n, single);
        Words words{"--random", kind, "-m", m, "-n", n, "--method", "two-stage", "--band", "8"};
        if (single) words = words + Words{"-p", "s"};
        const auto report = svd(words);
        CHECK(check(report, "found") == 33 + (std::string(m) == n ? 32 : 0));
        CHECK(report["problem"]["method"] == "two-stage");
        check_errors(report, std::max(std::stod(m), std::stod(n)), single);
      }
  for (const char* const m : {"0", "1", "2"})
    for (const char* const n : {"0", "1", "3"}) check_errors(svd({"-m", m, "-n", n, "--full"}), 3, false);
}

TEST_CASE("svd works at the ends of the range") {
  for (const char* const scale : {"1e300", "1e-300", "1e-310"})
    for (const char* const method : {"two-stage", "lapack"})
      CHECK(svd({"-n", "40", "--scale", scale, "--method", method})["status"] == "ok");
  TemporaryFolder folder;
  HostMatrix<double> a(40, 40);
  std::fill_n(a.data(), a.size(), 1e308);
  write_matrix(folder / "big.npy", a);
  CHECK_THAT(svd({"-a", folder / "big.npy"}, 1)["status"].get<std::string>(), ContainsSubstring("overflow"));
}

TEST_CASE("svd writes files that compose to A, or only the largest triples") {
  TemporaryFolder folder;
  svd({"-m", "30", "-n", "20", "--full", "-o", folder / "s.npy", "--out-u", folder / "u.npy", "--out-v",
       folder / "v.mtx"});
  CHECK(probe_matrix(folder / "u.npy").shape == Shape{30, 30});
  CHECK(probe_matrix(folder / "v.mtx").shape == Shape{20, 20});
  const auto all = svd({"-m", "30", "-n", "20", "--values"}), part = svd({"-m", "30", "-n", "20", "--largest", "3"});
  CHECK(all["checks"]["found"] == 20);
  CHECK(part["checks"]["found"] == 3);
  CHECK_FALSE(all["checks"].contains("residual"));
  CHECK_FALSE(part["checks"].contains("norm_drift"));
  const auto report = svd({"-a", folder / "u.npy", "--values"});  // orthogonal: all values are 1
  CHECK(check(report, "condition") < 1 + 1e-12);
}

TEST_CASE("svd refuses wrong options") {
  svd.refuses({"-n", "5", "--largest", "6"}, "6 of 5 values");
  svd.refuses({"-n", "5", "--full", "--largest", "2"}, "contradict");
  svd.refuses({"-n", "5", "--full", "--values"}, "contradict");
  svd.refuses({"-n", "5", "--values", "--out-u", "u.npy"}, "contradict");
  svd.refuses({"-n", "5", "--random", "laplacian"}, "hilbert");
  svd.refuses({"-n", "5", "--scale", "1e400"}, "--scale");
}
