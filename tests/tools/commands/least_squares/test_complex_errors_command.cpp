#include "tests/support/commands/command.hpp"
#include "tests/support/matrices.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

using Z = std::complex<double>;

const Command ols{{"ols"}}, wls{{"wls"}}, glm{{"glm"}};

HostMatrix<Z> diagonal(index_t n, double x) {
  return filled<Z>({n, n}, [x](index_t i, index_t j) { return i == j ? x : 0.0; });
}

}  // namespace

TEST_CASE("ols, wls and glm report standard errors and covariances of complex unknowns") {
  const TemporaryFolder folder;
  const index_t m = 30, n = 4;
  const HostMatrix<Z> a = test::random<Z>(m, n, 1), b = test::random<Z>(m, 1, 2);
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "b.npy", b);
  write_matrix(folder / "i.npy", diagonal(m, 1));
  write_matrix(folder / "w.npy", filled<double>({m, 1}, [](index_t, index_t) { return 1.0; }));
  const Words problem{"--a",
                      folder / "a.npy",
                      "--b",
                      folder / "b.npy",
                      "--out",
                      folder / "x.npy",
                      "-p",
                      "z",
                      "--out-covariance",
                      folder / "v.npy",
                      "--std-errors"};
  for (const auto& [command, more] : {std::pair{&ols, Words{}},
                                      {&wls, {"--weights", folder / "w.npy"}},
                                      {&wls, {"--sigma", folder / "i.npy"}},
                                      {&glm, {"--factor", folder / "i.npy"}}}) {
    CAPTURE(command->words, more);
    const auto report = (*command)(problem + more);
    CHECK(report["status"] == "ok");
    const HostMatrix<Z> x = read_matrix<Z>(folder / "x.npy"), v = read_matrix<Z>(folder / "v.npy");
    const double squares = std::pow(distance(b, product(a, x)), 2), variance = squares / static_cast<double>(m - n);
    CHECK(std::abs(report["residual_variances"][0].get<double>() - variance) <= 1e-12 * variance);
    CHECK(distance(product(product(Op::conjugate, a, a), v), diagonal(n, variance)) <= 1e-12);
    const auto& side = report["regression"][0];
    CHECK(!side.contains("level"));
    for (index_t j = 0; j < n; ++j) {
      const auto& unknown = side["coefficients"][static_cast<std::size_t>(j)];
      CHECK(std::abs(unknown["std_error"].get<double>() - std::sqrt(v(j, j).real())) <= 1e-13);
      CHECK(Z(unknown["estimate"][0], unknown["estimate"][1]) == x(j, 0));
    }
  }
  const Outcome shown = run_tesela(Words{"ols"} + problem);
  CHECK_THAT(shown.out, ContainsSubstring("imaginary part") && ContainsSubstring("26 degrees of freedom"));
  CHECK(wls(problem + Words{"--weights", folder / "w.npy", "--known-variances"})["status"] == "ok");
  CHECK(distance(product(product(Op::conjugate, a, a), read_matrix<Z>(folder / "v.npy")), diagonal(n, 1)) <= 1e-12);
  const auto none = ols({"--m", "9", "--n", "4", "--random", "rank:3", "--std-errors", "-p", "c"});
  CHECK(none["standard_errors"].empty());
}
