#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

#include <fstream>

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

TEST_CASE("svd --range reports the values in [LOW, HIGH)") {
  const Words identity{"--random", "band:0", "-n", "30"};  // a diagonal of random numbers
  const auto all = svd(identity + Words{"--values"}), part = svd(identity + Words{"--range", "0.25,0.5"});
  CHECK(part["checks"]["found"] < all["checks"]["found"]);
  CHECK(part["checks"]["found"] > 0);
  CHECK(part["checks"]["max_error"] <= part["limits"]["max_error"]);
  CHECK(part["status"] == "ok");
  CHECK(svd({"-n", "60", "--random", "rank:5", "--range", "0,1e-3"})["checks"]["found"] == 55);  // and is ok
  CHECK(svd({"-n", "9", "--range", "100,inf"})["checks"]["found"] == 0);
  // Values at an end may belong to either side.
  CHECK_FALSE(part["checks"].contains("doubtful"));
  for (const char* const range : {"0.5,1", "1,2"})
    CHECK(svd({"--random", "kappa:1", "-n", "30", "--range", range})["checks"]["doubtful"] == 30);
}

TEST_CASE("svd --rank reports an error below its bound, and best_error") {
  for (const char* const kind : {"uniform", "kappa:1e8", "rank:3", "zero"})
    for (const Words& precision : {Words{"-p", "d"}, Words{"-p", "s"}, Words{"-p", "z"}, Words{"-p", "c"}}) {
      CAPTURE(kind, precision);
      const auto report = svd(Words{"--random", kind, "-m", "150", "-n", "70", "--rank", "8"} + precision);
      CHECK(report["status"] == "ok");
      CHECK(report["checks"]["found"] == 8);
      CHECK(report["checks"]["low_rank_error"] <= report["limits"]["low_rank_error"]);
      if (std::string(kind) == "zero") continue;
      CHECK(report["checks"]["low_rank_error"].get<double>() >=
            report["checks"]["best_error"].get<double>() - (precision[1] == "s" || precision[1] == "c" ? 1e-5 : 1e-13));
    }
  TemporaryFolder folder;
  svd({"-m", "40", "-n", "50", "--rank", "5", "--power", "3", "--oversampling", "2", "--out-u", folder / "u.npy",
       "--out-v", folder / "v.npy", "-o", folder / "s.npy"});
  CHECK(probe_matrix(folder / "u.npy").shape == Shape{40, 5});
  CHECK(probe_matrix(folder / "v.npy").shape == Shape{50, 5});
  // The largest value that one random vector finds is far below ||A||.
  write_matrix(folder / "diagonal.npy", filled<double>({15, 15}, [](index_t i, index_t j) {
                 return i == j ? 1 - 0.01 * static_cast<double>(i) : 0.0;
               }));
  const auto one = svd({"--a", folder / "diagonal.npy", "--rank", "1", "--power", "0", "--oversampling", "0"});
  CHECK((check(one, "low_rank_error") >= check(one, "best_error") && check(one, "low_rank_error") <= 1));
  CHECK(svd({"-n", "30", "--rank", "3", "--oversampling", "1000000000000"})["status"] == "ok");
  svd.refuses({"-n", "5", "--rank", "6"}, "6 of 5 values");
  svd.refuses({"-n", "5", "--rank", "2", "--full"}, "contradict");
  svd.refuses({"-n", "5", "--power", "2"}, "--rank");
}

TEST_CASE("svd --stream reads a file in blocks of rows and writes U in blocks") {
  TemporaryFolder folder;
  HostMatrix<double> a(20000, 12);
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      a(i, j) = std::pow(0.1, static_cast<double>(j)) * std::sin(static_cast<double>(i * (j + 2) % 9973));
  write_matrix(folder / "a.npy", a);
  const auto report = svd({"-a", folder / "a.npy", "--stream", "-o", folder / "s.npy", "--out-u", folder / "u.npy",
                           "--out-v", folder / "v.npy"});
  CHECK(report["status"] == "ok");
  CHECK(report["checks"]["rank"] == 12);
  for (const auto& [name, limit] : report["limits"].items()) CHECK(report["checks"][name] <= limit);
  const HostMatrix<double> s = read_matrix<double>(folder / "s.npy"), u = read_matrix<double>(folder / "u.npy"),
                           v = read_matrix<double>(folder / "v.npy");
  for (const index_t i : {0, 8191, 8192, 19999})
    for (index_t j = 0; j < 12; ++j) {
      double sum = 0;
      for (index_t k = 0; k < 12; ++k) sum += u(i, k) * s(k, 0) * v(j, k);
      CHECK(std::abs(sum - a(i, j)) < 1e-13);
    }
  CHECK(svd({"-a", folder / "a.npy", "--stream", "--values"})["checks"]["found"] == 12);
  const auto largest = svd({"-a", folder / "a.npy", "--stream", "--largest", "2", "-p", "s"});
  CHECK((largest["checks"]["found"] == 2 && !largest["checks"].contains("rank")));
  const auto some = svd({"-a", folder / "a.npy", "--stream", "--range", "0,1e-3"});
  CHECK(!some["checks"].contains("rank"));
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) *= 1e300;
  write_matrix(folder / "large.npy", a);
  CHECK(svd({"-a", folder / "large.npy", "--stream"})["status"] == "ok");
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) *= 1.7e8;
  write_matrix(folder / "large.npy", a);
  CHECK_THAT(svd({"-a", folder / "large.npy", "--stream"}, 1)["status"].get<std::string>(),
             ContainsSubstring("overflow"));
  for (index_t j = 0; j < 12; ++j)
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) = 1e-313 * std::sin(static_cast<double>(i * (j + 2) % 9973));
  write_matrix(folder / "tiny.npy", a);
  const auto tiny = svd({"-a", folder / "tiny.npy", "--stream", "--out-u", folder / "u.npy"});
  CHECK((tiny["status"] == "ok" && tiny["checks"]["rank"] == 12));
  write_matrix(folder / "tiny.npy", filled<double>({4, 2}, [](index_t, index_t) { return 5e-324; }));
  CHECK_THAT(svd({"-a", folder / "tiny.npy", "--stream"}, 1)["status"].get<std::string>(),
             ContainsSubstring("numbers are near the smallest one"));
  svd.refuses({"-n", "5", "--stream"}, "--a");
  write_matrix(folder / "wide.npy", HostMatrix<double>::zeros(3, 4));
  svd.refuses({"-a", folder / "wide.npy", "--stream"}, "m >= n");
}

TEMPLATE_TEST_CASE("svd --stream reads complex files", "", std::complex<float>, std::complex<double>) {
  using T = TestType;
  TemporaryFolder folder;
  const std::string precision = sizeof(T) == 8 ? "c" : "z";
  const HostMatrix<T> a = generate<T>({9000, 12}, {.condition = 1e2}, 3);
  write_matrix(folder / "a.npy", a);
  const auto report = svd({"-a", folder / "a.npy", "--stream", "-p", precision, "-o", folder / "s.npy", "--out-u",
                           folder / "u.npy", "--out-v", folder / "v.npy"});
  CHECK(report["checks"]["rank"] == 12);
  for (const char* const name : {"residual", "orthogonality_u", "orthogonality_v"})
    CHECK(report["checks"][name] <= report["limits"][name]);
  const HostMatrix<double> s = read_matrix<double>(folder / "s.npy");
  const HostMatrix<T> u = read_matrix<T>(folder / "u.npy"), v = read_matrix<T>(folder / "v.npy");
  for (const index_t i : {0, 8191, 8192, 8999})
    for (index_t j = 0; j < 12; ++j) {
      std::complex<double> sum = 0;
      for (index_t k = 0; k < 12; ++k)
        sum += std::complex<double>(u(i, k)) * s(k, 0) * std::conj(std::complex<double>(v(j, k)));
      CHECK(std::abs(sum - std::complex<double>(a(i, j))) < (precision == "c" ? 1e-5 : 1e-13));
    }
  svd.refuses({"-a", folder / "a.npy", "--stream"}, "must be real");
  write_matrix(folder / "real.npy", HostMatrix<double>::zeros(40, 3));
  CHECK(svd({"-a", folder / "real.npy", "--stream", "-p", precision})["checks"]["found"] == 3);
  const T bad(1, std::numeric_limits<real_t<T>>::quiet_NaN());
  std::fstream file(folder / "a.npy", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-(7 * 9000 - 8500) * static_cast<index_t>(sizeof(T)), std::ios::end);  // element (8500, 5)
  file.write(reinterpret_cast<const char*>(&bad), sizeof bad);
  file.close();
  svd.refuses({"-a", folder / "a.npy", "--stream", "-p", precision}, "[8500, 5]");
}

TEST_CASE("svd -p c and -p z decompose generated matrices and files within their bounds") {
  for (const Words& precision : {Words{"-p", "c"}, Words{"-p", "z"}}) {
    for (const char* const kind : {"uniform", "kappa:1e5", "rank:3", "zero", "hilbert"})
      for (const Words& what : {Words{}, Words{"--values"}, Words{"--full"}, Words{"--method", "two-stage"}}) {
        const auto report = svd(Words{"--random", kind, "-m", "90", "-n", "60"} + precision + what);
        CHECK(report["status"] == "ok");
        CHECK(report["checks"]["found"] == 60);
        for (const auto& [name, limit] : report["limits"].items()) CHECK(report["checks"][name] <= limit);
      }
    CHECK(svd(Words{"-n", "50", "--largest", "4"} + precision)["checks"]["found"] == 4);
  }
  using Z = std::complex<double>;
  TemporaryFolder folder;
  HostMatrix<Z> a(3, 2);  // A = [i; 0; 0] [3 0] + [0; 1; 0] [0 2i]
  std::fill_n(a.data(), a.size(), Z(0));
  a(0, 0) = Z(0, 3), a(1, 1) = Z(0, 2);
  write_matrix(folder / "a.mtx", a);
  const auto found = svd({"-a", folder / "a.mtx", "-p", "z", "-o", folder / "s.npy", "--out-u", folder / "u.npy",
                          "--out-v", folder / "v.npy"});
  CHECK(found["status"] == "ok");
  const HostMatrix<double> s = read_matrix<double>(folder / "s.npy");
  const HostMatrix<Z> u = read_matrix<Z>(folder / "u.npy"), v = read_matrix<Z>(folder / "v.npy");
  for (index_t k = 0; k < 2; ++k) {
    CHECK(std::abs(s(k, 0) - (k == 0 ? 3 : 2)) < 1e-14);
    CHECK(std::abs(u(k, k) * s(k, 0) * std::conj(v(k, k)) - a(k, k)) < 1e-14);
  }
  for (const Words& part : {Words{}, Words{"--rank", "2"}, Words{"--batch", "1"}})
    svd.refuses(Words{"-n", "5", "-p", "c", "--out-u", folder / "u.csv"} + part, "plain text");
}

TEST_CASE("svd --batch reports the sum of found values and the largest errors") {
  for (const Words& precision : {Words{"-p", "d"}, Words{"-p", "s"}, Words{"-p", "c"}, Words{"-p", "z"}})
    for (const auto& [m, n, count] : {std::tuple{0, 3, 2}, {1, 1, 5}, {16, 16, 0}, {16, 9, 30}, {20, 64, 3}})
      for (const Words& what : {Words{}, Words{"--values"}, Words{"--full"}}) {
        const auto report =
            svd(Words{"-m", std::to_string(m), "-n", std::to_string(n), "--batch", std::to_string(count)} + precision +
                what);
        CHECK(report["checks"]["found"] == std::min(m, n) * count);
        CHECK(report["checks"]["expected"] == std::min(m, n) * count);
        for (const auto& [name, limit] : report["limits"].items()) CHECK(report["checks"][name] <= limit);
        CHECK(report["checks"].contains("residual") == (what != Words{"--values"}));
        CHECK(report["status"] == "ok");
      }
  TemporaryFolder folder;
  svd({"-n", "6", "--batch", "4", "--seed", "7", "-o", folder / "s.npy", "--out-u", folder / "u.npy"});
  svd({"-n", "6", "--seed", "9", "-o", folder / "one.npy"});
  const HostMatrix<double> values = read_matrix<double>(folder / "s.npy"),
                           third = read_matrix<double>(folder / "one.npy");
  CHECK(values.shape() == Shape{6, 4});
  CHECK(probe_matrix(folder / "u.npy").shape == Shape{6, 24});
  for (index_t i = 0; i < 6; ++i) CHECK(std::abs(values(i, 2) - third(i, 0)) < 1e-14);
  CHECK(svd({"-a", folder / "u.npy", "--batch", "8"})["problem"]["n"] == 3);
  svd.refuses({"-a", folder / "u.npy", "--batch", "7"}, "not m x (K n)");
  svd.refuses({"-n", "65", "--batch", "2"}, "up to 1024 x 64");
  svd.refuses({"-n", "6", "--batch", "2", "--largest", "3"}, "--largest");
  HostMatrix<double> bad(2, 8);
  std::fill_n(bad.data(), bad.size(), 1.0);
  bad(1, 5) = 1e308, bad(0, 5) = 1e308, bad(0, 4) = 1e308, bad(1, 4) = 1e308;
  write_matrix(folder / "bad.npy", bad);
  const auto report = svd({"-a", folder / "bad.npy", "--batch", "4"}, 1);
  CHECK_THAT(report["status"].get<std::string>(), ContainsSubstring("overflow") && ContainsSubstring("of matrix 3"));
  CHECK(report["counts"]["failed_matrices"] == 1);
}

TEST_CASE("svd refuses wrong options") {
  svd.refuses({"-n", "5", "--largest", "6"}, "6 of 5 values");
  svd.refuses({"-n", "5", "--full", "--largest", "2"}, "contradict");
  svd.refuses({"-n", "5", "--full", "--values"}, "contradict");
  svd.refuses({"-n", "5", "--method", "lapack", "--band", "2"}, "--band: belongs to --method two-stage");
  svd.refuses({"-n", "5", "--values", "--out-u", "u.npy"}, "contradict");
  svd.refuses({"-n", "5", "--random", "laplacian"}, "hilbert");
  svd.refuses({"-n", "5", "--scale", "1e400"}, "--scale");
}
