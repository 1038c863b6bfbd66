#include "tests/support/process.hpp"
#include "tools/problems/dense/direct_data.hpp"
#include <tesela/host/lapack.hpp>

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include <limits>

using namespace tesela;
using namespace tesela::test;
using bench::DirectKind;

namespace {

/// Returns the error reported for LAPACK's factors after a change.
template <class Spoil>
double check(const bench::DirectData<double>& data, Spoil spoil) {
  const index_t n = data.what().n;
  HostMatrix<double> factors = data.original().clone();
  std::vector<int> swaps;
  if (data.what().kind == DirectKind::cholesky) {
    REQUIRE(lapack::potrf(n, factors.data(), n) == 0);
  } else {
    swaps.resize(static_cast<std::size_t>(n));
    REQUIRE(lapack::getrf(n, n, factors.data(), n, swaps.data()) == 0);
  }
  std::vector<index_t> rows = bench::rows_of(n, swaps);
  spoil(factors, rows);
  return data.check("test", factors, rows);
}

}  // namespace

TEST_CASE("bench lu and cholesky separate right factors from wrong ones") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  for (const DirectKind kind : {DirectKind::cholesky, DirectKind::lu}) {
    const bench::DirectData<double> data(runtime, {.kind = kind, .n = 60});
    CHECK(check(data, [](auto&, auto&) {}) <= 1);
    CHECK_THROWS_AS(check(data, [](auto& f, auto&) { f(20, 30) *= 1 + 1e-9; }), bench::WrongResult);
    CHECK_THROWS_AS(check(data, [](auto& f, auto&) { f(20, 30) = std::numeric_limits<double>::quiet_NaN(); }),
                    bench::WrongResult);
    if (kind == DirectKind::cholesky) {
      CHECK(check(data, [](auto& f, auto&) { f(30, 20) = 1e9; }) <= 1);  // below the diagonal, which is not read
    } else {
      CHECK_THROWS_AS(check(data, [](auto& f, auto&) { f(30, 20) += 1e-9; }), bench::WrongResult);
      CHECK_THROWS_AS(check(data, [](auto&, auto& rows) { std::swap(rows[3], rows[4]); }), bench::WrongResult);
    }
  }
}

TEST_CASE("bench lu and bench cholesky compare with LAPACK on cores") {
  const TemporaryFolder folder;
  for (const char* name : {"lu", "cholesky"}) {
    const Outcome run = run_tesela({"bench", name, "--n", "200,333", "--repeat", "1", "--ncuda", "0", "--peers",
                                    "tesela,lapack", "--out", folder.path(), "--json", "-"});
    CAPTURE(name, run.out, run.err);
    REQUIRE(run.code == 0);
    const auto report = nlohmann::json::parse(run.out);
    CHECK(report["peers"].size() == (std::string(name) == "lu" ? 6 : 4));
  }
  CHECK(run_tesela({"bench", "lu", "--n", "0", "--out", folder.path()}).code == 2);
  CHECK(run_tesela({"bench", "lu", "--n", "10", "--data", "device", "--peers", "tesela,lapack"}).code != 0);
}
