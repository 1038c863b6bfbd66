#include "tests/support/commands/mimo_command.hpp"

#include <filesystem>
#include <fstream>

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

const Command detect{{"mimo", "detect"}};

}  // namespace

TEST_CASE("mimo detect --svg draws each visited node") {
  const TemporaryFolder folder;
  const std::string svg = folder / "tree.svg";
  const auto report = detect({"--nt", "3", "--signals", "9", "--svg", svg, "--svg-signal", "8", "--ebn0", "6"});
  const std::string text = contents(svg);
  std::size_t circles = 0;
  for (auto at = text.find("<circle"); at != std::string::npos; at = text.find("<circle", at + 1)) ++circles;
  CHECK(static_cast<double>(circles) == check(report, "svg_nodes") + 1);
  CHECK(text.starts_with("<svg"));
  CHECK(text.find(">Im s3</text>") != std::string::npos);
  const MimoTestFiles files;
  detect(files.words({"--buffer", "2", "--svg", svg, "--svg-signal", "3"}));
  detect.refuses({"--signals", "9", "--svg", svg, "--svg-signal", "9"}, "there are 9");
  detect.refuses({"--svg-signal", "1"}, "--svg");
  detect.refuses({"--method", "zf", "--svg", svg}, "that can be shown");
}

TEST_CASE("mimo detect reads a channel in Matrix Market format") {
  const MimoTestFiles files;
  const std::string h = files.folder / "h.mtx", one = files.folder / "one.npy", out = files.folder / "s.npy";
  std::ofstream(h) << "%%MatrixMarket matrix array complex general\n2 2\n1 0.5\n-0.5 0\n0.25 -1\n2 1\n";
  write_array(one, {2, 2}, files.channels.data());
  const Words rest{"--y", files.y, "--constellation", "bpsk", "--out-s", out};
  detect(Words{"--h", one} + rest);
  const auto before = read_whole_array(out).values;
  detect(Words{"--h", h} + rest);
  CHECK(read_whole_array(out).values == before);
  CHECK(std::equal(before.begin(), before.begin() + 2, files.labels.begin()));
}

TEST_CASE("mimo detect --buffer gives the result of one pass") {
  const MimoTestFiles files(23);
  const std::string out = files.folder / "s.npy", llr = files.folder / "llr.npy", prior = files.folder / "prior.npy",
                    blocks = files.folder / "blocks.npy";
  std::vector<float> known(46, 0.5F);
  write_array(prior, {23, 2}, known.data());
  write_array(blocks, {4, 2, 2}, files.channels.data());
  // One channel for each signal, and blocks of 7 signals that a buffer may split. Likelihoods need N0.
  for (const Words& input : {files.words({"--sent", files.s}),
                             Words{"--h", blocks, "--coherence", "7", "--y", files.y, "--constellation", "bpsk"}}) {
    const Words with =
        input + Words{"--out-s", out, "--out-llr", llr, "--soft", "sts", "--prior", prior, "--n0", "0.1"};
    const auto whole = detect(with);
    const auto labels = read_whole_array(out).values;
    const auto bits = read_complex_array<double>(llr).values;
    for (const char* const buffer : {"5", "7", "100"}) {
      const auto report = detect(with + Words{"--buffer", buffer});
      CAPTURE(buffer, input);
      CHECK(read_whole_array(out).values == labels);
      CHECK(read_complex_array<double>(llr).values == bits);
      for (const char* const name : {"ml_mismatches", "nodes_mean", "nodes_max", "nodes_median", "ties", "uncertified"})
        CHECK(report["checks"][name] == whole["checks"][name]);
      if (whole["checks"].contains("bit_errors"))
        CHECK(report["checks"]["bit_errors"] == whole["checks"]["bit_errors"]);
    }
  }
  detect.refuses({"--buffer", "4"}, "--h");
  // A signal without a result in a later block: no file is written.
  const std::string bad = files.folder / "bad.npy", none = files.folder / "none.npy";
  auto channels = files.channels;
  std::fill(channels.end() - 4, channels.end(), Number(1));
  write_array(bad, {23, 2, 2}, channels.data());
  const auto report = detect(
      {"--h", bad, "--y", files.y, "--constellation", "bpsk", "--method", "zf", "--buffer", "4", "--out-s", none}, 1);
  CHECK(report["status"] == "dependent columns: no answer for 1 signal, the first is 23");
  CHECK(!std::filesystem::exists(none));
}

TEST_CASE("the memory of mimo detect --buffer does not grow with the number of signals") {
  const TemporaryFolder folder;
  const std::string h = folder / "h.npy", y = folder / "y.npy", out = folder / "s.npy";
  const Number one = 1;
  write_array(h, {1, 1}, &one);
  constexpr index_t signals = 1500000;
  std::vector<std::complex<float>> sent(signals);
  for (std::size_t k = 0; k < signals; ++k) sent[k] = (k % 3 == 0 ? 0.7F : -0.7F) * std::complex<float>(1, 1);
  write_array(y, {signals, 1}, sent.data());
  const auto run_with = [&](const Words& more) {
    const Outcome run = run_tesela(Words{"mimo", "detect", "--h", h, "--y", y, "--constellation", "bpsk", "--out-s",
                                         out, "--no-check", "--ncpu", "1", "--ncuda", "0"} +
                                   more);
    CAPTURE(run.err);
    REQUIRE(run.code == 0);
    const auto labels = read_whole_array(out).values;
    for (std::size_t k = 0; k < signals; k += 1001) CHECK(labels[k] == (k % 3 == 0 ? 0 : 1));
    return run.peak_bytes;
  };
  // y in double, labels and reports take 60 bytes for each signal; the rest differs by a few MB.
  const double whole = run_with({}), some = run_with({"--buffer", "50000"});
  CAPTURE(whole, some);
  CHECK(whole - some > 30.0 * signals);
}
