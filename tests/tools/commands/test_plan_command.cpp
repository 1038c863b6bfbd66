// --plan, --memory and --energy: planned and measured resources of a run.

#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/runtime/machine/memory.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

const Command eig{{"eig"}}, qr{{"qr"}};

double bytes(const nlohmann::json& memory, const char* key) { return memory["host"][key].get<double>(); }

void within_ten_percent(const Command& command, const Words& options) {
#ifdef __SANITIZE_ADDRESS__
  SKIP("AddressSanitizer uses additional memory");
#endif
  // Plans do not depend on the number of threads.
  const auto memory = command(options + Words{"--ncuda", "0", "--ncpu", "2"})["memory"];
  CAPTURE(options, memory.dump());
  CHECK(std::abs(bytes(memory, "measured_bytes") / bytes(memory, "planned_bytes") - 1) < 0.1);
}

}  // namespace

TEST_CASE("eig --plan reports stages, largest orders and Table 1.1 of the Cinvestav thesis") {
  const auto report = eig({"-n", "3000", "--vectors", "--plan", "--ncuda", "0", "--method", "two-stage"});
  const auto& plan = report["plan"];
  REQUIRE(plan["stages"].size() == 4);
  double most = 0;
  for (const auto& stage : plan["stages"]) {
    CHECK(stage["host_bytes"] >= 2.0 * 3000 * 3000 * 8);
    most = std::max(most, stage["host_bytes"].get<double>());
  }
  CHECK(plan["host"]["peak_bytes"] == most);
  CHECK(plan["fits"] == true);
  CHECK(report["status"] == "ok");
  for (const auto& row : plan["largest"]) {
    const double single = row["single"], twice = row["double"];
    CHECK(twice > 1000);
    CHECK(std::abs(single / twice - std::sqrt(2)) < 0.02);
  }
  const auto& published = plan["published"];
  std::vector<int> orders;
  for (const auto& row : published) orders.push_back(row["n"]);
  CHECK(orders == std::vector<int>{5000, 6000, 7000, 8000, 9000, 10000, 20000, 30000, 40000, 50000, 100000});
  CHECK(std::abs(published.front()["float MiB"].get<double>() - 95.367) < 0.001);
  CHECK(std::abs(published.back()["3 double MiB"].get<double>() - 228881.8) < 0.1);
  CHECK_THAT(run_tesela({"eig", "-n", "100", "--plan"}).out, ContainsSubstring("largest"));
}

TEST_CASE("--plan with --quiet prints nothing, and its tables have their columns in order") {
  const TemporaryFolder folder;
  for (const Words& command : {Words{"eig"}, {"qr"}, {"lu"}, {"svd"}, {"eig", "--batch", "3"}}) {
    const Outcome run = run_tesela(command + Words{"-n", "9", "--plan", "--quiet", "--json", folder / "plan.json"});
    CAPTURE(command, run.out, run.err);
    CHECK(run.code == 0);
    CHECK(run.out.empty());
    CHECK(nlohmann::json::parse(std::ifstream(folder / "plan.json"))["status"] == "ok");
  }
  const std::string out = run_tesela({"eig", "-n", "100", "--plan"}).out;
  for (const Words& columns :
       {Words{"method", "vectors", "single", "double"}, {"n", "float MiB", "double MiB", "3 float MiB"}}) {
    std::size_t at = out.find('\n' + std::string(16 - columns[0].size(), ' ') + columns[0]);
    for (const std::string& column : columns) {
      REQUIRE(at != std::string::npos);
      at = out.find(std::string(16 - column.size(), ' ') + column, at);
    }
    CHECK(at != std::string::npos);
  }
}

TEST_CASE("a run that does not fit is refused before any allocation") {
  for (const Words& words :
       {Words{"eig", "-n", "200000", "--vectors", "--memory", "8"}, Words{"eig", "-n", "400000", "--memory", "8"},
        Words{"qr", "-n", "200000", "--memory", "8"},
        Words{"qr", "-n", "200000", "--memory", "8", "--method", "givens"}}) {
    const Outcome run = run_tesela(words);
    CAPTURE(words, run.err);
    CHECK(run.code == 3);
    CHECK(run.seconds < 5 * patience);
    CHECK_THAT(run.err, ContainsSubstring("does not fit") && ContainsSubstring("GiB"));
    const Outcome told = run_tesela(words + Words{"--plan"});
    CHECK(told.code == 3);
    CHECK_THAT(told.out, ContainsSubstring("does not fit"));
  }
  // Small or close figures are printed with enough digits to differ.
  for (const auto& [memory, figures] :
       {std::pair{"1e-9", "; 1e-09 GiB may be used"}, {"0.0305", " GiB of the host's memory; 0.0305 GiB may be"}}) {
    const Outcome run = run_tesela({"eig", "-n", "1432", "--ncuda", "0", "--memory", memory});
    CAPTURE(memory, run.err);
    CHECK(run.code == 3);
    CHECK_THAT(run.err, ContainsSubstring(figures));
  }
  // The largest order of the plan fits; an order more than 0.1 % larger does not.
  const auto plan = eig({"-n", "10", "--plan", "--vectors", "--memory", "2", "--ncuda", "0"})["plan"];
  for (const auto& row : plan["largest"]) {
    if (row["vectors"] != "yes") continue;
    const auto n = row["double"].get<index_t>();
    const auto answer = [&](index_t order) {
      return run_tesela({"eig", "-n", std::to_string(order), "--plan", "--vectors", "--memory", "2", "--ncuda", "0",
                         "--method", row["method"].get<std::string>()})
          .code;
    };
    CHECK(answer(n) == 0);
    CHECK(answer(n + n / 400) == 3);
  }
}

TEST_CASE("orders beyond any machine are refused at once") {
  const auto answer = [](const Words& words, int code) {
    const Outcome run = run_tesela(words + Words{"--ncuda", "0"}, {.limit = 60});
    CAPTURE(words, run.out, run.err);
    CHECK(run.code == code);
    CHECK(run.seconds < 5 * patience);
  };
  for (const char* n : {"1e11", "9223372036854775807"}) {
    answer({"eig", "--n", n, "--plan"}, 3);
    answer({"eig", "--n", n, "--vectors", "--method", "two-stage"}, 3);
    answer({"eig", "--n", n, "--memory", "1e300"}, 3);
    answer({"qr", "--n", n, "--plan", "--method", "givens-stages"}, 3);
  }
  for (const char* n : {"9223372036854775808", "99999999999999999999", "1e20"}) answer({"eig", "--n", n}, 2);
  for (const char* n : {"1e7", "2147483647", "9223372036854775807"}) answer({"qr", "--n", n, "--plan"}, 3);
  answer({"qr", "--n", "1000000", "--tile", "10", "--plan"}, 3);
  for (const char* memory : {"1e9", "1e18", "1e300"}) {
    answer({"eig", "--n", "3000", "--plan", "--memory", memory}, 0);
    answer({"qr", "--n", "3000", "--plan", "--memory", memory}, 0);
  }
  answer({"qr", "--n", "5", "--seed", "18446744073709551615"}, 0);
}

TEST_CASE("a run uses the memory of its plan") {
  within_ten_percent(eig, {"-n", "1500", "--vectors", "--method", "two-stage", "--no-check"});
  // The buffers of BLAS need 3 to 10 MB more than planned, by processor.
  within_ten_percent(eig, {"-n", "2200", "--vectors", "--method", "lapack", "--no-check"});
  within_ten_percent(eig, {"-n", "2000", "--method", "two-stage", "--no-check"});
  within_ten_percent(qr, {"-n", "2000"});
  within_ten_percent(qr, {"-m", "12000", "-n", "300", "--tile", "1000x100"});
  within_ten_percent(qr, {"-m", "4000", "-n", "700", "--method", "givens-chain"});
}

TEST_CASE("a run on a GPU uses the memory of its plan", "[gpu]") {
  require_gpu();
  for (const Words& options : {Words{"-n", "8192", "--vectors", "--no-check"}, Words{"-n", "8192", "--no-check"}}) {
    const auto memory = eig(options + Words{"--ncuda", "1"})["memory"];
    CAPTURE(options, memory.dump());
    const auto& gpu = memory["gpus"][0];
    CHECK(std::abs(gpu["measured_bytes"].get<double>() / gpu["planned_bytes"].get<double>() - 1) < 0.1);
  }
}

TEST_CASE("--plan is refused where no plan exists") {
  eig.refuses({"--plan", "--jobs", "jobs.txt"}, "--plan");
  eig.refuses({"--plan", "-n", "9", "--method", "cusolver"}, "--plan");
  eig.refuses({"--memory", "0"}, "--memory");
  eig.refuses({"--memory", "1", "--random-b", "uniform"}, "--memory");
  const TemporaryFolder folder;
  for (const Words& command : {Words{"eig"}, {"qr"}, {"lu"}, {"svd"}, {"toeplitz", "eig"}, {"gemm"}})
    for (const Words& option :
         {Words{"--energy"}, Words{"--trace", folder / "trace"}, Words{"--report", folder / "page.html"}})
      Command{command}.refuses(Words{"-n", "9", "--plan"} + option, option.front() + ": and --plan contradict");
  CHECK(folder.files() == 0);
  qr.refuses({"--plan", "-n", "9", "--method", "lapack"}, "--plan");
}

TEST_CASE("every command that reads a matrix has a plan, and names the dense size of a coordinate file") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  };
  // A alone fits into memory, but not with its factors.
  const std::string order = std::to_string(static_cast<index_t>(std::sqrt(0.6 * usable_host_bytes() / 8)));
  const std::string mtx = "%%MatrixMarket matrix ", table = "y,x,z\n1,2,3\n2,3,4\n3,5,4\n5,6,8\n";
  const std::string sparse = file("s.mtx", mtx + "coordinate real general\n20000 20000 2\n1 1 4\n20000 20000 4\n"),
                    symmetric = file("y.mtx", mtx + "coordinate real symmetric\n20000 20000 2\n1 1 4\n20000 1 4\n"),
                    diagonal = file("d.mtx", mtx + "coordinate real symmetric\n20000 20000 2\n1 1 4\n2 1 4\n"),
                    huge =
                        file("h.mtx", mtx + "coordinate real general\n" + order + " " + order + " 2\n1 1 4\n2 1 4\n"),
                    endless = file("e.mtx",
                                   mtx + "coordinate real general\n9223372036854775807 9223372036854775807 1\n1 1 1\n"),
                    b = file("b.mtx", mtx + "coordinate real general\n20000 1 1\n1 1 4\n"),
                    row = file("r.mtx", mtx + "coordinate real general\n1 20000 1\n1 1 1\n"),
                    one = file("o.txt", "1\n"), csv = file("d.csv", table);
  for (const Words& words : {Words{"gemm", "--a", sparse, "--b", sparse},
                             {"qr", "--a", sparse},
                             {"gqr", "--a", sparse, "--factor", sparse},
                             {"lu", "--a", sparse, "--b", b},
                             {"cholesky", "--a", symmetric, "--b", b},
                             {"ols", "--a", sparse, "--b", b},
                             {"wls", "--a", sparse, "--b", b, "--weights", b},
                             {"nnls", "--a", sparse, "--b", b},
                             {"lse", "--a", sparse, "--b", b, "--c", row, "--d", one},
                             {"glm", "--a", sparse, "--factor", sparse, "--b", b},
                             {"eig", "--a", symmetric},
                             {"eig", "--a", symmetric, "--b", symmetric}}) {
    const Outcome run = run_tesela(words + Words{"--plan", "--ncuda", "0"}, {.limit = 20});
    CAPTURE(words, run.out, run.err);
    CHECK((run.code == 0 || run.code == 3));
    CHECK_THAT(run.out, ContainsSubstring("status  "));
    CHECK_THAT(run.err, ContainsSubstring("lists 2 entries, and is read as a dense matrix of 20000 x 20000: 2.98 GiB"));
    CHECK(run.peak_bytes < 1e9);
  }
  CHECK_THAT(run_tesela(Words{"eig", "--a", diagonal, "--plan"}).err, !ContainsSubstring("dense"));
  CHECK_THAT(run_tesela(Words{"eig", "--a", diagonal, "--plan", "--band", "4"}).err, ContainsSubstring("dense"));
  CHECK_THAT(run_tesela(Words{"eig", "--a", symmetric, "--plan", "--quiet"}).err, !ContainsSubstring("dense"));
  for (const Words& plan : {Words{}, Words{"--plan"}}) {
    const Outcome refused = run_tesela(Words{"eig", "--a", endless} + plan, {.limit = 20});
    CAPTURE(plan, refused.out, refused.err);
    CHECK(refused.code == 3);
    CHECK_THAT(refused.out + refused.err, ContainsSubstring("eig") && ContainsSubstring("GiB"));
    CHECK_THAT(refused.err, !ContainsSubstring("vector"));
  }
  for (const char* name : {"lu", "qr"}) {
    const Outcome refused = run_tesela(Words{name, "--a", huge}, {.limit = 20});
    CHECK(refused.code == 3);
    CHECK_THAT(refused.err, ContainsSubstring(name) && ContainsSubstring("GiB"));
    CHECK(refused.peak_bytes < 1e9);
  }
  const auto plan = [](const Words& words, const Words& more = {}) {
    return Command{words}(more + Words{"--plan"})["plan"]["host"]["peak_bytes"].get<double>();
  };
  CHECK(plan({"tridiag"}, {"--d", b, "--dl", b, "--du", b, "--rhs", "1"}) >= 4 * 8 * 20000);
  CHECK(plan({"eig"}, {"--diagonal", b, "--off-diagonal", b}) >= 8 * 20000);
  CHECK(plan({"eig"}, {"-n", "20", "--batch", "1000"}) >= 2 * 8 * 20 * 20 * 1000);
  CHECK(plan({"toeplitz", "solve"}, {"--t", b, "--rhs", "1"}) >= 8 * 20000);
  for (const char* name : {"eig", "count", "slice"}) CHECK(plan({"toeplitz", name}, {"--t", b}) >= 8 * 20000);
  CHECK(plan({"sem"}, {"--data", csv, "--model", "y ~ x + z", "--method", "ols"}) == (16 * 4 + 40 * 4) * 4);
  CHECK(plan({"sem"}, {"--samples", "1000", "--endogenous", "4", "--exogenous", "6"}) >= 16 * 1000 * 10);
  CHECK(plan({"ols"}, {csv, "y ~ x + z"}) >= 8 * 4 * 3);
  CHECK(plan({"mimo", "detect"}, {"--nt", "2", "--signals", "1000"}) == 1000 * (16 * (4 + 2) + 16));
  CHECK(plan({"mimo", "detect"}, {"--nt", "2", "--signals", "1000", "--coherence", "0"}) == 64 + 1000 * (32 + 16));
  CHECK(plan({"mimo", "ber"}, {"--nt", "2", "--signals", "1000"}) == 1000 * (16 * (4 + 2) + 16));
  CHECK(plan({"mimo", "orderings"}, {"--n", "4"}) > 0);
}

TEST_CASE("lu and cholesky plan the memory of their tiles") {
  for (const char* const name : {"lu", "cholesky"}) {
    const auto plan = Command{{name}}({"-n", "3000", "--plan", "--no-check", "--rhs", "5", "--ncuda", "0"})["plan"];
    CHECK(plan["host"]["peak_bytes"] == 8.0 * (2 * 3000 * 3000 + 2 * 5 * 3000));
    CHECK(plan["gpus"].empty());
    CHECK(plan["fits"] == true);
    CHECK(Command{{name}}({"-n", "2000000", "--plan", "--ncuda", "0"}, 3)["plan"]["fits"] == false);
  }
}

TEST_CASE("--energy reports joules or that they are unavailable") {
  for (const Words& words :
       {Words{"eig", "-n", "60"}, Words{"qr", "-n", "60"}, Words{"qr", "-n", "60", "--method", "lapack"},
        Words{"gemm", "-n", "60"}, Words{"tridiag", "--n", "1000"}, Words{"ols", "-m", "60", "-n", "6"},
        Words{"toeplitz", "eig", "-n", "60"}, Words{"eig", "-n", "8", "--batch", "9"}}) {
    const auto report = Command{words}({"--energy", "--ncuda", "0"});
    CAPTURE(words, report["energy"].dump());
    REQUIRE(report.contains("energy"));
    CHECK(report["energy"]["gpu_j"].is_null());
    for (const char* const key : {"cpu_j", "gflops_per_j"})
      CHECK((report["energy"][key].is_null() || report["energy"][key] > 0));
  }
  CHECK(!eig({"-n", "60"}).contains("energy"));
  const Outcome run = run_tesela({"eig", "-n", "60", "--energy", "--ncuda", "0"});
  CHECK_THAT(run.out, ContainsSubstring("GPUs unavailable"));
}

TEST_CASE("--energy reports the joules of a GPU", "[gpu]") {
  require_gpu();
  const auto energy = eig({"-n", "3000", "--vectors", "--no-check", "--repeat", "5", "--energy"})["energy"];
  CHECK(energy["gpu_j"] > 1);
  CHECK(energy["gflops_per_j"] > 0);
}

TEST_CASE("rotations have a separate rate") {
  const auto report = qr({"-n", "200", "--method", "givens"});
  CHECK(report["rates"]["rotations_gflops"] > 1.4 * report["gflops"].get<double>());
  CHECK(report["counts"]["rotations"] == 200 * 199 / 2);
  CHECK(!qr({"-n", "200"}).contains("rates"));
}
