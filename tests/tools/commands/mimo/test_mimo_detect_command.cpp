#include "tests/support/commands/mimo_command.hpp"
#include "tests/support/test.hpp"

#include <complex>
#include <fstream>

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

}  // namespace

TEST_CASE("mimo detect is exact for shapes, noise, channels and precisions") {  // the tests of the library cover more
  for (const char* const p : {"s", "d"}) {
    exact({"--nt", "2", "--nr", "3", "--signals", "300", "--ebn0", "0", "-p", p});
    exact({"--nt", "3", "--nr", "2", "--signals", "50", "--channel", "rank:1", "-p", p, "--constellation", "qpsk"});
    exact({"--nt", "3", "--signals", "50", "--channel", "zero", "-p", p, "--constellation", "qpsk", "--order",
           "su-wassell"});
  }
  exact({"--nt", "8", "--signals", "30", "--ebn0", "16", "--constellation", "64qam"});  // checked with a second order
  exact({"--nt", "2", "--signals", "0"});
  for (const char* const method : {"sd", "sd-plain"})  // brute force, the reference, has no real form
    exact({"--nt", "2", "--signals", "20", "--constellation", "16qam", "--form", "real", "--method", method});
  for (const int exponent : {-30, -40, -60, -300}) {  // all candidates have nearly the same distance
    MimoTestFiles small;
    for (auto& x : small.signals) x = {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
    small.write(5);
    exact({"--h", small.h, "--y", small.y, "--constellation", "16qam"});
  }
  exact({"--nt", "3", "--signals", "100", "--order", "gradient", "--direction", "down", "--coherence", "0"});
}

TEST_CASE("mimo detect reports how many signals needed how many nodes") {
  const auto report = detect({"--nt", "3", "--signals", "200", "--ebn0", "5"});
  index_t signals = 0;
  double least = 0, most = 0;
  for (const auto& bin : report["nodes_histogram"]) {
    const double from = bin["least"].get<double>(), count = bin["signals"].get<double>();
    signals += bin["signals"].get<index_t>(), least += count * from, most += count * (2 * from - 1);
    CHECK(std::log2(from) == std::round(std::log2(from)));
  }
  CHECK(signals == 200);
  const double sum = 200 * check(report, "nodes_mean");
  CHECK((least <= sum && sum <= most));
}

TEST_CASE("mimo detect reads and writes files") {
  const MimoTestFiles files;
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
  // One channel for all signals, as a two-dimensional array.
  const std::string one = files.folder / "one.npy";
  write_array(one, {2, 2}, files.channels.data());
  detect({"--h", one, "--y", files.y, "--constellation", "bpsk"});
  // The last block may be short: 5 signals in blocks of 2.
  const std::string blocks = files.folder / "blocks.npy";
  write_array(blocks, {3, 2, 2}, files.channels.data());
  CHECK(detect({"--h", blocks, "--y", files.y, "--constellation", "bpsk", "--coherence", "2"})["problem"]["channels"] ==
        3);
  const MimoTestFiles none(0);
  detect(none.words({"--out-s", out}));
  CHECK(read_whole_array(out).dims == std::vector<index_t>{0, 2});
}

TEST_CASE("mimo detect works with N0 = 0 and reports a limit on nodes") {
  CHECK(check(detect({"--nt", "3", "--signals", "50", "--n0", "0"}), "symbol_errors") == 0);
  const auto report =
      detect({"--nt", "4", "--signals", "100", "--ebn0", "0", "--order", "natural", "--max-nodes", "20"});
  CHECK(check(report, "uncertified") > 0);
  CHECK(check(report, "ml_mismatches") <= check(report, "uncertified"));
}

TEST_CASE("mimo detect reports the loss of inexact detectors, which fail without full rank") {
  const auto zf = detect({"--nt", "4", "--signals", "500", "--method", "zf"}),
             kbest = detect({"--nt", "4", "--signals", "500", "--method", "kbest:16", "-p", "s"});
  CHECK(check(zf, "ml_mismatches") > check(kbest, "ml_mismatches"));
  CHECK(check(zf, "metric_gap") > 0);
  CHECK(detect({"--signals", "20", "--method", "zf", "--channel", "rank:1"}, 1)["status"] ==
        "dependent columns: no answer for 20 signals, the first is 1");
  detect({"--nt", "3", "--nr", "2", "--signals", "20", "--method", "mmse", "--constellation", "qpsk"});
  detect.refuses({"--nt", "3", "--nr", "2", "--method", "zf"}, "needs as many antennas");
  detect.refuses({"--method", "kbest:0"}, "keep");
  detect.refuses({"--method", "best"}, "--method");
}

TEST_CASE("mimo detect --soft computes exact bits and writes them to files") {
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

TEST_CASE("mimo detect --soft supports priors, lists and bytes") {
  const TemporaryFolder folder;
  const std::string out = folder / "llr.npy", prior = folder / "prior.npy", bytes = folder / "bytes.npy";
  const Words problem{"--nt", "2", "--signals", "40", "--ebn0", "6", "--constellation", "qpsk"};
  std::vector<double> known(40 * 4);
  for (std::size_t k = 0; k < known.size(); ++k) known[k] = static_cast<double>(k % 7) - 3;
  write_array(prior, {40, 4}, known.data());
  const auto llrs = [&](const Words& more) {
    detect(problem + Words{"--out-llr", out} + more);
    return read_complex_array<double>(out).values;
  };
  const auto without = llrs({"--soft", "sts"}), with = llrs({"--soft", "sts", "--prior", prior});
  CHECK(without != with);
  for (const char* const kind : {"sts", "list:16", "kbest:16", "nway"}) {
    const auto report = detect(problem + Words{"--soft", kind, "--prior", prior});
    CHECK(check(report, "llr_gap") <= 1e-9);
    CHECK(report["limits"].contains("llr_gap"));
    CHECK(report["problem"]["prior"] == prior);
  }
  const auto lossy = detect({"--nt", "4", "--signals", "20", "--soft", "kbest:8", "--llr-clip", "30", "--ebn0", "0"});
  CHECK((check(lossy, "llr_gap") > 1e-3 && !lossy["limits"].contains("llr_gap")));
  const auto report = detect(problem + Words{"--soft", "sts", "--out-llr", bytes, "--llr-type", "int8:4"});
  const std::string text = contents(bytes);
  const char* const values = text.data() + text.size() - 160;
  int saturated = 0;
  for (std::size_t k = 0; k < 160; ++k) {
    const double wanted = std::nearbyint(4 * without[k].real());
    CHECK(values[k] == std::fmin(127, std::fmax(-127, wanted)));
    saturated += std::abs(wanted) > 127 ? 1 : 0;
  }
  CHECK(check(report, "llr_saturated") == saturated);
  CHECK(saturated > 0);
  // The reference, an enumeration of all candidates, has no real form.
  CHECK(check(detect(problem + Words{"--soft", "sts", "--form", "real"}), "llr_gap") <= 1e-9);
  detect.refuses(problem + Words{"--soft", "mmse", "--prior", prior}, "mmse accepts none");
  detect.refuses(problem + Words{"--prior", prior}, "are of --soft");
  detect.refuses({"--nt", "2", "--signals", "40", "--soft", "sts", "--prior", prior}, "is 40 x 4, not 40 x 8");
  detect.refuses(problem + Words{"--soft", "kbest:4"}, "need one");
  for (const char* const type :
       {"int8", "int8:0", "int8:x", "int16:1", "int8: 8", "int8:0x10", "int8:1e999", "int8:nan"})
    detect.refuses(problem + Words{"--soft", "sts", "--llr-type", type}, "neither float nor int8:SCALE");
}

TEST_CASE("mimo detect supports hard and soft ep in both forms") {
  const Words problem{"--nt", "2", "--nr", "3", "--signals", "60", "--ebn0", "6", "--method", "ep", "--soft", "ep"};
  const auto real = detect(problem), complex = detect(problem + Words{"--form", "complex"});
  for (const auto& report : {real, complex}) {
    CHECK(report["status"] == "ok");
    CHECK(check(report, "metric_gap") >= 0);
    CHECK((check(report, "llr_gap") > 0 && !report["limits"].contains("llr_gap")));  // a loss, not an error
  }
  CHECK(check(real, "llr_gap") != check(complex, "llr_gap"));
  detect.refuses({"--nt", "2", "--signals", "5", "--constellation", "8psk", "--method", "ep", "--form", "real"},
                 "real form is for square QAM");
}

TEST_CASE("mimo detect reports a signal without likelihoods and writes no file") {
  const TemporaryFolder folder;
  const std::string out = folder / "llr.npy";
  const auto report = detect(
      {"--nt", "2", "--signals", "9", "--channel", "rank:1", "--n0", "1e-40", "--soft", "mmse", "--out-llr", out}, 1);
  CHECK(check(report, "soft_failed") == 9);
  CHECK(report["status"].get<std::string>().find("no likelihoods for 9 signals") == 0);
  CHECK(!std::ifstream(out));
}

TEST_CASE("mimo detect refuses wrong use and names the place") {
  MimoTestFiles files;
  const auto refused = [&](const std::string& why, const Words& more = {}) { detect.refuses(files.words(more), why); };
  detect.refuses({"--constellation", "32qam"}, "32qam");
  detect.refuses({"--nt", "3", "--constellation", "qpsk,qpsk"}, "names 2, there are 3 streams");
  detect.refuses({"--n0", "-1"}, "--n0");
  detect.refuses({"--n0", "nan"}, "--n0");
  detect.refuses({"--n0", ""}, "--n0: an empty number");
  detect.refuses({"--ebn0", ""}, "--ebn0: an empty number");
  detect.refuses({"--soft", ""}, "--soft: an empty word");
  detect.refuses({"--ebn0", "5000", "--soft", "sts"}, "--ebn0: 5000; -1000 to 1000");
  detect.refuses({"--constellation", "qpsk,,qpsk"}, "'' is none of bpsk");
  detect.refuses({"--constellation", "qpsk,"}, "'' is none of bpsk");
  detect.refuses({"--constellation", "/"}, "Is a directory");
  detect.refuses({"--channel", "rank:0"}, "--channel");
  detect.refuses({"--order", "sorted"}, "--order");
  detect.refuses({"--order", "sqrd:babai"}, "--order");
  for (const char* const order : {"best", "gradient:zero"})
    detect.refuses({"--order", order}, "natural, norm, sqrd, vblast, mmse-sqrd, mmse-vblast, gradient, su-wassell");
  for (const char* const order : {"gradient", "su-wassell"}) {
    detect.refuses({"--order", order, "--soft", "sts"}, "likelihoods (--soft) accept natural, norm");
    detect.refuses({"--order", order, "--method", "kbest:4"}, "other methods accept natural, norm");
    detect.refuses({"--order", order, "--all-within", "1"}, "lists accept natural, norm");
  }
  detect.refuses({"--soft", "list:0"}, "'list:0' keeps nothing");
  detect.refuses({"--method", "kbest:0"}, "'kbest:0' keeps nothing");
  detect.refuses({"--nt", "33"}, "1 to 32");
  detect.refuses({"--nr", "129"}, "1 to 128");
  detect.refuses({"--h", files.h}, "--y");
  refused("5 x 2 x 2: 5 channels for 5 signals of coherence 3", {"--coherence", "3"});
  for (const auto& [text, why] : {std::pair{"1 0 0\n0 1 0\n", "repeated"},
                                  {"1 0 0\n0 1 5\n", "out of range"},
                                  {"0 0 0\n0 0 1\n", "points must differ"},
                                  {"1 0 0\n", "1 point; a constellation needs at least 2"},
                                  {"1 0 0\n0 1 1\n0 0 2\n", "not a power of two"}}) {
    const std::string points = files.folder / "points.txt";
    std::ofstream(points) << text;
    detect.refuses({"--constellation", points}, why);
  }
  detect.refuses({"--method", "lr"}, "'lr' is none of sd, sd-plain, brute, babai, mf, zf, mmse, mmse-sic, kbest, nway");
  detect.refuses({"--soft", "rts"}, "'rts' is none of sts, max-log, app, mmse, list, kbest, nway, ep");
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
  detect.refuses({"--h", files.folder / "none.npy", "--y", files.y, "--constellation", "bpsk"}, "none.npy");
  MimoTestFiles other;
  write_array(other.y, {5, 1}, std::vector<Number>(5).data());
  detect.refuses(other.words(), "5 x 1");
  write_array(other.y, {4, 2}, std::vector<Number>(8).data());
  detect.refuses(other.words(), "5 channels for 4 signals");
}

TEST_CASE("mimo detect supports --all-within and integers") {
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

TEST_CASE("mimo detect --noise-cov with white noise of any size gives the result without it") {
  const MimoTestFiles files;
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

TEST_CASE("mimo detect: ties that may be hidden by rounding are not certified") {
  const TemporaryFolder folder;
  std::ofstream(folder / "far.txt") << "1e15 0 0\n0 0.5 1\n1 0 2\n-1 0 3\n";
  std::ofstream(folder / "near.txt") << "1e3 0 0\n0 0.5 1\n1 0 2\n-1 0 3\n";
  std::ofstream(folder / "h.mtx") << "%%MatrixMarket matrix array complex general\n2 2\n1 0\n0 0\n0 0\n1 0\n";
  std::ofstream(folder / "y.mtx") << "%%MatrixMarket matrix array complex general\n1 2\n1 0\n-1 0\n";
  const Words files{"--h", folder / "h.mtx", "--y", folder / "y.mtx", "--constellation"};
  for (const char* const method : {"sd", "brute"}) {
    const auto far = detect(files + Words{folder / "far.txt", "--method", method}, 1);
    CHECK(far["status"].get<std::string>().find("inaccurate: metric_gap") == 0);
    CHECK(detect(files + Words{folder / "near.txt", "--method", method})["checks"]["metric_gap"] == 0);
  }
}
