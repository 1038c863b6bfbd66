#include "tests/support/command.hpp"
#include <tesela/tiles/io/arrays.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <complex>
#include <fstream>
#include <limits>

using namespace tesela;
using namespace tesela::test;
using Number = std::complex<double>;

namespace {

const Command detect{{"mimo", "detect"}};

void exact(const Words& options) {
  const auto report = detect(options);
  CAPTURE(options);
  CHECK(report["status"] == "ok");
  CHECK(check(report, "ml_mismatches") == 0);
  CHECK(check(report, "uncertified") == 0);
  CHECK(check(report, "metric_gap") <= report["limits"]["metric_gap"].get<double>());
}

/// 2 x 2 channels and signals of bpsk, one a channel: signal k is H s exactly.
struct Files {
  TemporaryFolder folder;
  std::string h = folder / "h.npy", y = folder / "y.npy", s = folder / "s.npy";
  std::vector<Number> channels, signals;
  std::vector<int> labels;
  explicit Files(int count = 5) {
    for (int k = 0; k < count; ++k) {
      const Number a{1.0 + k, 0.5}, b{0.25, -1.0}, c{-0.5, k * 0.5}, d{2.0, 1.0};
      for (const Number& x : {a, b, c, d}) channels.push_back(x);
      const int s0 = k % 2, s1 = k / 2 % 2;
      const Number p{std::sqrt(0.5) * (1 - 2 * s0), std::sqrt(0.5) * (1 - 2 * s0)},
          q{std::sqrt(0.5) * (1 - 2 * s1), std::sqrt(0.5) * (1 - 2 * s1)};
      labels.push_back(s0), labels.push_back(s1);
      signals.push_back(a * p + b * q), signals.push_back(c * p + d * q);
    }
    write(count);
  }
  void write(index_t count) {
    write_array(h, {count, 2, 2}, channels.data());
    write_array(y, {count, 2}, signals.data());
    write_array(s, {count, 2}, labels.data());
  }
  Words words(const Words& more = {}) const { return Words{"--h", h, "--y", y, "--constellation", "bpsk"} + more; }
};

}  // namespace

TEST_CASE("mimo detect is exact: shapes, noise, channels, precisions") {  // the library's tests have more of them
  for (const char* const p : {"s", "d"}) {
    exact({"--nt", "2", "--nr", "3", "--signals", "300", "--ebn0", "0", "-p", p});
    exact({"--nt", "3", "--nr", "2", "--signals", "50", "--channel", "rank:1", "-p", p, "--constellation", "qpsk"});
    exact({"--nt", "3", "--signals", "50", "--channel", "zero", "-p", p, "--constellation", "qpsk", "--order",
           "su-wassell"});
  }
  exact({"--nt", "8", "--signals", "30", "--ebn0", "16", "--constellation", "64qam"});  // by a second order
  exact({"--nt", "2", "--signals", "0"});
  exact({"--nt", "3", "--signals", "100", "--order", "gradient:babai", "--direction", "down", "--coherence", "0"});
}

TEST_CASE("mimo detect: files in and out") {
  const Files files;
  const std::string out = files.folder / "out.npy", points = files.folder / "points.npy";
  const auto report = detect(files.words({"--sent", files.s, "--out-s", out, "--out-points", points}));
  CHECK(check(report, "symbol_errors") == 0);
  CHECK(check(report, "bit_errors") == 0);
  CHECK(report["problem"]["coherence"] == 1);
  const Array<int> labels = read_whole_array(out);
  CHECK(labels.dims == std::vector<index_t>{5, 2});
  CHECK(labels.values == files.labels);
  const auto s = read_complex_array<double>(points);
  CHECK(s.dims == std::vector<index_t>{5, 2});
  CHECK(std::abs(s.values[2] - Number(-std::sqrt(0.5), -std::sqrt(0.5))) < 1e-15);
  // One channel for all of them, as two dimensions.
  const std::string one = files.folder / "one.npy";
  write_array(one, {2, 2}, files.channels.data());
  detect({"--h", one, "--y", files.y, "--constellation", "bpsk"});
  // The last block may be short: 5 signals in blocks of 2.
  const std::string blocks = files.folder / "blocks.npy";
  write_array(blocks, {3, 2, 2}, files.channels.data());
  CHECK(detect({"--h", blocks, "--y", files.y, "--constellation", "bpsk", "--coherence", "2"})["problem"]["channels"] ==
        3);
  const Files none(0);
  detect(none.words({"--out-s", out}));
  CHECK(read_whole_array(out).dims == std::vector<index_t>{0, 2});
}

TEST_CASE("mimo detect: N0 = 0 decides, and a bound on nodes is told") {
  CHECK(check(detect({"--nt", "3", "--signals", "50", "--n0", "0"}), "symbol_errors") == 0);
  const auto report =
      detect({"--nt", "4", "--signals", "100", "--ebn0", "0", "--order", "natural", "--max-nodes", "20"});
  CHECK(check(report, "uncertified") > 0);
  CHECK(check(report, "ml_mismatches") <= check(report, "uncertified"));
}

TEST_CASE("mimo detect: other detectors tell what they lose, and fail where they have no answer") {
  const auto zf = detect({"--nt", "4", "--signals", "500", "--method", "zf"}),
             kbest = detect({"--nt", "4", "--signals", "500", "--method", "kbest:16", "-p", "s"});
  CHECK(check(zf, "ml_mismatches") > check(kbest, "ml_mismatches"));
  CHECK(check(zf, "metric_gap") > 0);
  CHECK(detect({"--signals", "20", "--method", "zf", "--channel", "rank:1"}, 1)["status"] ==
        "dependent columns: 20 signals have no answer, the first is 1");
  detect({"--nt", "3", "--nr", "2", "--signals", "20", "--method", "mmse", "--constellation", "qpsk"});
  detect.refuses({"--nt", "3", "--nr", "2", "--method", "zf-sic"}, "need as many antennas");
  detect.refuses({"--method", "kbest:0"}, "keep");
  detect.refuses({"--method", "best"}, "--method");
}

TEST_CASE("mimo detect --soft: exact bits, and files of them") {
  const TemporaryFolder folder;
  const std::string out = folder / "llr.npy";
  for (const char* const kind : {"sts", "app"}) {
    const auto report = detect({"--nt", "2", "--signals", "60", "--ebn0", "6", "--soft", kind, "--out-llr", out});
    const double gap = check(report, "llr_gap");
    CHECK((std::string(kind).ends_with("ts") ? gap <= 1e-9 : gap > 1e-6));
    CHECK(read_complex_array<double>(out).dims == std::vector<index_t>{60, 8});
  }
  detect({"--nt", "2", "--signals", "20", "--soft", "sts", "--channel", "zero", "--llr-clip", "8"});
  detect.refuses({"--soft", "sts", "--n0", "0"}, "above 0");
  detect.refuses({"--soft", "hard"}, "--soft");
  detect.refuses({"--out-llr", out}, "--soft");
}

TEST_CASE("mimo detect: what is wrong use, with its place") {
  Files files;
  const auto refused = [&](const std::string& why, const Words& more = {}) { detect.refuses(files.words(more), why); };
  detect.refuses({"--constellation", "32qam"}, "32qam");
  detect.refuses({"--nt", "3", "--constellation", "qpsk,qpsk"}, "names 2, there are 3 streams");
  detect.refuses({"--n0", "-1"}, "--n0");
  detect.refuses({"--n0", "nan"}, "--n0");
  detect.refuses({"--channel", "rank:0"}, "--channel");
  detect.refuses({"--order", "sorted"}, "--order");
  detect.refuses({"--order", "sqrd:babai"}, "--order");
  detect.refuses({"--nt", "33"}, "1 to 32");
  detect.refuses({"--nr", "129"}, "1 to 128");
  detect.refuses({"--h", files.h}, "--y");
  refused("5 x 2 x 2: 5 channels for 5 signals of coherence 3", {"--coherence", "3"});
  for (const auto& [text, why] : {std::pair{"1 0 0\n0 1 0\n", "repeated"},
                                  {"1 0 0\n0 1 5\n", "out of range"},
                                  {"1 0 0\n0 1 1\n0 0 2\n", "not a power of two"}}) {
    const std::string points = files.folder / "points.txt";
    std::ofstream(points) << text;
    detect.refuses({"--constellation", points}, why);
  }
  files.labels[3] = 2;
  files.write(5);
  refused("label 2 at [1, 1] (from zero) is out of range", {"--sent", files.s});
  files.signals[7] = {0, std::numeric_limits<double>::quiet_NaN()};
  files.write(5);
  refused("the value at [3, 1] (from zero) is NaN");
  files.signals[7] = 0;
  files.channels[6] = {std::numeric_limits<double>::infinity(), 0};
  files.write(5);
  refused("the value at [1, 1, 0] (from zero)");
  write_array(files.y, {5, 1}, std::vector<Number>(5).data());
  detect.refuses({"--h", files.folder / "none.npy", "--y", files.y}, "none.npy");
  Files other;
  write_array(other.y, {5, 1}, std::vector<Number>(5).data());
  detect.refuses(other.words(), "5 x 1");
  write_array(other.y, {4, 2}, std::vector<Number>(8).data());
  detect.refuses(other.words(), "5 channels for 4 signals");
}

TEST_CASE("mimo detect --all-within and integers") {
  const TemporaryFolder folder;
  const std::string out = folder / "within.npy", points = folder / "points.npy";
  const auto report =
      detect({"--nt", "2", "--signals", "50", "--ebn0", "10", "--all-within", "0.8", "--out-within", out});
  const Array<int> rows = read_whole_array(out);
  CHECK(rows.dims[1] == 3);
  CHECK(static_cast<double>(rows.dims[0]) == check(report, "points"));
  CHECK(check(report, "count_mismatches") == 0);
  for (const char* const p : {"s", "d"}) {
    const auto lattice = detect({"--nt", "3", "--signals", "60", "--constellation", "integers", "--ebn0", "8", "-p", p,
                                 "--out-points", points});
    CHECK(check(lattice, "points") == 60);
    const auto s = read_complex_array<double>(points);
    CHECK(s.values[0].real() == std::round(s.values[0].real()));
  }
  detect({"--nt", "2", "--signals", "0", "--constellation", "integers"});
  CHECK(detect({"--nt", "2", "--signals", "9", "--constellation", "integers", "--channel", "rank:1"}, 1)["status"] ==
        "dependent columns, or numbers beyond 2^30: 9 signals have no answer");
  detect.refuses({"--nt", "2", "--constellation", "integers", "--method", "zf"}, "sd's alone");
  detect.refuses({"--nt", "2", "--out-within", out}, "--all-within");
}

TEST_CASE("mimo detect --noise-cov: white noise of any size decides as none was told") {
  const Files files;
  const std::string c = files.folder / "c.npy", out = files.folder / "out.npy";
  const Number white[] = {3, 0, 0, 3}, wrong[] = {1, 2, 2, 1};
  write_array(c, {2, 2}, white);
  const auto report = detect(files.words({"--noise-cov", c, "--out-s", out}));
  CHECK(report["problem"]["n0"] == 1);
  CHECK(read_whole_array(out).values == files.labels);
  write_array(c, {2, 2}, wrong);
  detect.refuses(files.words({"--noise-cov", c}), "not positive definite: row 1");
  write_array(c, {1, 4}, white);
  detect.refuses(files.words({"--noise-cov", c}), "is 1 x 4, not 2 x 2");
  detect.refuses(files.words({"--noise-cov", c, "--n0", "1"}), "--n0");
}
