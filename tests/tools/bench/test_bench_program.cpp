// `tesela bench …` is a separate program; users see that only if it was not built.

#include "tests/support/commands/process.hpp"

using namespace tesela::test;

namespace {

Outcome run_tesela_bench(Words words) {
  words.insert(words.begin(), tesela::test::tesela() + "-bench");
  return run(words);
}

}  // namespace

TEST_CASE("tesela bench runs the benchmark program") {
  for (const Words& words :
       {Words{"--help"}, {"gemm", "--help"}, {"help", "gemm"}, {"--help", "gemm"}, {"--version"}}) {
    CAPTURE(words);
    const Outcome own = run_tesela_bench(words);
    CHECK(own.code == 0);
    Words spelled = words;
    spelled.insert(spelled.begin() + (words[0] == "gemm" || words.size() == 1 ? 0 : 1), "bench");
    if (words[0] == "--version") spelled = {"--version", "bench"};
    const Outcome run = run_tesela(spelled);
    CHECK(run.code == 0);
    CHECK(run.out == own.out);
    CHECK(run.err == own.err);
  }
  CHECK_THAT(run_tesela({"bench", "--help"}).out,
             ContainsSubstring("memory-access") && ContainsSubstring("tridiag-study"));
  CHECK_THAT(run_tesela({"--help"}).out, ContainsSubstring("  bench "));
  const Outcome none = run_tesela({"bench"});
  CHECK(none.code == 2);
  CHECK_THAT(none.err, ContainsSubstring("a command is missing"));
}

TEST_CASE("a signal ends tesela bench like every command") {
  const TemporaryFolder folder;
  ProcessOptions options;
  options.interrupt_after = 1;
  options.signal = SIGTERM;
  const Outcome outcome = run_tesela(
      {"bench", "overhead", "--tasks", "100000", "--repeat", "1000", "--ncuda", "0", "--out", folder.path()}, options);
  CAPTURE(outcome.err);
  CHECK(outcome.code == 128 + SIGTERM);
  CHECK(outcome.seconds < patience * 2);
  CHECK(folder.files() == 0);
}

TEST_CASE("without the benchmark program a message says how to build it") {
  const TemporaryFolder folder;
  const std::filesystem::path built = tesela::test::tesela();
  std::filesystem::create_directory(folder / "bin");
  std::filesystem::copy_file(built, folder / "bin/tesela");
  // The libraries of a bundle.
  std::filesystem::create_symlink(built.parent_path().parent_path() / "lib", folder / "lib");
  for (const Words& words : {Words{"bench"}, {"bench", "gemm", "-n", "5"}, {"bench", "--help"}, {"help", "bench"}}) {
    CAPTURE(words);
    const Outcome alone = run(Words{folder / "bin/tesela"} + words);
    CHECK(alone.code == 3);
    CHECK(alone.out.empty());
    CHECK(alone.err == "tesela: bench: cannot run " + folder / "bin/tesela-bench" +
                           ": No such file or directory; cmake --build build --target tesela_bench builds it\n");
  }
  CHECK(run({folder / "bin/tesela", "--version"}).code == 0);
}
