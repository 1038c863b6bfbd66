#include "tests/support/machine.hpp"
#include "tests/support/process.hpp"
#include "tools/problems/eigen/eig_batch_data.hpp"
#include "tools/problems/eigen/eig_data.hpp"
#include "tools/problems/eigen/generalized_eig_data.hpp"
#include <tesela/host/lapack.hpp>

#include <nlohmann/json.hpp>

using namespace tesela;
using namespace tesela::test;

namespace {

nlohmann::json bench_json(const TemporaryFolder& folder, const Words& words) {
  const Outcome run =
      run_tesela(Words{"bench"} + words + Words{"--repeat", "1", "--json", "-", "--out", folder.path()});
  CAPTURE(words, run.out, run.err);
  REQUIRE(run.code == 0);
  return nlohmann::json::parse(run.out);
}

void all_right(const nlohmann::json& report, std::size_t rows) {
  CAPTURE(report.dump());
  CHECK(report["peers"].size() == rows);
  for (const auto& peer : report["peers"]) CHECK(peer["median_s"] > 0);
  CHECK(report["checks"].size() == rows);
  for (const auto& [name, error] : report["checks"].items()) CHECK((error >= 0 && error <= 1));
}

}  // namespace

TEST_CASE("an eig peer with a wrong value or vector is found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = 30, k = 12;
  const SymmetricMatrix matrix(SymmetricKind::uniform, n, 0, 3);
  for (const index_t part : {index_t{0}, k}) {
    const bench::EigData<double> data(runtime, {.n = n, .vectors = true, .part = part}, matrix);
    HostMatrix<double> all = data.original().clone();
    std::vector<double> w(static_cast<std::size_t>(n));
    lapack::syevd<double>(n, all.data(), n, w.data(), true);
    w.resize(static_cast<std::size_t>(data.what().wanted()));
    HostMatrix<double> x(n, data.what().wanted());
    std::copy_n(all.data(), x.size(), x.data());
    CHECK(data.check("right", w, x) <= 1);
    CHECK_THROWS_AS(data.check("idle", w, data.original()), bench::WrongResult);
    x(3, 4) += 1e-10;
    CHECK_THROWS_AS(data.check("vector", w, x), bench::WrongResult);
    x(3, 4) -= 1e-10;
    w.back() += 1e-10;
    CHECK_THROWS_AS(data.check("value", w, x), bench::WrongResult);
    w.pop_back();
    CHECK_THROWS_AS(data.check("few", w, x), bench::WrongResult);
  }
}

TEMPLATE_TEST_CASE("a matrix that is not on the host is checked where its vectors are", "", float, double) {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const index_t n = 130;
  const SymmetricMatrix matrix(SymmetricKind::uniform, n, 0, 3);
  const bench::EigCase what{.n = n, .vectors = true, .on_device = true, .whole = 0};
  const bench::EigData<TestType> data(runtime, what, matrix);
  REQUIRE(data.generator());
  CHECK(data.original().size() == 0);
  HostMatrix<TestType> x(n, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      x(i, j) = matrix.element<TestType>(i, j);
      if (i >= j) CHECK((*data.generator())(i, j) == x(i, j));
    }
  double squares = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) squares += std::pow(static_cast<double>(x(i, j)), 2);
  std::vector<TestType> w(static_cast<std::size_t>(n));
  lapack::syevd(n, x.data(), n, w.data(), true);
  std::vector<double> values(w.begin(), w.end());
  CHECK(std::abs(data.moments().frobenius - std::sqrt(squares)) < 1e-12 * std::sqrt(squares));
  const TileMatrix<TestType> X(runtime, n, n, {n, 48}, "X");
  const auto outcome = [&](const char* peer) {
    X.copy_from(x.data(), n);
    return data.check(peer, values, X);
  };
  CHECK(outcome("right") <= 1);
  const TestType off = std::is_same_v<TestType, float> ? TestType(1e-2) : TestType(1e-10);
  for (const index_t column : {index_t{0}, index_t{47}, n - 1}) {
    const TestType kept = x(3, column);
    x(3, column) += off;
    CHECK_THROWS_AS(outcome("vector"), bench::WrongResult);
    x(3, column) = kept;
  }
  std::swap(x(1, 7), x(2, 7));  // the length stays correct
  CHECK_THROWS_AS(outcome("swapped"), bench::WrongResult);
  std::swap(x(1, 7), x(2, 7));
  values.back() += static_cast<double>(off);
  CHECK_THROWS_AS(outcome("value"), bench::WrongResult);
  values.back() -= static_cast<double>(off);
  CHECK(outcome("right again") <= 1);
  values.pop_back();
  CHECK_THROWS_AS(outcome("few"), bench::WrongResult);
}

TEST_CASE("values are compared with the first peer's and with A's trace and norm") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = 50;
  const SymmetricMatrix matrix(SymmetricKind::uniform, n, 0, 3);
  const bench::EigCase what{.n = n, .vectors = false, .whole = 0};
  const bench::EigData<double> data(runtime, what, matrix);
  const std::vector<double> right = reference_eigenvalues(data.original());
  const HostMatrix<double> none;
  auto wrong = right;
  wrong[4] += 1e-10;
  CHECK_THROWS_AS(data.check("trace", wrong, none), bench::WrongResult);
  wrong[10] -= 1e-10;
  CHECK_THROWS_AS(data.check("norm", wrong, none), bench::WrongResult);
  CHECK(data.check("right", right, none) <= 1);
  // The sums are correct, but the values differ from those of the first peer.
  wrong = right;
  std::swap(wrong[3], wrong[30]);
  CHECK_THROWS_AS(data.check("other", wrong, none), bench::WrongResult);
}

TEMPLATE_TEST_CASE("a generalized eig peer with a wrong value or vector is found", "", float, double) {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = 40;
  const SymmetricMatrix a(SymmetricKind::uniform, n, 0, 3), b(SymmetricKind::geometric, n, 10, 4);
  const bench::GeneralizedEigData<TestType> data(runtime, {.n = n, .vectors = true}, a, b);
  data.restore();
  std::vector<TestType> w(static_cast<std::size_t>(n));
  lapack::sygvd(1, n, data.a(), n, data.b(), n, w.data(), true);
  std::vector<double> values(w.begin(), w.end());
  HostMatrix<TestType> x(n, n);
  std::copy_n(data.a(), x.size(), x.data());
  CHECK(data.check("right", values, x) <= 1);
  const TestType off = std::is_same_v<TestType, float> ? TestType(2e-2) : TestType(1e-9);
  x(3, 4) += off;
  CHECK_THROWS_AS(data.check("vector", values, x), bench::WrongResult);
  x(3, 4) -= off;
  values.back() += static_cast<double>(off);
  CHECK_THROWS_AS(data.check("value", values, x), bench::WrongResult);
  CHECK_THROWS_AS(data.check("idle", values, data.original_a()), bench::WrongResult);
}

TEST_CASE("bench eig measures values, vectors and a part of them") {
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"})
    all_right(bench_json(folder, {"eig", "--n", "65,30", "--peers", "two-stage,lapack", "--fraction", "0.1", "--ncuda",
                                  "0", "-p", precision}),
              8);
}

TEST_CASE("bench eig measures a pair and the reduction to a band") {
  const TemporaryFolder folder;
  const Words common{"eig", "--n", "65,30", "--ncuda", "0"};
  all_right(bench_json(folder, common + Words{"--peers", "two-stage,auto,lapack", "--generalized"}), 12);
  all_right(bench_json(folder, common + Words{"--random-b", "identity", "--job", "vectors", "-p", "s"}), 4);
  all_right(bench_json(folder, common + Words{"--jobs", "band", "-p", "s"}), 2);
}

TEST_CASE("bench eig reports unchecked results in the table, the CSV and the JSON") {
  const TemporaryFolder folder;
  const Words words{"eig", "--n", "30", "--jobs", "values", "--no-check", "--ncuda", "0"};
  const std::string json = folder / "eig.json";
  const Outcome run =
      run_tesela(Words{"bench"} + words + Words{"--repeat", "1", "--out", folder.path(), "--json", json});
  REQUIRE(run.code == 0);
  CHECK_THAT(run.out, ContainsSubstring("unchecked") && ContainsSubstring("nothing was checked"));
  CHECK_THAT(contents(folder / "eig.csv"), ContainsSubstring(",remark\n") && ContainsSubstring(",unchecked\n"));
  const nlohmann::json report = nlohmann::json::parse(contents(json));
  CHECK(report["checks"].empty());
  for (const auto& peer : report["peers"]) CHECK(peer["remark"] == "unchecked");
}

TEST_CASE("an eig-batch peer with a wrong value or vector is found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t n = 9, count = 20;
  const bench::EigBatchData<double> data(runtime, {.n = n, .count = count, .vectors = true});
  data.restore();
  for (index_t k = 0; k < count; ++k) lapack::syevd<double>(n, data.a() + k * n * n, n, data.w() + k * n, true);
  CHECK(data.check("right") <= 1);
  for (double* const one : {data.a() + 7 * n * n + 3, data.w() + 19 * n}) {
    const double kept = *one;
    *one += 1e-10;
    CHECK_THROWS_AS(data.check("wrong"), bench::WrongResult);
    *one = kept;
  }
  data.restore();
  CHECK_THROWS_AS(data.check("idle"), bench::WrongResult);
}

TEST_CASE("bench eig-batch measures values and vectors of several orders") {
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"})
    all_right(bench_json(folder, {"eig-batch", "--n", "3,16", "--count", "50", "--jobs", "values,vectors", "--peers",
                                  "tesela,lapack", "--ncuda", "0", "-p", precision}),
              8);
}

TEST_CASE("bench eig-batch compares with cuSOLVER", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"})
    for (const char* const data : {"host", "device"})
      all_right(bench_json(folder, {"eig-batch", "--n", "8,33", "--count", "3000", "--jobs", "values,vectors",
                                    "--peers", "tesela,cusolver", "--data", data, "-p", precision}),
                8);
  all_right(bench_json(folder, {"eig-batch", "--n", "3", "--count", "70000", "--peers", "tesela,cusolver"}), 2);
}

TEST_CASE("bench eig and eig-batch refuse unknown options") {
  const auto refused = [](const Words& words, int code, const char* why) {
    const Outcome run = run_tesela(Words{"bench"} + words, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
    CAPTURE(words, run.err);
    CHECK(run.code == code);
    CHECK_THAT(run.err, ContainsSubstring(why));
  };
  refused({"eig", "--n", "8", "--peers", "cusolver"}, 3, "CUDA device");
  refused({"eig", "--n", "8", "--peers", "cusolver-x", "--fraction", "0.5"}, 3, "CUDA device");
  refused({"eig", "--n", "8", "--peers", "two-stage", "--data", "device"}, 3, "CUDA device");
  refused({"eig", "--n", "8", "--peers", "lapack", "--data", "device"}, 2, "--data host");
  refused({"eig", "--n", "8", "--peers", "cusolver-x"}, 2, "--fraction");
  refused({"eig", "--n", "8", "--fraction", "0"}, 2, "--fraction");
  refused({"eig", "--n", "8", "--fraction", "1.5"}, 2, "--fraction");
  refused({"eig", "--n", "8", "--peers", "tesela"}, 2, "two-stage");
  refused({"eig", "--n", "8", "--peers", "elpa", "-p", "s"}, 2, "double precision");
  refused({"eig", "--n", "8", "--generalized", "--fraction", "0.5"}, 2, "--fraction");
  refused({"eig", "--n", "8", "--generalized", "--jobs", "band"}, 2, "--jobs");
  refused({"eig", "--n", "8", "--random-b", "nonsense", "--ncuda", "0"}, 2, "nonsense");
  refused({"eig", "--n", "8", "--jobs", "nonsense"}, 2, "--jobs");
  refused({"eig-batch", "--n", "129"}, 2, "128");
  refused({"eig-batch", "--count", "0"}, 2, "--count");
  refused({"eig-batch", "--peers", "cusolver"}, 3, "CUDA device");
  refused({"eig-batch", "--data", "device", "--peers", "tesela,lapack"}, 2, "--data host");
}

TEST_CASE("bench eig compares with cuSOLVER", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"}) {
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,lapack,cusolver", "-p", precision}), 6);
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,cusolver,cusolver-x", "--fraction", "0.1",
                                  "--jobs", "vectors", "--data", "device", "-p", precision}),
              3);
    for (const char* const data : {"host", "device"}) {
      all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,cusolver", "--generalized", "--data",
                                    data, "-p", precision}),
                4);
      all_right(bench_json(folder, {"eig", "--n", "300", "--jobs", "band", "--data", data, "-p", precision}), 1);
    }
    // A of this size is generated on the device and never copied to the host.
    all_right(bench_json(folder, {"eig", "--n", "4200", "--peers", "two-stage,cusolver", "--data", "device", "--jobs",
                                  "values,vectors,band", "-p", precision}),
              5);
  }
}

TEST_CASE("bench eig-jobs measures jobs together and one by one, checked, with joules on request") {
  const TemporaryFolder folder;
  all_right(bench_json(folder, {"eig-jobs", "-n", "70", "--count", "3", "--ncuda", "0", "--method", "two-stage",
                                "--at-once", "3", "-p", "s"}),
            3);
  const auto report = bench_json(folder, {"eig-jobs", "-n", "40", "--count", "3", "--ncuda", "0", "--energy"});
  all_right(report, 3);
  for (const auto& peer : report["peers"]) {
    CHECK(peer["energy"]["gpu_j"].is_null());
    CHECK((peer["energy"]["cpu_j"].is_null() || peer["energy"]["cpu_j"] > 0));
  }
  CHECK_THAT(contents(folder / "eig-jobs.csv"), ContainsSubstring(",gpu_j,cpu_j\n"));
}

TEST_CASE("bench eig-jobs measures on a GPU", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  for (const Words& how : {Words{}, Words{"--method", "two-stage"}, Words{"--streams", "1"}})
    all_right(bench_json(folder, Words{"eig-jobs", "-n", "300", "--count", "9"} + how), 3);
}
