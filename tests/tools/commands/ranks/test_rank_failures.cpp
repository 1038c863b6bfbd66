#include "tests/support/ranks.hpp"

#include <fstream>

// A failure on one rank ends all ranks soon, with a message that names the rank, and leaves no files.

using namespace tesela::test;

namespace {

/// Runs four ranks in the folder `place`; the last rank first executes the shell commands `trouble`.
Outcome run_with_failing_rank(const TemporaryFolder& folder, const std::string& trouble, const Words& words,
                              const std::string& place = ".") {
  const std::string script = folder / "rank.sh";
  std::ofstream(script) << "#!/bin/sh\ncd " << place << "\n[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 3 ] && {\n"
                        << trouble << "\n}\nexec \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return run_on_ranks(4, Words{script, tesela::test::tesela()} + words);
}

}  // namespace

TEST_CASE("a full disk on one rank gives one message with the rank and leaves no file") {
  require_ranks();
  // StarPU measures the links of a machine with GPUs at its first start, which takes longer than any failure.
  static_cast<void>(run_on_ranks(4, {tesela::test::tesela(), "gemm", "--n", "64"}));
  const TemporaryFolder folder, files;
  // A limit on file sizes for one rank, exceeded by its last columns but not by the memory that ranks share.
  const Outcome all = run_with_failing_rank(
      folder, "trap '' XFSZ; ulimit -f 32768",
      {"gemm", "--m", "2000", "--n", "2000", "--k", "8", "--tile", "128", "--out", files / "x.npy"});
  INFO(all.err);
  CHECK(all.code == 3);
  CHECK_THAT(all.err, ContainsSubstring("rank 3") && ContainsSubstring("x.npy"));
  CHECK(all.seconds < 10 * patience);
  CHECK(files.files() == 0);
  CHECK(processes_with(files.path()) == 0);
}

TEST_CASE("a benchmark refuses several processes") {
  require_ranks();
  const TemporaryFolder folder;
  const Outcome all =
      run_on_ranks(2, {tesela::test::tesela(), "bench", "gemm", "-n", "50", "--repeat", "1", "--out", folder.path()});
  CHECK(all.code == 2);
  CHECK_THAT(all.err, ContainsSubstring("mpirun") && ContainsSubstring("--repeat"));
}

TEST_CASE("a rank that cannot read the file names itself in the error") {
  require_ranks();
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"generate", "--m", "60", "--n", "20", "--random", "uniform", "--out", folder / "a.npy"}).code ==
          0);
  const Outcome all = run_with_failing_rank(folder, "cd /tmp", {"qr", "--a", "a.npy", "--tile", "5"}, folder.path());
  INFO(all.err);
  CHECK(all.code == 2);
  CHECK_THAT(all.err, ContainsSubstring("a.npy: cannot read") && ContainsSubstring("(rank 3)"));
}

TEST_CASE("a rank without memory or workers ends all ranks and is named") {
  require_ranks();
  const TemporaryFolder folder, files;
  const Words problem{"qr", "--n", "1500", "--tile", "128", "--grid", "2x2", "--out-r", files / "r.npy"};
  for (const char* trouble : {"export STARPU_NCPU=0 STARPU_NCUDA=0", "export STARPU_LIMIT_CPU_MEM=1"}) {
    const Outcome all = run_with_failing_rank(folder, trouble, problem);
    INFO(trouble << all.err);
    CHECK(all.code == 3);
    CHECK_THAT(all.err, ContainsSubstring("rank 3"));
    CHECK(all.seconds < 10 * patience);
    CHECK(files.files() == 0);
    CHECK(processes_with(files.path()) == 0);
  }
}

TEST_CASE("a killed rank, an interrupt and a full disk end all ranks and leave no files") {
  require_ranks();
  const TemporaryFolder folder, files;
  const std::string script = folder / "rank.sh";
  std::ofstream(script)
      << "#!/bin/sh\n[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = 1 ] && (sleep 1; kill -9 $$) &\nexec \"$@\"\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Words endless{tesela::test::tesela(), "qr", "--n", "600", "--tile", "64", "--repeat", "100000", "--out-r",
                      files / "r.npy"};
  const Outcome killed = run_on_ranks(3, Words{script} + endless);
  CHECK(killed.code != 0);
  CHECK(killed.seconds < 10 * patience);
  const Outcome interrupted = run_on_ranks(3, endless, {.interrupt_after = 2 * patience});
  CHECK(interrupted.code != 0);
  CHECK(interrupted.seconds < 12 * patience);
  CHECK(files.files() == 0);
  CHECK(processes_with(files.path()) == 0);
  const Outcome full = run_on_ranks(3, {tesela::test::tesela(), "qr", "--n", "60", "--out-r", "/dev/full"});
  CHECK(full.code == 3);
  CHECK_THAT(full.err, ContainsSubstring("/dev/full"));
  CHECK(full.seconds < 10 * patience);
}
