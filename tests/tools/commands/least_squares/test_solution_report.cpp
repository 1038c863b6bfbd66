#include "tests/support/commands/temporary_folder.hpp"
#include "tests/support/files.hpp"
#include "tests/support/test.hpp"
#include "tools/commands/least_squares/solution.hpp"

using namespace tesela::cli;
using namespace tesela::test;

TEST_CASE("an inaccurate result reports the check that failed, or the algorithm's own error") {
  const TemporaryFolder folder;
  LeastSquaresOptions o;
  o.common.quiet = true;
  o.common.json_path = folder / "report.json";
  LeastSquares<double> answer;
  answer.X = HostMatrix<double>::zeros(2, 1);
  answer.status = SolveStatus::inaccurate;
  answer.backward_error = {1e-3, 1e-14};
  for (const auto& [error, reason] : {std::pair{1e-15, "error of the factored problem"}, {1e-5, "backward_error"}}) {
    Report report("ols", o.common);
    const auto measure = [&, of_check = error] { report.check("backward_error", Measured{of_check, 1e-14}); };
    CHECK(report_solution(o, report, answer, true, measure, [] {}) == numerical_failure);
    const auto status = nlohmann::json::parse(contents(o.common.json_path))["status"].get<std::string>();
    CHECK_THAT(status, Catch::Matchers::StartsWith(std::string("inaccurate: ") + reason));
  }
}
