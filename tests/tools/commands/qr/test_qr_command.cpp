#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include "tools/checks/qr_error.hpp"
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <nlohmann/json.hpp>

using namespace tesela::test;

namespace {

/// Returns the options of every way to factor on this machine.
std::vector<Words> ways() {
  std::vector<Words> all;
  for (const std::string& order : schedule_orders()) all.push_back({"--tree", order == "domain" ? "domain:3" : order});
  all.push_back({"--tree", "greedy", "--kernels", "tt"});
  all.push_back({"--tree", "binary", "--no-copy-vectors", "--ib", "7"});
  for (const char* method : {"givens", "givens-stages", "givens-chain", "lapack"}) all.push_back({"--method", method});
  all.push_back({"--method", "givens-stages", "--order", "greedy"});
  if (count_cuda_devices() > 0) all.push_back({"--method", "cusolver"});
  return all;
}

/// Runs `tesela qr`, requires both errors to be within bounds, and returns the report.
nlohmann::json require_small_errors(const Words& options, const std::string& precision = "d") {
  auto report = Command{{"qr", "--precision", precision}}(options);
  CAPTURE(options, precision, report.dump());
  const auto m = report["problem"]["m"].get<index_t>(), n = report["problem"]["n"].get<index_t>();
  const QrBounds most = precision == "d" ? qr_bounds<double>(m, n) : qr_bounds<float>(m, n);
  CHECK(report["status"] == "ok");
  CHECK(report["checks"]["backward_error"] <= most.backward);
  CHECK(report["checks"]["orthogonality"] <= most.orthogonality);
  return report;
}

const Words sizes{"--m", "1000", "--n", "517", "--tile", "96x64"};

}  // namespace

TEST_CASE("every tree and method factors within the bounds in both precisions") {
  for (const Words& way : ways()) {
    const bool library = way[1] == "lapack" || way[1] == "cusolver";
    const Words problem = library ? Words{"--m", "1000", "--n", "517"} : sizes;
    const auto report = require_small_errors(problem + way);
    CHECK(report["checks"]["backward_error"] > 0);
    CHECK(report["checks"]["orthogonality"] > 0);
    CHECK(!report["checks"].contains("sampled_vectors"));
    if (way[1].starts_with("givens")) CHECK(report["counts"]["rotations"] == 1000 * 517 - 517 * 518 / 2);
    require_small_errors(problem + way, "s");
  }
}

TEST_CASE("every kind of matrix is factored within the bounds") {
  const auto [way, precision] = GENERATE(table<Words, std::string>({{{"--tile", "96x64", "--tree", "diagonal"}, "d"},
                                                                    {{"--tile", "96x64", "--tree", "greedy"}, "s"},
                                                                    {{"--method", "givens-stages"}, "d"},
                                                                    {{"--method", "givens-chain"}, "s"}}));
  for (const char* random : {"normal", "graded", "band:3", "kappa:1e15", "rank:100", "zero"})
    require_small_errors(Words{"--m", "500", "--n", "317", "--random", random} + way, precision);
}

TEST_CASE("every shape is factored within the bounds") {
  const Words way =
      GENERATE(Words{"--tree", "diagonal", "--tile", "1000x900"}, Words{"--tree", "fibonacci", "--tile", "64x48"},
               Words{"--tree", "domain:2", "--kernels", "tt", "--tile", "17x30"}, Words{"--tree", "greedy"},
               Words{"--method", "lapack"});
  for (const auto& [m, n] : {std::pair{"200", "200"}, {"201", "200"}, {"300", "1"}, {"1", "300"}, {"120", "311"}})
    require_small_errors(Words{"--m", m, "--n", n} + way);
}

TEST_CASE("sizes of zero are accepted and end at once") {
  const auto [m, n] = GENERATE(
      table<std::string, std::string>({{"0", "5"}, {"5", "0"}, {"0", "0"}, {"0", "1000000000000"}, {"1000000", "0"}}));
  const Words way = GENERATE(Words{}, Words{"--method", "givens-stages"}, Words{"--method", "lapack"});
  const Outcome run = run_tesela(Words{"qr", "--m", m, "--n", n, "--json", "-"} + way, {.limit = 60});
  CAPTURE(m, n, way, run.err);
  REQUIRE(run.code == 0);
  CHECK(nlohmann::json::parse(run.out)["checks"]["backward_error"] == 0);
  CHECK(nlohmann::json::parse(run.out)["checks"]["orthogonality"] == 0);
}

namespace {

/// Returns the largest entry of |X Y - Z|, or of |X^T Y - Z|; an empty Z is the identity.
double largest_difference(const HostMatrix<double>& x, Op op, const HostMatrix<double>& y,
                          const HostMatrix<double>* z) {
  double largest = 0;
  const index_t rows = op == Op::none ? x.rows() : x.cols(), inner = y.rows();
  for (index_t j = 0; j < y.cols(); ++j)
    for (index_t i = 0; i < rows; ++i) {
      long double sum = 0;
      for (index_t l = 0; l < inner; ++l) sum += static_cast<long double>(op == Op::none ? x(i, l) : x(l, i)) * y(l, j);
      const double expected = z != nullptr ? (*z)(i, j) : i == j ? 1 : 0;
      const double difference = std::abs(static_cast<double>(sum) - expected);
      if (!(difference <= largest)) largest = difference;
    }
  return largest;
}

}  // namespace

TEST_CASE("zeros below the last nonzero of each column are found in the data") {
  const TemporaryFolder folder;
  auto a = HostMatrix<double>::zeros(120, 120);
  for (index_t j = 0; j < 120; ++j)
    for (index_t i = std::max<index_t>(j - 1, 0); i < std::min<index_t>(j + 2, 120); ++i)
      a(i, j) = i == j ? 4 : 1.0 / static_cast<double>(i + 2 * j + 1);
  write_matrix(folder / "a.npy", a);
  for (const char* order : {"diagonal", "greedy", "sameh-kuck"}) {
    CAPTURE(order);
    const auto report = require_small_errors({"--a", folder / "a.npy", "--method", "givens-stages", "--order", order});
    CHECK(report["counts"]["rotations"] == 119);
  }
  const auto tiles = require_small_errors({"--a", folder / "a.npy", "--tile", "16x16", "--ncpu", "1", "--ncuda", "0"});
  CHECK(tiles["workers"][0]["tasks"]["tpqrt"] == 7);
}

TEST_CASE("files of Q and R: Q R = A, Q is orthogonal, and R is triangular and equals LAPACK's up to signs") {
  const TemporaryFolder folder;
  const Words way = GENERATE(Words{"--tile", "16x12", "--tree", "greedy"}, Words{"--tile", "16x12", "--repeat", "3"},
                             Words{"--tile", "16x12", "--method", "givens-stages", "--repeat", "2"},
                             Words{"--method", "lapack", "--repeat", "2"});
  const auto [m, n, full] =
      GENERATE(table<index_t, index_t, bool>({{70, 50, false}, {50, 70, true}, {61, 61, false}, {40, 1, true}}));
  const std::string input = folder / (full ? "a.npy" : "a.mtx");
  CAPTURE(m, n, way, full);
  REQUIRE(run_tesela({"generate", "--m", std::to_string(m), "--n", std::to_string(n), "--out", input}).code == 0);
  Words command{"qr", "--a", input, "--out-q", folder / "q.npy", "--out-r", folder / "r.mtx"};
  if (full) command.push_back("--full-q");
  const Outcome run = run_tesela(command + way);
  CAPTURE(run.err);
  REQUIRE(run.code == 0);
  const auto a = read_matrix<double>(input), q = read_matrix<double>(folder / "q.npy"),
             r = read_matrix<double>(folder / "r.mtx");
  const index_t k = std::min(m, n);
  REQUIRE(q.shape() == Shape{m, full ? m : k});
  REQUIRE(r.shape() == Shape{full ? m : k, n});
  CHECK(largest_difference(q, Op::none, r, &a) <= 1e-13);
  CHECK(largest_difference(q, Op::transpose, q, nullptr) <= 1e-13);
  auto reference = a.clone();
  std::vector<double> tau(static_cast<std::size_t>(k));
  lapack::geqrf(m, n, reference.data(), reference.ld(), tau.data());
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < r.rows(); ++i) {
      if (i > j)
        REQUIRE(r(i, j) == 0);
      else
        REQUIRE(std::abs(std::abs(r(i, j)) - std::abs(reference(i, j))) <= 1e-11);
    }
}

TEST_CASE("chains on a band use only as many rotations as it has entries to annihilate") {
  const auto [half_width, rotations] = GENERATE(table<std::string, int>({{"1", 199}, {"2", 397}, {"3", 594}}));
  const auto report =
      require_small_errors({"--n", "200", "--random", "band:" + half_width, "--method", "givens-chain"});
  CHECK(report["counts"]["rotations"] == rotations);  // n - 1, 2 n - 3, 3 n - 6
}

TEST_CASE("a problem too large to form Q is checked on random vectors") {
  const auto report = require_small_errors({"--n", "2600", "--tile", "260"}, GENERATE("d", "s"));
  CHECK(report["checks"]["sampled_vectors"] == 32);
  CHECK(report["checks"]["backward_error"] > 0);
  CHECK(report["checks"]["orthogonality"] > 0);
}

TEST_CASE("entries near the ends of the range are factored or reported as not finite") {
  const TemporaryFolder folder;
  const auto [scale, code] = GENERATE(table<double, int>({{1e-290, 0}, {1e200, 0}, {1e300, 0}, {1e308, 1}}));
  const Words way =
      GENERATE(Words{"--tile", "16x12"}, Words{"--tile", "16x12", "--tree", "binary"}, Words{"--method", "lapack"});
  const index_t m = 400;
  auto a = HostMatrix<double>(m, 30);
  for (index_t j = 0; j < 30; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = scale * (i == j ? 1 : 1 - 0.5 / static_cast<double>(1 + i + j));
  write_matrix(folder / "a.npy", a);
  const Outcome run =
      run_tesela(Words{"qr", "--a", folder / "a.npy", "--out-r", folder / "r.npy", "--json", "-"} + way);
  CAPTURE(scale, way, run.out, run.err);
  CHECK(run.code == code);
  const auto report = nlohmann::json::parse(run.out);
  if (code == 0) {
    CHECK(report["checks"]["backward_error"] <= qr_bounds<double>(m, 30).backward);
    CHECK(report["checks"]["orthogonality"] <= qr_bounds<double>(m, 30).orthogonality);
  } else {
    CHECK(report["status"] == "not finite");
  }
  CHECK(std::filesystem::exists(folder / "r.npy") == (code == 0));
}

TEST_CASE("qr finds an R near the end of the range with every method") {
  const TemporaryFolder folder;
  const auto factor = [&](const Words& way, const std::string& a) {
    const Outcome run = run_tesela(Words{"qr", "--a", a, "--out-r", folder / "r.npy", "--positive-diagonal"} + way);
    CAPTURE(way, a, run.out, run.err);
    CHECK(run.code == 0);
    return read_matrix<std::complex<double>>(folder / "r.npy")(0, 0);
  };
  HostMatrix<double> column(2, 1);
  column(0, 0) = column(1, 0) = 1.2e308;
  HostMatrix<std::complex<double>> number(1, 1);
  number(0, 0) = {1.2e308, 1.2e308};
  write_matrix(folder / "column.npy", column);
  write_matrix(folder / "number.npy", number);
  for (const std::string method : {"tiles", "givens", "givens-stages", "mgs", "householder", "lapack"}) {
    const double of_column = factor({"--method", method}, folder / "column.npy").real() / 1.2e308;
    CHECK(std::abs(of_column - std::sqrt(2.0)) <= 1e-15);
  }
  for (const std::string method : {"tiles", "givens", "lapack"}) {
    const std::complex<double> r = factor({"--method", method, "-p", "z"}, folder / "number.npy") / 1.2e308;
    CHECK(std::abs(r - std::sqrt(2.0)) <= 1e-15);
  }
}

TEST_CASE("the JSON report of qr has its documented fields") {
  const Outcome run =
      run_tesela({"qr", "--m", "1000", "--n", "517", "--tile", "64", "--repeat", "3", "--json", "-", "--seed", "5"});
  REQUIRE(run.code == 0);
  const auto report = nlohmann::json::parse(run.out);
  for (const char* key : {"command", "version", "problem", "machine", "workers", "counts", "seconds", "gflops",
                          "bounds", "checks", "status"})
    CHECK(report.contains(key));
  CHECK(report["command"] == "qr");
  const auto& problem = report["problem"];
  CHECK((problem["m"] == 1000 && problem["n"] == 517 && problem["mb"] == 64 && problem["nb"] == 64));
  CHECK((problem["method"] == "tiles" && problem["seed"] == 5 && problem["input"] == "uniform"));
  CHECK(problem["ib"].get<int>() >= 1);
  int tasks = 0;
  for (const auto& [kernel, count] : report["counts"]["tasks"].items()) tasks += count.get<int>();
  CHECK(report["bounds"]["tasks"] == tasks);
  // 16 x 9 tiles: each tile below the 9 diagonal tiles is joined once.
  CHECK(report["counts"]["tasks"]["tpqrt"] == 9 * 16 - 45);
  CHECK(report["counts"]["tasks"]["geqrt"] == 9);
  // The rate uses the usual count of flops, without the additional work of tiles.
  const double flops = 2.0 * 1000 * 517 * 517 - 2.0 * 517 * 517 * 517 / 3;
  CHECK(std::abs(report["gflops"].get<double>() * report["seconds"]["compute"].get<double>() / (flops * 1e-9) - 1) <=
        1e-9);
}

TEST_CASE("wrong use of qr gives exit code 2 and a message") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mtx") << "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
  std::ofstream(folder / "nan.mtx") << "%%MatrixMarket matrix array real general\n1 1\nnan\n";
  const std::pair<Words, std::string> cases[] = {
      {{"--n", "-3"}, "--n"},
      {{"--a", folder / "missing.mtx"}, "missing.mtx"},
      {{"--a", folder / "nan.mtx"}, "nan.mtx"},
      {{"--a", folder / "a.mtx", "--n", "2"}, "--n"},
      {{"--a", folder / "a.mtx", "--random", "normal"}, "--random"},
      {{"--tree", "willow"}, "willow"},
      {{"--tree", "domain:0"}, "domain:0"},
      {{"--method", "cholesky"}, "cholesky"},
      {{"--method", "lapack", "--tree", "greedy"}, "--tree"},
      {{"--method", "givens-stages", "--order", "willow"}, "willow"},
      {{"--method", "givens", "--order", "column"}, "--order"},
      {{"--method", "lapack", "--ib", "8"}, "--ib"},
      {{"--method", "lapack", "--no-copy-vectors"}, "--no-copy-vectors"},
      {{"--method", "lapack", "--trace", folder / "trace"}, "--trace"},
      {{"--order", "column"}, "--order"},
      {{"--kernels", "ts"}, "--kernels"},
      {{"--tile", "8x"}, "--tile"},
      {{"--tile", "8x8x8"}, "--tile"},
      {{"--tile", "0"}, "--tile"},
      {{"--ib", "0"}, "--ib"},
      {{"--random", "kappa:0"}, "kappa:0"},
      {{"--out-r", folder / "none/r.npy"}, "none"},
      {{"--out-q", folder / "q.xyz"}, "q.xyz"},
  };
  for (const auto& [options, message] : cases) {
    const Outcome run = run_with_problem({"qr"}, options);
    CAPTURE(options, run.err);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
    CHECK(folder.files() == 2);
  }
}

TEST_CASE("a limit of the machine gives exit code 3 in qr") {
  const Outcome memory = run_tesela({"qr", "--n", "3000000"});
  CHECK(memory.code == 3);
  CHECK_THAT(memory.err, ContainsSubstring("GiB"));
  const Outcome device =
      run_tesela({"qr", "--n", "10", "--method", "cusolver"}, {.environment = {{"CUDA_VISIBLE_DEVICES", ""}}});
  CHECK(device.code == 3);
  CHECK_THAT(device.err, ContainsSubstring("CUDA"));
}

TEST_CASE("Ctrl-C stops a long qr within a second with exit code 130 and no output") {
  const TemporaryFolder folder;
  const Outcome run =
      run_tesela({"qr", "--n", "4000", "--repeat", "1000", "--out-r", folder / "r.npy"}, {.interrupt_after = 1.0});
  CHECK(run.code == 130);
  CHECK(run.seconds < 1.5);
  CHECK(folder.files() == 0);
}

TEST_CASE("tiles on the GPU alone and together with cores are within the bounds", "[gpu]") {
  require_gpu();
  const Words workers = GENERATE(Words{"--ncpu", "0"}, Words{});
  for (const char* tree : {"diagonal", "greedy", "domain:2"})
    for (const char* tile : {"256x128", "1000x64"})
      for (const char* precision : {"d", "s"})
        require_small_errors(Words{"--m", "1000", "--n", "517", "--tree", tree, "--tile", tile} + workers, precision);
  for (const char* random : {"graded", "kappa:1e15", "rank:100", "zero"})
    require_small_errors(Words{"--m", "700", "--n", "317", "--random", random} + workers);
}

TEST_CASE("qr reports the lost digits of a subnormal matrix") {
  TemporaryFolder folder;
  HostMatrix<double> a(20, 20);
  for (index_t j = 0; j < 20; ++j)
    for (index_t i = 0; i < 20; ++i) a(i, j) = std::ldexp(std::sin(static_cast<double>(1 + i * i + 7 * j * j)), -1056);
  write_matrix(folder / "a.npy", a);
  const auto report = Command{{"qr"}}({"--a", folder / "a.npy"});
  CAPTURE(report.dump());
  CHECK(report["status"] == "ok");
  CHECK(report["checks"]["backward_error"] > 1e-8);
  CHECK(report["checks"]["backward_error"] < report["limits"]["backward_error"]);
  CHECK(report["limits"]["backward_error"] < 1e-5);
}
