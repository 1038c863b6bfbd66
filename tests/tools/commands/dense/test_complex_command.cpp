#include "tests/support/commands/command.hpp"
#include "tests/support/matrices.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <fstream>

using namespace tesela::test;

namespace {

using Z = std::complex<double>;

const Command gemm{{"gemm"}}, lu{{"lu"}}, cholesky{{"cholesky"}}, qr{{"qr"}}, ols{{"ols"}}, lse{{"lse"}}, wls{{"wls"}},
    glm{{"glm"}}, gqr{{"gqr"}}, eig{{"eig"}}, tridiag{{"tridiag"}}, toeplitz{{"toeplitz", "solve"}};

/// Returns a Hermitian positive definite matrix.
HostMatrix<Z> positive(index_t n) {
  const HostMatrix<Z> g = random<Z>(n, n, 5);
  HostMatrix<Z> a = product(Op::conjugate, g, g);
  for (index_t i = 0; i < n; ++i) a(i, i) = a(i, i).real() + 1;
  return a;
}

}  // namespace

TEST_CASE("commands solve generated complex problems within their bounds") {
  for (const std::string precision : {"c", "z", "complex128"}) {
    for (const Command& command : {gemm, lu, cholesky, qr, ols, lse, wls, glm, gqr}) {
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

TEST_CASE("toeplitz solve solves complex systems, generated and from files") {
  const Words methods{"auto", "gohberg-semencul", "schur", "lookahead", "lookahead-again", "dense", "lapack-lu"};
  for (const std::string precision : {"c", "z"})
    for (const std::string& method : methods)
      for (const Words& kind : {Words{"--random", "spd"}, Words{"--random", "kms:0.5"}, Words{"--nonsymmetric"}})
        for (const std::string n : {"0", "1", "201"}) {
          const bool general = kind[0] == "--nonsymmetric", column = method == "schur" || method == methods[1];
          if ((general && column) || (method != "auto" && n != "201")) continue;
          const auto report =
              toeplitz(kind + Words{"--method", method, "--n", n, "--known", "--rhs", "3", "--precision", precision});
          CAPTURE(report.dump());
          CHECK(report["status"] == "ok");
          CHECK(report["problem"]["precision"] == precision);
          CHECK(check(report, "residual") <= (precision == "c" ? 1e-6 : 2e-15));
          CHECK(check(report, "forward_error") <= (precision == "c" ? 1e-3 : 1e-11));
        }
  const TemporaryFolder folder;
  HostMatrix<Z> t = random<Z>(30, 1, 5);
  t(0, 0) = 9;
  const HostMatrix<Z> x = random<Z>(30, 2, 3), row = random<Z>(30, 1, 4);
  for (const bool general : {false, true}) {
    HostMatrix<Z> a(30, 30);
    for (index_t j = 0; j < 30; ++j)
      for (index_t i = 0; i < 30; ++i)
        a(i, j) = i >= j ? t(i - j, 0) : general ? row(j - i, 0) : std::conj(t(j - i, 0));
    write_matrix(folder / "t.npy", t);
    write_matrix(folder / "r.mtx", row);
    write_matrix(folder / "b.npy", product(a, x));
    const Words files = Words{"--t", folder / "t.npy", "--b", folder / "b.npy"} +
                        (general ? Words{"--row", folder / "r.mtx"} : Words{});
    const auto report = toeplitz(files + Words{"--out", folder / "x.npy", "-p", "z"});
    CHECK(report["status"] == "ok");
    CHECK(distance(read_matrix<Z>(folder / "x.npy"), x) <= 1e-13);
    toeplitz.refuses(files, "complex");
    toeplitz.refuses(files + Words{"-p", "z", "--out", folder / "x.csv"}, "plain text");
    toeplitz.refuses(files + Words{"-p", "z", "--method", "levinson"},
                     general ? "symmetric matrix" : "no complex numbers");
  }
  std::ofstream(folder / "t.mtx") << "%%MatrixMarket matrix array complex general\n2 1\n1 0\n1 nan\n";
  toeplitz.refuses({"--t", folder / "t.mtx", "--rhs", "1", "-p", "z"}, "t.mtx");
  write_matrix(folder / "t.npy", random(30, 1, 4));
  CHECK(toeplitz({"--t", folder / "t.npy", "--rhs", "1", "-p", "z"})["status"] == "ok");
}

TEST_CASE("qr orthogonalizes complex matrices by every method") {
  for (const std::string precision : {"c", "z"})
    for (const std::string method : {"gram-schmidt", "mgs", "cgs2", "cholesky-qr2", "householder"}) {
      const auto report = qr({"-m", "200", "-n", "40", "--method", method, "-p", precision});
      CAPTURE(precision, method);
      CHECK(report["status"] == "ok");
    }
}

TEST_CASE("gemm conjugates by c and transposes by t") {
  const TemporaryFolder folder;
  const HostMatrix<Z> a = random<Z>(9, 7, 1), b = random<Z>(9, 5, 2);
  write_matrix(folder / "a.npy", a);
  write_matrix(folder / "b.mtx", b);
  for (const auto& [letter, op] : {std::pair{"t", Op::transpose}, {"c", Op::conjugate}}) {
    const auto report = gemm({"--a", folder / "a.npy", "--b", folder / "b.mtx", "--op-a", letter, "--out",
                              folder / "c.npy", "--precision", "z"});
    CHECK(report["status"] == "ok");
    CHECK(distance(read_matrix<Z>(folder / "c.npy"), product(op, a, b)) <= 1e-14);
  }
}

TEST_CASE("lu and cholesky solve complex systems from files, and a real file is accepted") {
  const TemporaryFolder folder;
  const HostMatrix<Z> x = random<Z>(8, 2, 3);
  for (const bool hermitian : {false, true}) {
    const HostMatrix<Z> a = hermitian ? positive(8) : random<Z>(8, 8, 4);
    write_matrix(folder / "a.mtx", a);
    write_matrix(folder / "b.npy", product(a, x));
    const Command& command = hermitian ? cholesky : lu;
    for (const char* by : {"tiles", "stages"}) {
      const auto report =
          command({"--a", folder / "a.mtx", "--b", folder / "b.npy", "--out", folder / "x.npy", "-p", "z", "--by", by});
      CHECK(report["status"] == "ok");
      CHECK(distance(read_matrix<Z>(folder / "x.npy"), x) <= 1e-11);
      const Words kind = hermitian ? Words{} : Words{"--random", "kappa:10"};
      CHECK(command(Words{"--n", "90", "-p", "c", "--by", by} + kind)["status"] == "ok");
    }
    command.refuses({"--a", folder / "a.mtx", "--b", folder / "b.npy"}, "complex");
    command.refuses({"--a", folder / "a.mtx", "-p", "z", "--rhs", "1", "--out", folder / "x.csv"}, "plain text");
  }
  write_matrix(folder / "r.npy", random(8, 8, 4));
  CHECK(lu({"--a", folder / "r.npy", "-p", "z"})["status"] == "ok");
}

TEST_CASE("a diagonal that is not real is refused with its place, and --symmetrize drops its imaginary part") {
  const TemporaryFolder folder;
  HostMatrix<Z> a = positive(6);
  a(3, 3) += Z(0, 0.5);
  write_matrix(folder / "a.npy", a);
  cholesky.refuses({"--a", folder / "a.npy", "-p", "z"}, "A(4, 4) has the imaginary part 0.5");
  CHECK(cholesky({"--a", folder / "a.npy", "-p", "z", "--symmetrize"})["status"] == "ok");
  a(3, 3) = Z(a(3, 3).real(), 1e-16 * a(3, 3).real());  // a rounding error of a product X X^H
  write_matrix(folder / "a.npy", a);
  CHECK(cholesky({"--a", folder / "a.npy", "-p", "z"})["status"] == "ok");
  a(3, 3) = a(3, 3).real();
  a(4, 1) = std::conj(a(4, 1));  // a symmetric matrix is not Hermitian
  write_matrix(folder / "a.npy", a);
  cholesky.refuses({"--a", folder / "a.npy", "-p", "z"}, "not Hermitian: A(5, 2)");
}

TEST_CASE("ols solves complex problems from files, of any rank, as LAPACK does") {
  const TemporaryFolder folder;
  const HostMatrix<Z> x = random<Z>(6, 2, 3);
  for (const index_t m : {index_t{15}, index_t{6}, index_t{4}}) {
    const HostMatrix<Z> a = random<Z>(m, 6, 4);
    write_matrix(folder / "a.mtx", a);
    write_matrix(folder / "b.npy", product(a, x));
    const auto solve = [&](const std::string& method) {
      const auto report = ols(
          {"--a", folder / "a.mtx", "--b", folder / "b.npy", "--out", folder / "x.npy", "--method", method, "-p", "z"});
      CHECK(report["status"] == "ok");
      CHECK(check(report, "backward_error") <= report["limits"]["backward_error"].get<double>());
      return read_matrix<Z>(folder / "x.npy");
    };
    const HostMatrix<Z> found = solve("auto");
    if (m >= 6) CHECK(distance(found, x) <= 1e-12);
    for (const std::string method : {"tiles", "tall-skinny", "gelsd", "lapack"})
      CHECK(distance(solve(method), found) <= 1e-12);
  }
  for (const std::string precision : {"c", "z"}) {
    const auto report = ols({"--m", "60", "--n", "40", "--random", "rank:11", "-p", precision});
    CHECK(report["status"] == "rank deficient");
    CHECK(check(report, "rank") == 11);
  }
  ols.refuses({"--a", folder / "a.mtx", "--b", folder / "b.npy"}, "complex");
  ols.refuses({"-p", "z", "--ridge", "auto"}, "complex");
  write_matrix(folder / "r.npy", random(4, 1, 4));
  CHECK(ols({"--a", folder / "a.mtx", "--b", folder / "r.npy", "-p", "z"})["status"] == "ok");
}

TEST_CASE("lse solves complex problems, generated of any rank and from files, as LAPACK does") {
  const TemporaryFolder folder;
  write_matrix(folder / "a.mtx", random<Z>(40, 9, 1));
  write_matrix(folder / "b.npy", random<Z>(40, 2, 2));
  const HostMatrix<Z> c = random<Z>(3, 9, 3), d = random<Z>(3, 2, 4);
  write_matrix(folder / "c.npy", c);
  write_matrix(folder / "d.mtx", d);
  const Words input{"--a", folder / "a.mtx", "--b", folder / "b.npy", "--c", folder / "c.npy", "--d", folder / "d.mtx"};
  const auto solve = [&](const std::string& method) {
    const auto report = lse(input + Words{"--out", folder / "x.npy", "--method", method, "-p", "z"});
    CHECK(report["status"] == "ok");
    for (const char* name : {"constraint_residual", "optimality"})
      CHECK(check(report, name) <= report["limits"][name].get<double>());
    return read_matrix<Z>(folder / "x.npy");
  };
  const HostMatrix<Z> found = solve("auto");
  CHECK(distance(product(c, found), d) <= 1e-13);
  for (const std::string method : {"tiles", "tall-skinny", "lapack"}) CHECK(distance(solve(method), found) <= 1e-11);
  CHECK(lse(input + Words{"-p", "z", "--out-multipliers", folder / "l.npy"})["status"] == "ok");
  CHECK(read_matrix<Z>(folder / "l.npy").shape() == Shape{3, 2});
  for (const std::string precision : {"c", "z"}) {
    const auto report = lse({"--m", "64", "--n", "20", "--rows-c", "9", "--random-b", "rank:6", "-p", precision});
    CHECK(report["status"] == "ok");
    CHECK(report["dropped_rows"].size() == 3);
    CHECK(lse({"--m", "64", "--n", "7", "--rows-c", "20", "--inconsistent", "-p", precision}, 1)["status"] ==
          "inconsistent");
    const auto deficient = lse({"--m", "60", "--n", "40", "--random", "rank:11", "-p", precision});
    CHECK(deficient["status"] == "rank deficient");
    CHECK(check(deficient, "optimality") <= deficient["limits"]["optimality"].get<double>());
  }
  lse.refuses(input, "complex");
  lse.refuses({"--method", "cusolver", "-p", "c"}, "complex");
  lse.refuses({"-p", "z", "--out-multipliers", folder / "l.csv"}, "plain text");
  std::ofstream(folder / "d.mtx")
      << "%%MatrixMarket matrix array complex general\n3 2\n1 0\n1 0\n1 0\n1 0\n1 0\n1 nan\n";
  lse.refuses(input + Words{"-p", "z"}, "d.mtx");
}

TEST_CASE("wls solves complex problems by weights, factors and covariances, as LAPACK does") {
  const TemporaryFolder folder;
  const index_t m = 30, n = 6;
  const HostMatrix<Z> f = random<Z>(m, m, 3);
  HostMatrix<Z> sigma = product(Op::conjugate, f, f);
  for (index_t i = 0; i < m; ++i) sigma(i, i) = sigma(i, i).real();
  write_matrix(folder / "a.mtx", random<Z>(m, n, 1));
  write_matrix(folder / "b.npy", random<Z>(m, 2, 2));
  write_matrix(folder / "f.npy", f);
  write_matrix(folder / "s.mtx", sigma);
  write_matrix(folder / "w.npy", filled<double>({m, 1}, [](index_t i, index_t) { return std::exp2(i % 7); }));
  const Words input{"--a", folder / "a.mtx", "--b", folder / "b.npy"};
  for (const Words& by :
       {Words{"--weights", folder / "w.npy"}, {"--factor", folder / "f.npy"}, {"--sigma", folder / "s.mtx"}}) {
    const auto solve = [&](const std::string& method) {
      CAPTURE(by, method);
      const auto report = wls(input + by + Words{"--out", folder / "x.npy", "--method", method, "-p", "z"});
      CHECK(report["status"] == "ok");
      CHECK(check(report, "backward_error") <= report["limits"]["backward_error"].get<double>());
      return read_matrix<Z>(folder / "x.npy");
    };
    const HostMatrix<Z> found = solve("auto");
    for (const std::string method : {"tiles", "tall-skinny", "lapack"}) CHECK(distance(solve(method), found) <= 1e-10);
  }
  for (const std::string precision : {"c", "z"})
    for (const std::string by : {"weights", "factor", "sigma"})
      for (const Words& words : {Words{}, {"--random", "rank:9"}, {"--random-b", "kappa:1e3"}, {"--spread", "3"}}) {
        CAPTURE(precision, by, words);
        const auto report = wls(Words{"--m", "60", "--n", "20", "--by", by, "-p", precision} + words);
        CHECK(report["status"] == (words.size() > 0 && words[1] == "rank:9" ? "rank deficient" : "ok"));
        CHECK(check(report, "backward_error") <= report["limits"]["backward_error"].get<double>());
      }
  wls.refuses(input + Words{"--weights", folder / "w.npy"}, "complex");
  sigma(2, 1) = std::conj(sigma(2, 1));
  write_matrix(folder / "s.mtx", sigma);
  wls.refuses(input + Words{"--sigma", folder / "s.mtx", "-p", "z"}, "not Hermitian: worst at (2, 3)");
  sigma(3, 3) += Z(0, -0.125);
  write_matrix(folder / "s.mtx", sigma);
  wls.refuses(input + Words{"--sigma", folder / "s.mtx", "-p", "z"},
              "not Hermitian: its diagonal must be real, and the imaginary part in row 4 is -0.125");
}

TEST_CASE("glm and gqr solve complex problems, generated and from files, as LAPACK does") {
  const TemporaryFolder folder;
  const HostMatrix<Z> a = random<Z>(30, 6, 1), f = random<Z>(30, 35, 3), b = random<Z>(30, 2, 2);
  write_matrix(folder / "a.mtx", a);
  write_matrix(folder / "f.npy", f);
  write_matrix(folder / "b.npy", b);
  const Words factors{"--a", folder / "a.mtx", "--factor", folder / "f.npy", "-p", "z"},
      input = factors + Words{"--b", folder / "b.npy", "--out", folder / "x.npy", "--out-u", folder / "u.npy"};
  const auto solve = [&](const std::string& method) {
    const auto report = glm(input + Words{"--method", method});
    CHECK(report["status"] == "ok");
    for (const char* name : {"constraint_residual", "optimality"})
      CHECK(check(report, name) <= report["limits"][name].get<double>());
    const HostMatrix<Z> of_x = product(a, read_matrix<Z>(folder / "x.npy")),
                        of_u = product(f, read_matrix<Z>(folder / "u.npy"));
    CHECK(distance(filled<Z>(b.shape(), [&](index_t i, index_t j) { return of_x(i, j) + of_u(i, j); }), b) <= 1e-12);
    return read_matrix<Z>(folder / "x.npy");
  };
  const HostMatrix<Z> found = solve("seminormal");
  for (const std::string method : {"tiles", "gqr", "lapack"}) CHECK(distance(solve(method), found) <= 1e-11);
  for (const std::string precision : {"c", "z"}) {
    const auto report = glm({"--m", "64", "--n", "20", "--columns-b", "30", "--random", "rank:11", "-p", precision});
    CHECK(report["status"] == "rank deficient");
    CHECK(check(report, "rank") == 11);
    CHECK(glm({"--m", "64", "--n", "20", "--columns-b", "30", "--inconsistent", "-p", precision}, 1)["status"] ==
          "inconsistent");
    for (const std::string method : {"tiles", "lapack"})
      for (const Words& shape : {Words{"--m", "50", "--n", "20", "--columns-b", "70"},
                                 {"--m", "50", "--n", "20", "--columns-b", "9"},
                                 {"--m", "20", "--n", "50", "--columns-b", "30"}}) {
        const auto factored = gqr(shape + Words{"--method", method, "-p", precision});
        CHECK(factored["status"] == "ok");
        for (const char* name : {"backward_error_a", "backward_error_b", "orthogonality_q", "orthogonality_v"})
          CHECK(check(factored, name) <= factored["limits"][name].get<double>());
      }
  }
  CHECK(gqr(factors + Words{"--out-q", folder / "q.npy", "--out-r", folder / "r.npy"})["status"] == "ok");
  const HostMatrix<Z> r = read_matrix<Z>(folder / "r.npy"),
                      qa = product(Op::conjugate, read_matrix<Z>(folder / "q.npy"), a);
  for (index_t j = 0; j < 6; ++j)
    for (index_t i = 0; i < 30; ++i) CHECK(std::abs(qa(i, j) - (i <= j ? r(i, j) : Z(0))) <= 1e-13);
  gqr.refuses({"-p", "z", "--out-v", folder / "v.csv"}, "plain text");
}

TEST_CASE("eig solves Hermitian problems, generated and from files") {
  for (const std::string precision : {"c", "z"})
    for (const std::string method : {"auto", "two-stage", "one-stage", "lapack", "one-task"})
      for (const std::string kind : {"uniform", "geometric:1e3", "rank:7", "band:5"}) {
        CAPTURE(precision, method, kind);
        const auto report =
            eig({"--n", "110", "--random", kind, "--method", method, "--vectors", "--precision", precision});
        CHECK(report["status"] == "ok");
        for (const char* name : {"max_error", "trace_drift", "max_residual", "orthogonality"})
          CHECK(check(report, name) <= report["limits"][name].get<double>());
      }
  const TemporaryFolder folder;
  HostMatrix<Z> a = positive(30);
  write_matrix(folder / "a.mtx", a);
  const auto report = eig({"--a", folder / "a.mtx", "-p", "z", "--smallest", "4", "--out", folder / "w.npy",
                           "--out-vectors", folder / "x.npy"});
  CHECK(report["status"] == "ok");
  const HostMatrix<Z> x = read_matrix<Z>(folder / "x.npy");
  const HostMatrix<double> w = read_matrix<double>(folder / "w.npy");
  REQUIRE(x.shape() == Shape{30, 4});
  HostMatrix<Z> scaled = x.clone();
  for (index_t j = 0; j < 4; ++j)
    for (index_t i = 0; i < 30; ++i) scaled(i, j) *= w(j, 0);
  CHECK(distance(product(a, x), scaled) <= 1e-11);
  eig.refuses({"--a", folder / "a.mtx"}, "complex");
  eig.refuses({"--method", "qr-iteration", "-p", "z"}, "complex");
  for (const Words& words : {Words{"--random-b", "geometric:10", "--n", "50"}, {"--batch", "4", "--n", "5"}})
    CHECK(eig(words + Words{"-p", "z"})["status"] == "ok");
  a(3, 3) += Z(0, 0.5);
  write_matrix(folder / "a.npy", a);
  eig.refuses({"--a", folder / "a.npy", "-p", "z"}, "A(4, 4) has the imaginary part 0.5");
  CHECK(eig({"--a", folder / "a.npy", "-p", "z", "--symmetrize"})["status"] == "ok");
  for (const char* const range : {"--range=1,2", "--range=0,1"})
    CHECK(eig({"--random", "identity", "-n", "30", range, "-p", "z"})["checks"]["doubtful"] == 30);
  CHECK_FALSE(eig({"--random", "identity", "-n", "30", "--range=0,0.5", "-p", "z"})["checks"].contains("doubtful"));
}

TEST_CASE("tridiag solves complex systems, one and many, from files") {
  for (const std::string precision : {"c", "z"})
    for (const std::string kind : {"dominant", "uniform", "toeplitz", "zero-diagonal"})
      for (const Words& words : {Words{"--n", "4000"},
                                 {"--n", "100001", "--tile", "7000"},
                                 {"--n", "300", "--batch", "50"},
                                 {"--n", "300", "--batch", "50", "--interleaved"},
                                 {"--n", "500", "--periodic"}}) {
        CAPTURE(precision, kind, words);
        const auto report = tridiag(words + Words{"--random", kind, "--known", "-p", precision});
        CHECK(report["status"] == "ok");
        for (const char* name : {"residual", "residual_equilibrated"})
          CHECK(check(report, name) <= report["limits"][name].get<double>());
        if (kind == "dominant") CHECK(check(report, "forward_error") <= (precision == "c" ? 1e-4 : 1e-13));
      }
  for (const std::string method : {"lapack", "thomas", "cr", "cr-hybrid", "pcr", "rd", "cr-pcr", "cr-rd"})
    CHECK(tridiag({"--n", "1000", "--method", method, "-p", "z"})["status"] == "ok");
  const TemporaryFolder folder;
  const HostMatrix<Z> dl = random<Z>(40, 1, 1), d = random<Z>(40, 1, 2), du = random<Z>(40, 1, 3),
                      x = random<Z>(40, 1, 4);
  HostMatrix<Z> b(40, 1);
  for (index_t i = 0; i < 40; ++i)
    b(i, 0) = (i > 0 ? dl(i, 0) * x(i - 1, 0) : Z(0)) + d(i, 0) * x(i, 0) + (i < 39 ? du(i, 0) * x(i + 1, 0) : Z(0));
  for (const auto& [name, matrix] : {std::pair{"dl", &dl}, {"d", &d}, {"du", &du}})
    write_matrix(folder / (std::string(name) + ".npy"), *matrix);
  write_matrix(folder / "b.npy", b);
  const auto report = tridiag({"--dl", folder / "dl.npy", "--d", folder / "d.npy", "--du", folder / "du.npy", "--b",
                               folder / "b.npy", "--out", folder / "x.npy", "-p", "z"});
  CHECK(report["status"] == "ok");
  CHECK(distance(read_matrix<Z>(folder / "x.npy"), x) <= 1e-10);
}

TEST_CASE("qr writes complex factors") {
  const TemporaryFolder folder;
  const HostMatrix<Z> a = random<Z>(40, 23, 6);
  write_matrix(folder / "a.npy", a);
  for (const std::string tree : {"diagonal", "greedy"}) {
    const auto report = qr({"--a", folder / "a.npy", "--tree", tree, "--tile", "8x8", "--positive-diagonal", "--out-q",
                            folder / "q.npy", "--out-r", folder / "r.mtx", "-p", "z"});
    CHECK(report["status"] == "ok");
    const HostMatrix<Z> q = read_matrix<Z>(folder / "q.npy"), r = read_matrix<Z>(folder / "r.mtx");
    CHECK(distance(product(q, r), a) <= 1e-13);
    for (index_t j = 0; j < 23; ++j) CHECK((r(j, j).real() > 0 && r(j, j).imag() == 0));
  }
}
