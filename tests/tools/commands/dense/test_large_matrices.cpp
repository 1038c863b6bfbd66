// Matrices larger than the GPU's memory.

#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"
#include <tesela/tiles/io/file_formats.hpp>

using namespace tesela::test;

namespace {

struct Case {
  Words words;
  std::string out;             ///< option that writes the compared matrix
  std::vector<int> megabytes;  ///< MiB of the GPU for tiles
};

/// Runs the case with this number of MiB for tiles (0: all) and returns its matrix. The command checks its errors.
HostMatrix<double> result(const Case& c, int megabytes) {
  const TemporaryFolder folder;
  ProcessOptions process;
  if (megabytes > 0) process.environment["STARPU_LIMIT_CUDA_MEM"] = std::to_string(megabytes);
  const auto report =
      Command{c.words}({"--seed", "3", "--ncpu", "0", "--ncuda", "1", c.out, folder / "result.npy"}, 0, process);
  CHECK(report["status"] == "ok");
  return read_matrix<double>(folder / "result.npy");
}

}  // namespace

TEST_CASE("factors of matrices larger than the GPU's memory agree with the factors on a larger GPU", "[gpu]") {
  require_gpu();
  const std::vector<int> of_71{86, 36, 8};  // 1.2, 0.5 and 0.1 of a matrix of 71 MiB
  const Case c =
      GENERATE_COPY(Case{{"lu", "--n", "3060", "--random", "kappa:1e3", "--rhs", "2"}, "--out", of_71},
                    Case{{"cholesky", "--n", "3060", "--rhs", "2"}, "--out", of_71},
                    Case{{"qr", "--n", "3060"}, "--out-r", of_71}, Case{{"qr", "--n", "2040"}, "--out-q", {16}},
                    Case{{"ols", "--m", "4590", "--n", "2040", "--method", "tiles"}, "--out", of_71});
  const HostMatrix<double> known = result(c, 0);
  double largest = 0;
  for (index_t e = 0; e < known.size(); ++e) largest = std::max(largest, std::abs(known.data()[e]));
  for (const int megabytes : c.megabytes) {
    const HostMatrix<double> found = result(c, megabytes);
    REQUIRE(found.shape() == known.shape());
    double apart = 0;
    for (index_t e = 0; e < known.size(); ++e) apart = std::max(apart, std::abs(found.data()[e] - known.data()[e]));
    CAPTURE(c.words, c.out, megabytes);
    CHECK(apart <= 1e-9 * largest);
  }
}

TEST_CASE("products by residues obey the limit of device memory", "[gpu]") {
  require_gpu();
  ProcessOptions options;
  options.environment["STARPU_LIMIT_CUDA_MEM"] = "500";
  const std::string kernel = GENERATE("int8", "automatic");
  options.environment["TESELA_GEMM"] = kernel;
  for (const std::string command : {"gemm", "qr", "lu", "cholesky"}) {
    const Outcome run = run_tesela({command, "--n", "3000", "--ncpu", "0", "--json", "-"}, options);
    CAPTURE(command, kernel, run.out, run.err);
    CHECK(run.code == 0);
  }
}
