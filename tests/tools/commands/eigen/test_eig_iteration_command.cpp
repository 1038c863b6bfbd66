#include "tests/support/commands/command.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <fstream>
#include <sstream>

using namespace tesela::test;

namespace {

const Command eig{{"eig"}};
void refused(const Words& options, const std::string& why) { eig.refuses(options, why); }

}  // namespace

TEST_CASE("eig by iterations agrees with LAPACK to 1e-10 and reports its steps") {
  for (const char* const method : {"qr-iteration", "lr", "cholesky-lr"}) {
    const auto report = eig({"--random", "geometric:100", "-n", "50", "--method", method, "--vectors"});
    CHECK(report["problem"]["method"] == method);
    for (const char* const error : {"max_error", "max_residual", "orthogonality", "trace_drift", "frobenius_drift"})
      CHECK(check(report, error) <= 1e-10);
    CHECK(check(report, "remaining_entries") == 0);
    const auto iterations = report["counts"]["iterations"].get<double>();
    CHECK(iterations > 0);
    // A step of L L^T is half a step of the other methods.
    const double steps = std::string(method) == "cholesky-lr" ? iterations / 2 : iterations;
    CHECK(std::abs(steps / check(report, "predicted_iterations") - 1) <= 0.25);
    CHECK(std::abs(check(report, "largest_ratio") - std::pow(100, -1.0 / 49)) <= 1e-9);
  }
  const auto single = eig({"--random", "geometric:10", "-n", "20", "-p", "s", "--method", "qr-iteration", "--vectors"});
  CHECK(single["status"] == "ok");
}

TEST_CASE("eig reports a matrix that the Cinvestav thesis's test mistakes for diagonal") {
  TemporaryFolder folder;
  const std::string path = folder / "corner.mtx", out = folder / "w.npy";
  HostMatrix<double> corner = HostMatrix<double>::zeros(3, 3);
  corner(0, 2) = corner(2, 0) = 1;
  write_matrix(path, corner);
  const auto run = [&](const Words& options, int code) {
    return eig(Words{"--a", path, "--method", "qr-iteration"} + options, code);
  };
  for (const Words& more : {Words{}, Words{"--no-check"}}) {
    const auto fooled = run(Words{"--stop", "subdiagonal"} + more, 1);
    CHECK_THAT(fooled["status"].get<std::string>(), ContainsSubstring("inaccurate"));
    CHECK(fooled["problem"]["remaining"][0]["row"] == 3);
  }
  const auto stuck = run({"--stop", "off-diagonal"}, 1);
  CHECK_THAT(stuck["status"].get<std::string>(), ContainsSubstring("not converged: D("));
  CHECK(stuck["problem"]["remaining"].size() == 1);
  const auto found = run({"--shift", "wilkinson", "--factor", "givens", "--deflate", "--vectors", "--out", out}, 0);
  CHECK(found["counts"]["deflations"] == 2);
  const HostMatrix<double> values = read_matrix<double>(out);
  for (index_t i = 0; i < 3; ++i) CHECK(std::abs(values(i, 0) - static_cast<double>(i - 1)) <= 1e-15);
  run({"--shift", "wilkinson"}, 1);
  run({"--shift", "wilkinson", "--factor", "householder", "--deflate"}, 1);
  CHECK_THAT(eig({"--a", path, "--method", "lr"}, 1)["status"].get<std::string>(),
             ContainsSubstring("zero pivot: row 1"));
}

TEST_CASE("eig bounds the error of the values by the remaining off-diagonal elements") {
  TemporaryFolder folder;
  const std::string path = folder / "a.mtx";
  const auto run = [&](const HostMatrix<double>& a, const Words& options) {
    write_matrix(path, a);
    for (const Words& more : {Words{}, Words{"--no-check"}}) {
      const auto report = eig(Words{"--a", path, "--method", "qr-iteration"} + options + more, 1);
      CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("inaccurate"));
      CHECK(report["checks"]["remaining"].get<double>() > report["limits"]["remaining"].get<double>());
    }
  };
  // The norm of the values equals that of A in all digits.
  HostMatrix<double> one = HostMatrix<double>::zeros(50, 50);
  one(0, 0) = 1;
  for (index_t i = 0; i + 2 < 50; ++i) one(i, i + 2) = one(i + 2, i) = 4e-4;
  run(one, {"--stop", "subdiagonal", "--tol", "1e-6"});
  HostMatrix<double> graded = HostMatrix<double>::zeros(4, 4);
  graded(0, 0) = 1e8;
  for (index_t i = 1; i < 4; ++i) graded(i, i) = 1;
  graded(1, 3) = graded(3, 1) = 0.5;
  run(graded, {"--stop", "subdiagonal"});
  // If the thesis's test is correct, the result is ok.
  const auto good =
      eig({"--random", "geometric:100", "-n", "50", "--method", "qr-iteration", "--stop", "subdiagonal", "--no-check"});
  CHECK(check(good, "remaining") <= 1e-13);
}

TEST_CASE("eig by iterations is never ok with a wrong second digit for any --tol") {
  for (const char* const tolerance : {"0", "-1", "0.00101", "0.1", "1", "inf", "nan", "x"})
    refused({"-n", "10", "--method", "lr", "--tol", tolerance},
            std::string("--tol: must be in (0, 0.001], not ") + tolerance + ";");
  for (const char* const method : {"qr-iteration", "lr", "cholesky-lr"}) {
    const auto loose = eig({"-n", "60", "--method", method, "--tol", "1e-3", "--vectors"}, -1);
    if (!loose["limits"].contains("max_error")) continue;  // a zero pivot
    for (const char* const bound : {"max_error", "max_residual", "orthogonality", "frobenius_drift", "remaining"})
      CHECK(loose["limits"][bound].get<double>() <= 1e-2);
  }
}

TEST_CASE("eig by iterations supports kinds, parts, scales and certification") {
  const Words shifted{"--method", "qr-iteration", "--shift", "wilkinson", "--deflate", "--vectors"};
  for (const char* const kind : {"uniform", "normal", "band:5", "graded", "rank:7", "diagonal", "identity", "zero",
                                 "arithmetic", "clustered:5", "wilkinson", "second-difference", "laplacian", "nbody"})
    CHECK(eig(Words{"--random", kind, "-n", "65"} + shifted)["status"] == "ok");
  for (const char* const n : {"0", "1", "2"}) CHECK(eig(Words{"-n", n} + shifted)["status"] == "ok");
  for (const char* const scale : {"1e300", "1e-300", "-1"})
    CHECK(eig(Words{"-n", "20", "--scale", scale} + shifted)["status"] == "ok");
  CHECK(check(eig(Words{"-n", "40", "--smallest", "3"} + shifted), "found") == 3);
  CHECK(check(eig(Words{"-n", "40", "--range", "0,inf"} + shifted), "found") > 0);
  CHECK(check(eig(Words{"-n", "40", "--certify", "3"} + shifted), "certified") == 3);
  const auto never =
      eig({"--random", "exchange", "-n", "30", "--method", "qr-iteration", "--max-iterations", "100"}, 1);
  CHECK(never["counts"]["iterations"] == 100);
}

TEST_CASE("eig --help separates an option's text from its choices") {
  std::istringstream help(run_tesela({"eig", "--help-all"}).out);
  std::string words;  // in one line
  for (std::string word; help >> word;) words += word + " ";
  for (const char* const text : {"Q and R are made: givens (chains", "D is diagonal: off-diagonal (all",
                                 "subtracted from the diagonal: none; wilkinson (the"})
    CHECK_THAT(words, ContainsSubstring(text));
}

TEST_CASE("eig refuses options of iterations with other methods") {
  refused({"-n", "10", "--factor", "mgs"}, "--method qr-iteration");
  refused({"-n", "10", "--method", "two-stage", "--stop", "subdiagonal"}, "--stop");
  refused({"-n", "10", "--method", "lr", "--shift", "wilkinson"}, "--shift");
  refused({"-n", "10", "--method", "lr", "--deflate"}, "--deflate");
  refused({"-n", "10", "--tol", "1e-3"}, "--tol");
  refused({"-n", "10", "--method", "lr", "--tol", "-1"}, "--tol");
  refused({"-n", "10", "--method", "lr", "--max-iterations", "0"}, "--max-iterations");
  refused({"-n", "10", "--method", "qr-iteration", "--factor", "jacobi"}, "--factor");
  refused({"-n", "10", "--method", "lr", "--random-b", "identity"}, "--method");
  refused({"-n", "10", "--batch", "3", "--deflate"}, "--batch");
  const TemporaryFolder folder;
  const std::string d = folder / "d.txt", e = folder / "e.txt";
  std::ofstream(d) << "1\n2\n3\n", std::ofstream(e) << "1\n1\n";
  const Words tridiagonal{"--diagonal", d, "--off-diagonal", e, "--method"};
  for (const char* method : {"lr", "cholesky-lr"})
    refused(tridiagonal + Words{method},
            method + std::string(" is not there for --diagonal: of the iterations only qr"));
  refused(tridiagonal + Words{"qr-iteration", "--factor", "mgs"},
          "mgs is not there for --diagonal: its factor is givens");
  CHECK(eig(tridiagonal + Words{"qr-iteration", "--factor", "givens"})["status"] == "ok");
}
