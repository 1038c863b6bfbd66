#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <fstream>

using namespace tesela::test;

namespace {

const Command nnls{{"nnls"}};

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("nnls: an unknown whose least-squares value is negative is zero") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.mtx", b = folder / "b.mtx", out = folder / "x.npy";
  // Least squares gives (-1/2, 2), and the third equation does not change the first unknown's sign.
  write(a, "%%MatrixMarket matrix array real general\n3 2\n2\n0\n0\n0\n4\n0\n");
  write(b, "%%MatrixMarket matrix array real general\n3 1\n-1\n8\n3\n");
  const auto report = nnls({"--a", a, "--b", b, "--out", out});
  CHECK(report["status"] == "ok");
  CHECK(report["checks"]["positive"] == 1);
  CHECK(std::abs(check(report, "residual_norm") - std::sqrt(10.0)) <= 1e-14);
  const auto x = read_matrix<double>(out);
  REQUIRE(x.shape() == Shape{2, 1});
  CHECK(x(0, 0) == 0);
  CHECK(std::abs(x(1, 0) - 2) <= 1e-15);
}

TEST_CASE("nnls: every method finds a minimum of generated problems") {
  const Words method = GENERATE(Words{}, Words{"--method", "tiles"}, Words{"--method", "tall-skinny"},
                                Words{"--method", "givens"}, Words{"--precision", "s"});
  CAPTURE(method);
  const auto report = nnls(method + Words{"--m", "300", "--n", "12", "--rhs", "3"});
  CHECK(report["status"] == "ok");
  CHECK(check(report, "optimality") <= report["limits"]["optimality"].get<double>());
  const double positive = check(report, "positive");
  CHECK(positive > 0);
  CHECK(positive < 36);  // random right-hand sides ask for both signs
}

TEST_CASE("nnls: wrong use is refused") {
  const TemporaryFolder folder;
  const std::string a = folder / "a.mtx", b = folder / "b.mtx";
  nnls.refuses({"--method", "lapack"}, "lapack");
  write(a, "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
  write(b, "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  nnls.refuses({"--a", a, "--b", b}, "rows");
  write(b, "%%MatrixMarket matrix array real general\n2 1\n1\nnan\n");
  nnls.refuses({"--a", a, "--b", b}, "not finite");
}
