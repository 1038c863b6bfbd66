#include "tests/support/commands/process.hpp"
#include "tests/support/machine.hpp"
#include "tools/problems/eigen/eig.hpp"
#include "tools/problems/eigen/eig_batch.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;
using bench::WrongResult;

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

template <class T>
cli::EigProblem<T> problem(const cli::EigInput& input, bool vectors) {
  cli::EigProblem<T> p{.input = input, .options = {.vectors = vectors}, .seed = 3};
  p.load();
  return p;
}

/// Returns the result of a peer that found these values.
template <class T>
cli::EigFound<T> found(const std::vector<double>& values, HostMatrix<T> vectors) {
  cli::EigFound<T> f;
  f.eig.values = f.eig.spectrum = values;
  f.eig.norm = std::max(std::abs(values.front()), std::abs(values.back()));
  f.vectors = std::move(vectors);
  return f;
}

}  // namespace

TEST_CASE("an eig peer with a wrong value or vector is found") {
  const index_t n = 30, k = 12;
  for (const index_t part : {n, k}) {
    auto p = problem<double>({.n = n}, true);
    p.options.positions = IndexRange{0, part};
    HostMatrix<double> all = p.a.clone();
    std::vector<double> w(static_cast<std::size_t>(n));
    lapack::syevd<double>(n, all.data(), n, w.data(), true);
    w.resize(static_cast<std::size_t>(part));
    auto f = found<double>(w, HostMatrix<double>(n, part));
    const auto outcome = [&](const std::vector<double>& values, const HostMatrix<double>& x) {
      f.eig.values = f.eig.spectrum = values;
      std::copy_n(x.data(), f.vectors.size(), f.vectors.data());
      return check_peer("peer", p, f);
    };
    CHECK(outcome(w, all) <= 1);
    CHECK_THROWS_AS(outcome(w, p.a), WrongResult);
    all(3, 4) += 1e-10;
    CHECK_THROWS_AS(outcome(w, all), WrongResult);
    all(3, 4) -= 1e-10;
    w.back() += 1e-10;
    CHECK_THROWS_AS(outcome(w, all), WrongResult);
    w.pop_back();
    CHECK_THROWS_AS(outcome(w, all), WrongResult);
  }
}

TEMPLATE_TEST_CASE("a matrix that is not on the host is checked where its vectors are", "", float, double) {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const index_t n = 130;
  const SymmetricMatrix matrix(SymmetricKind::uniform, n, 0, 3);
  cli::EigProblem<TestType> p{
      .input = {.n = n}, .options = {}, .seed = 3, .runtime = &runtime, .resident = true, .whole = 0};
  p.load();
  REQUIRE(p.generator);
  CHECK(p.a.size() == 0);
  HostMatrix<TestType> x(n, n);
  double squares = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      x(i, j) = matrix.element<TestType>(i, j);
      squares += std::pow(static_cast<double>(x(i, j)), 2);
      if (i >= j) CHECK((*p.generator)(i, j) == x(i, j));
    }
  std::vector<TestType> w(static_cast<std::size_t>(n));
  lapack::syevd(n, x.data(), n, w.data(), true);
  std::vector<double> values(w.begin(), w.end());
  CHECK(std::abs(p.moments().frobenius - std::sqrt(squares)) < 1e-12 * std::sqrt(squares));
  auto f = found<TestType>(values, {});
  f.X.emplace(runtime, n, n, TileShape{n, 48}, "X");
  const auto outcome = [&] {
    f.X->copy_from(x.data(), n);
    f.eig.values = f.eig.spectrum = values;
    return check_peer("peer", p, f);
  };
  CHECK(outcome() <= 1);
  const TestType off = std::is_same_v<TestType, float> ? TestType(1e-2) : TestType(1e-10);
  for (const index_t column : {index_t{0}, index_t{47}, n - 1}) {
    const TestType kept = x(3, column);
    x(3, column) += off;
    CHECK_THROWS_AS(outcome(), WrongResult);
    x(3, column) = kept;
  }
  std::swap(x(1, 7), x(2, 7));  // the length stays correct
  CHECK_THROWS_AS(outcome(), WrongResult);
  std::swap(x(1, 7), x(2, 7));
  values.back() += static_cast<double>(off);
  CHECK_THROWS_AS(outcome(), WrongResult);
  values.back() -= static_cast<double>(off);
  CHECK(outcome() <= 1);
  values.pop_back();
  CHECK_THROWS_AS(outcome(), WrongResult);
}

TEST_CASE("values are compared with the first peer's and with A's trace and norm") {
  auto p = problem<double>({.n = 50}, false);
  p.whole = 0;
  const std::vector<double> right = reference_eigenvalues(p.a);
  const auto outcome = [&](const std::vector<double>& values) {
    return check_peer("peer", p, found<double>(values, {}));
  };
  auto wrong = right;
  wrong[4] += 1e-10;
  CHECK_THROWS_AS(outcome(wrong), WrongResult);  // the trace
  wrong[10] -= 1e-10;
  CHECK_THROWS_AS(outcome(wrong), WrongResult);  // the norm
  CHECK(outcome(right) <= 1);
  // The sums are correct, but the values differ from those of the first peer.
  wrong = right;
  std::swap(wrong[3], wrong[30]);
  CHECK_THROWS_AS(outcome(wrong), WrongResult);
}

TEMPLATE_TEST_CASE("a generalized eig peer with a wrong value or vector is found", "", float, double) {
  const index_t n = 40;
  auto p = problem<TestType>({.n = n, .random_b = "geometric:10"}, true);
  HostMatrix<TestType> x = p.a.clone(), b = p.b.clone();
  std::vector<TestType> w(static_cast<std::size_t>(n));
  lapack::sygvd(1, n, x.data(), n, b.data(), n, w.data(), true);
  auto f = found<TestType>({w.begin(), w.end()}, std::move(x));
  CHECK(check_peer("right", p, f) <= 1);
  const TestType off = std::is_same_v<TestType, float> ? TestType(2e-2) : TestType(1e-9);
  f.vectors(3, 4) += off;
  CHECK_THROWS_AS(check_peer("vector", p, f), WrongResult);
  f.vectors(3, 4) -= off;
  f.eig.values.back() += static_cast<double>(off);
  CHECK_THROWS_AS(check_peer("value", p, f), WrongResult);
  f.vectors = p.a.clone();
  CHECK_THROWS_AS(check_peer("idle", p, f), WrongResult);
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
  const index_t n = 9, count = 20;
  cli::EigBatchProblem<double> p{{.n = n}, count, true};
  p.load();
  cli::EigBatchFound<double> f{{}, HostMatrix<double>(n, count), p.a.clone()};
  for (index_t k = 0; k < count; ++k) lapack::syevd<double>(n, &f.vectors(0, k * n), n, &f.values(0, k), true);
  CHECK(check_peer("right", p, f) <= 1);
  for (double* const one : {&f.vectors(3, 7 * n), &f.values(0, 19)}) {
    const double kept = *one;
    *one += 1e-10;
    CHECK_THROWS_AS(check_peer("wrong", p, f), WrongResult);
    *one = kept;
  }
  f.vectors = p.a.clone();
  CHECK_THROWS_AS(check_peer("idle", p, f), WrongResult);
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
  for (const auto& [precision, data] : {std::pair{"s", "host"}, {"d", "device"}}) {
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,lapack,cusolver", "-p", precision}), 6);
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,cusolver,cusolver-x", "--fraction", "0.1",
                                  "--jobs", "vectors", "--data", "device", "-p", precision}),
              3);
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,cusolver", "--generalized", "--data", data,
                                  "-p", precision}),
              4);
    all_right(bench_json(folder, {"eig", "--n", "300", "--jobs", "band", "--data", data, "-p", precision}), 1);
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
