#include "bench/eigen/eig_batch_data.hpp"
#include "bench/eigen/eig_data.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/process.hpp"
#include <tesela/codelets/libraries/lapack.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace tesela;
using namespace tesela::test;
using Catch::Matchers::ContainsSubstring;

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

TEST_CASE("an eig peer with a wrong value or vector is found out") {
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

TEST_CASE("bench eig: values, vectors and a part of them") {
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"})
    all_right(bench_json(folder, {"eig", "--n", "65,30", "--peers", "two-stage,lapack", "--fraction", "0.1", "--ncuda",
                                  "0", "-p", precision}),
              8);
}

TEST_CASE("an eig-batch peer with a wrong value or vector is found out") {
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

TEST_CASE("bench eig-batch: values and vectors of several orders") {
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"})
    all_right(bench_json(folder, {"eig-batch", "--n", "3,16", "--count", "50", "--jobs", "values,vectors", "--peers",
                                  "tesela,lapack", "--ncuda", "0", "-p", precision}),
              8);
}

TEST_CASE("bench eig-batch beside cuSOLVER", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"})
    for (const char* const data : {"host", "device"})
      all_right(bench_json(folder, {"eig-batch", "--n", "8,33", "--count", "3000", "--jobs", "values,vectors",
                                    "--peers", "tesela,cusolver", "--data", data, "-p", precision}),
                8);
  all_right(bench_json(folder, {"eig-batch", "--n", "3", "--count", "70000", "--peers", "tesela,cusolver"}), 2);
}

TEST_CASE("bench eig and eig-batch refuse what they do not have") {
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
  refused({"eig-batch", "--n", "129"}, 2, "128");
  refused({"eig-batch", "--count", "0"}, 2, "--count");
  refused({"eig-batch", "--peers", "cusolver"}, 3, "CUDA device");
  refused({"eig-batch", "--data", "device", "--peers", "tesela,lapack"}, 2, "--data host");
}

TEST_CASE("bench eig beside cuSOLVER", "[gpu]") {
  require_gpu();
  const TemporaryFolder folder;
  for (const char* const precision : {"s", "d"}) {
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,lapack,cusolver", "-p", precision}), 6);
    all_right(bench_json(folder, {"eig", "--n", "300", "--peers", "two-stage,cusolver,cusolver-x", "--fraction", "0.1",
                                  "--jobs", "vectors", "--data", "device", "-p", precision}),
              3);
  }
}
