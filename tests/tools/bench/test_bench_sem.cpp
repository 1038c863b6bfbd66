#include "tests/support/process.hpp"
#include "tools/problems/econometrics/sem_data.hpp"

#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

using namespace tesela;
using namespace tesela::test;

TEST_CASE("bench sem separates right coefficients from wrong ones") {
  const bench::SemData data({300, 5, 12, 6, 0.1}, 3);
  auto b = data.by_lapack();
  CHECK(data.check("first", b) == 0);
  b[3][2] *= 1 + 1e-12;
  CHECK(data.check("near", b) <= 1);
  b[3][2] *= 1 + 1e-6;
  CHECK_THROWS_AS(data.check("far", b), bench::WrongResult);
  b[3][2] = std::nan("");
  CHECK_THROWS_AS(data.check("NaN", b), bench::WrongResult);
  CHECK_THROWS_AS(data.check("none", {}), bench::WrongResult);
}

TEST_CASE("all peers of bench sem agree") {
  const TemporaryFolder folder;
  const Outcome run =
      run_tesela({"bench", "sem", "--samples", "300", "--endogenous", "20", "--exogenous", "30", "--peers",
                  "tesela,staircase,batched,lapack", "--repeat", "1", "--out", folder.path(), "--json", "-"});
  CAPTURE(run.out, run.err);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out)["peers"].size() == 4);
}

TEST_CASE("bench sem prints the published table up to a number of equations") {
  const Outcome none = run_tesela({"bench", "sem", "--table", "published", "--largest", "399", "--json", "-"});
  CAPTURE(none.out, none.err);
  CHECK(none.code == 0);
  CHECK(nlohmann::json::parse(none.out)["peers"].empty());
  CHECK(run_tesela({"bench", "sem", "--largest", "800"}).code == 2);
}
