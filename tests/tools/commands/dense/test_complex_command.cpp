#include "tests/support/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

using Z = std::complex<double>;

const Command gemm{{"gemm"}}, lu{{"lu"}}, cholesky{{"cholesky"}}, qr{{"qr"}};

HostMatrix<Z> random(index_t m, index_t n, std::uint64_t seed) {
  return generate<Z>({m, n}, {.pattern = Pattern::uniform, .seed = seed});
}

/// Returns op(A) B.
HostMatrix<Z> product(Op op, const HostMatrix<Z>& a, const HostMatrix<Z>& b) {
  const Shape s = apply(op, a.shape());
  HostMatrix<Z> c = HostMatrix<Z>::zeros(s.rows, b.cols());
  for (index_t j = 0; j < b.cols(); ++j)
    for (index_t i = 0; i < s.rows; ++i)
      for (index_t l = 0; l < s.cols; ++l) c(i, j) += apply_to(op, op == Op::none ? a(i, l) : a(l, i)) * b(l, j);
  return c;
}

double apart(const HostMatrix<Z>& a, const HostMatrix<Z>& b) {
  REQUIRE(a.shape() == b.shape());
  double most = 0;
  for (index_t e = 0; e < a.size(); ++e) most = std::max(most, std::abs(a.data()[e] - b.data()[e]));
  return most;
}

/// Returns a Hermitian positive definite matrix.
HostMatrix<Z> positive(index_t n) {
  const HostMatrix<Z> g = random(n, n, 5);
  HostMatrix<Z> a = product(Op::conjugate, g, g);
  for (index_t i = 0; i < n; ++i) a(i, i) = a(i, i).real() + 1;
  return a;
}

}  // namespace

TEST_CASE("commands solve generated complex problems within their bounds") {
  for (const std::string precision : {"c", "z", "complex128"}) {
    for (const Command& command : {gemm, lu, cholesky, qr}) {
      CAPTURE(precision, command.words);
      const auto report = command({"--n", "70", "--precision", precision});
      CHECK(report["status"] == "ok");
      CHECK(report["problem"]["precision"] == (precision == "c" ? "c" : "z"));
      for (const auto& [name, limit] : report["limits"].items())
        if (limit.is_number()) {
          CHECK(check(report, name.c_str()) <= limit.get<double>());
          CHECK(limit.get<double>() < (precision == "c" ? 1e-2 : 1e-7));
        }
    }
    for (const std::string kind : {"kappa:1e3", "normal", "graded", "rank:70"})
      CHECK(lu({"--n", "70", "--rhs", "2", "--random", kind, "--precision", precision}, -1)["checks"].contains(
          "condition"));
    const double condition = check(lu({"--n", "60", "--random", "kappa:1e3", "--precision", precision}), "condition");
    CHECK(condition > 100);
    CHECK(condition < 1e5);
  }
}

TEST_CASE("gemm conjugates by c and transposes by t") {
  const TemporaryFolder folder;
  const HostMatrix<Z> a = random(9, 7, 1), b = random(9, 5, 2);
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "b.mtx", b);
  for (const auto& [letter, op] : {std::pair{"t", Op::transpose}, {"c", Op::conjugate}}) {
    const auto report = gemm({"--a", folder / "a.npy", "--b", folder / "b.mtx", "--op-a", letter, "--out",
                              folder / "c.npy", "--precision", "z"});
    CHECK(report["status"] == "ok");
    CHECK(apart(read_matrix<Z>(folder / "c.npy"), product(op, a, b)) <= 1e-14);
  }
}

TEST_CASE("lu and cholesky solve complex systems from files, and a real file is accepted") {
  const TemporaryFolder folder;
  const HostMatrix<Z> x = random(8, 2, 3);
  for (const bool hermitian : {false, true}) {
    const HostMatrix<Z> a = hermitian ? positive(8) : random(8, 8, 4);
    write_matrix(folder / "a.mtx", a);
    write_matrix(folder / "b.npy", product(Op::none, a, x));
    const Command& command = hermitian ? cholesky : lu;
    const auto report =
        command({"--a", folder / "a.mtx", "--b", folder / "b.npy", "--out", folder / "x.npy", "-p", "z"});
    CHECK(report["status"] == "ok");
    CHECK(apart(read_matrix<Z>(folder / "x.npy"), x) <= 1e-12);
    command.refuses({"--a", folder / "a.mtx", "--b", folder / "b.npy"}, "complex");
    command.refuses({"--a", folder / "a.mtx", "-p", "z", "--rhs", "1", "--out", folder / "x.csv"}, "plain text");
    command.refuses({"--a", folder / "a.mtx", "-p", "z", "--by", "stages"}, "stages");
  }
  write_matrix(folder / "r.npy", generate<double>({8, 8}, {.pattern = Pattern::uniform, .seed = 4}));
  CHECK(lu({"--a", folder / "r.npy", "-p", "z"})["status"] == "ok");
}

TEST_CASE("a diagonal that is not real is refused with its place, and --symmetrize drops its imaginary part") {
  const TemporaryFolder folder;
  HostMatrix<Z> a = positive(6);
  a(3, 3) += Z(0, 0.5);
  write_matrix(folder / "a.npy", a);
  cholesky.refuses({"--a", folder / "a.npy", "-p", "z"}, "A(4, 4) has the imaginary part 0.5");
  CHECK(cholesky({"--a", folder / "a.npy", "-p", "z", "--symmetrize"})["status"] == "ok");
  a(3, 3) = a(3, 3).real();
  a(4, 1) = std::conj(a(4, 1));  // a symmetric matrix is not Hermitian
  write_matrix(folder / "a.npy", a);
  cholesky.refuses({"--a", folder / "a.npy", "-p", "z"}, "not Hermitian: A(5, 2)");
}

TEST_CASE("qr writes complex factors") {
  const TemporaryFolder folder;
  const HostMatrix<Z> a = random(40, 23, 6);
  write_matrix(folder / "a.npy", a);
  for (const std::string tree : {"diagonal", "greedy"}) {
    const auto report = qr({"--a", folder / "a.npy", "--tree", tree, "--tile", "8x8", "--positive-diagonal", "--out-q",
                            folder / "q.npy", "--out-r", folder / "r.mtx", "-p", "z"});
    CHECK(report["status"] == "ok");
    const HostMatrix<Z> q = read_matrix<Z>(folder / "q.npy"), r = read_matrix<Z>(folder / "r.mtx");
    CHECK(apart(product(Op::none, q, r), a) <= 1e-13);
    for (index_t j = 0; j < 23; ++j) CHECK((r(j, j).real() > 0 && r(j, j).imag() == 0));
  }
  qr.refuses({"--method", "givens-chain", "-p", "z"}, "complex");
}
