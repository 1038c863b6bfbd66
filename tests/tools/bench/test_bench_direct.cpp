#include "tests/support/commands/process.hpp"
#include "tools/problems/dense/direct.hpp"

#include <nlohmann/json.hpp>

using namespace tesela::test;
using cli::DirectKind;

namespace {

/// Returns the error reported for LAPACK's factors after a change.
template <class Spoil>
double check(cli::DirectProblem<double>& p, Spoil spoil) {
  const auto solver = find_method(cli::direct_table<double>(), "lapack").solver(p);
  solver.prepare();
  solver.run(nullptr);
  cli::DirectFactors factors = solver.result();
  spoil(p.work, factors.rows);
  return check_peer("test", p, factors);
}

}  // namespace

TEST_CASE("bench lu and cholesky separate right factors from wrong ones") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  for (const DirectKind kind : {DirectKind::cholesky, DirectKind::lu}) {
    cli::DirectProblem<double> data{kind, "", 60, &runtime};
    data.generate_uniform(1, false);
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
