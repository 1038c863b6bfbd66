#include "tests/support/commands/command.hpp"
#include "tests/support/test.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

const Command batch{{"eig"}};
void refused(const Words& options, const std::string& why) { batch.refuses(options, why); }

}  // namespace

TEST_CASE("eig --batch reports the sum of found values and the largest errors") {
  for (const Words& precision : {Words{"-p", "d"}, Words{"-p", "s"}, Words{"-p", "c"}, Words{"-p", "z"}})
    for (const auto& [n, count] : {std::pair{0, 3}, {1, 5}, {16, 0}, {16, 30}, {128, 3}}) {
      const auto report =
          batch(Words{"--n", std::to_string(n), "--batch", std::to_string(count), "--vectors"} + precision);
      CHECK(report["checks"]["found"] == n * count);
      CHECK(report["checks"]["expected"] == n * count);
      for (const char* const error : {"max_error", "max_residual", "orthogonality"})
        CHECK(report["checks"][error] <= report["limits"][error]);
      CHECK(!report["checks"].contains("sampled_matrices"));
      CHECK(report["status"] == "ok");
    }
}

TEST_CASE("eig --batch accepts more than 65536 matrices") {
  const auto report = batch({"--n", "4", "--batch", "70000", "--vectors"});
  CHECK(report["checks"]["found"] == 280000);
  CHECK(report["checks"]["sampled_matrices"] == 1000);
  CHECK(report["status"] == "ok");
}

TEST_CASE("eig --batch uses consecutive seeds and reads the files of generated batches") {
  TemporaryFolder folder;
  const std::string w = folder / "w.npy", x = folder / "x.npy", one = folder / "one.npy";
  batch({"--n", "12", "--batch", "6", "--seed", "7", "--out", w, "--out-vectors", x});
  batch({"--n", "12", "--seed", "9", "--method", "lapack", "--out", one});
  const HostMatrix<double> values = read_matrix<double>(w), third = read_matrix<double>(one);
  CHECK(values.shape() == Shape{12, 6});
  for (index_t i = 0; i < 12; ++i) CHECK(std::abs(values(i, 2) - third(i, 0)) < 1e-13);
  CHECK(read_matrix<double>(x).shape() == Shape{12, 72});

  // Matrix k is [[k, 1], [1, -k]].
  HostMatrix<double> a(2, 10);
  for (index_t k = 0; k < 5; ++k) {
    a(0, 2 * k) = static_cast<double>(k), a(1, 2 * k + 1) = -static_cast<double>(k);
    a(1, 2 * k) = a(0, 2 * k + 1) = 1;
  }
  const std::string file = folder / "a.npy";
  write_matrix(file, a);
  batch({"--a", file, "--batch", "5", "--out", w});
  const HostMatrix<double> found = read_matrix<double>(w);
  for (index_t k = 0; k < 5; ++k) {
    const double root = std::sqrt(static_cast<double>(k * k + 1));
    CHECK(std::abs(found(0, k) + root) < 1e-14);
    CHECK(std::abs(found(1, k) - root) < 1e-14);
  }
  refused({"--a", file, "--batch", "4"}, "not n x (K n)");
  a(0, 3) = 2;
  write_matrix(file, a);
  refused({"--a", file, "--batch", "5"}, "not symmetric: matrix 2, A(2, 1) = 1 and matrix 2, A(1, 2) = 2");
  batch({"--a", file, "--batch", "5", "--uplo", "upper", "--out", w});
  CHECK(std::abs(read_matrix<double>(w)(1, 1) - std::sqrt(5.0)) < 1e-14);
}

TEST_CASE("eig --batch -p z reads Hermitian matrices") {
  using Z = std::complex<double>;
  TemporaryFolder folder;
  HostMatrix<Z> a(2, 10);  // matrix k is [[k, i], [-i, -k]]
  for (index_t k = 0; k < 5; ++k) {
    a(0, 2 * k) = static_cast<double>(k), a(1, 2 * k + 1) = -static_cast<double>(k);
    a(0, 2 * k + 1) = Z(0, 1), a(1, 2 * k) = Z(0, -1);
  }
  const std::string file = folder / "a.npy", w = folder / "w.npy", x = folder / "x.npy";
  write_matrix(file, a);
  batch({"--a", file, "--batch", "5", "--out", w, "--out-vectors", x, "-p", "z"});
  const HostMatrix<double> found = read_matrix<double>(w);
  const HostMatrix<Z> vectors = read_matrix<Z>(x);
  for (index_t k = 0; k < 5; ++k) {
    const double root = std::sqrt(static_cast<double>(k * k + 1));
    CHECK(std::abs(found(1, k) - root) < 1e-14);
    for (index_t i = 0; i < 2; ++i) {
      const Z product = a(i, 2 * k) * vectors(0, 2 * k + 1) + a(i, 2 * k + 1) * vectors(1, 2 * k + 1);
      CHECK(std::abs(product - root * vectors(i, 2 * k + 1)) < 1e-14);
    }
  }
  a(1, 4) = Z(0, 1);  // symmetric, not Hermitian
  write_matrix(file, a);
  refused({"--a", file, "--batch", "5", "-p", "z"}, "not Hermitian: matrix 3");
}

TEST_CASE("eig --batch: overflow in one matrix is a status, and the others are solved") {
  const auto report = batch({"--random", "normal", "--scale", "6e307", "--n", "3", "--batch", "40"}, 1);
  CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("not finite: A("));
  const auto failed = report["counts"]["failed_matrices"].get<int>();
  CHECK((failed > 0 && failed < 40));
  CHECK(report["checks"]["found"] == 3 * (40 - failed));
}

TEST_CASE("eig --batch refuses invalid input") {
  refused({"--n", "129", "--batch", "2"}, "up to 128");
  refused({"--n", "8", "--batch", "2", "--smallest", "3"}, "--smallest");
  refused({"--n", "8", "--batch", "-2"}, "--batch");
}
