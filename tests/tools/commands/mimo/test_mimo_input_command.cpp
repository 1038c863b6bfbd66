#include "tests/support/commands/mimo_command.hpp"

#include <complex>
#include <fstream>

// Inputs that every detector refuses, apart from those in test_mimo_detect_command.cpp.

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

const Command detect{{"mimo", "detect"}};
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

bool exists(const std::string& path) { return static_cast<bool>(std::ifstream(path)); }

}  // namespace

TEST_CASE("mimo detect refuses NaN and Inf in every file with file and place") {
  MimoTestFiles files;
  const std::string prior = files.folder / "prior.npy", cov = files.folder / "cov.npy", points = files.folder / "p.txt";
  for (const double bad : {not_a_number, infinity, -infinity}) {
    std::vector<double> known(10, 0.5);
    known[7] = bad;
    write_array(prior, {5, 2}, known.data());
    detect.refuses(files.words({"--n0", "0.1", "--soft", "sts", "--prior", prior}), "prior.npy");
    detect.refuses(files.words({"--n0", "0.1", "--soft", "sts", "--prior", prior}), "[3, 1]");
    const Number white[] = {2, 0, 0, {0, bad}};
    write_array(cov, {2, 2}, white);
    detect.refuses(files.words({"--noise-cov", cov}), "[1, 1]");
    for (const char* const p : {"s", "d"}) {
      MimoTestFiles other;
      other.channels[13] = {0, bad};
      other.write(5);
      detect.refuses(other.words({"-p", p}), "[3, 0, 1]");
      MimoTestFiles third;
      third.signals[9] = bad;
      third.write(5);
      detect.refuses(third.words({"-p", p, "--buffer", "2"}), "[4, 1]");
    }
  }
  for (const char* const text : {"nan 0 0\n0 1 1\n", "1 inf 0\n0 1 1\n"}) {
    std::ofstream(points) << text;
    detect.refuses({"--constellation", points}, points);
  }
  // A number that single precision cannot represent.
  MimoTestFiles large;
  large.channels[2] = 1e300;
  large.write(5);
  detect(large.words({"--no-check"}));  // ||y - H s|| would overflow in the check
  detect.refuses(large.words({"-p", "s"}), "[0, 1, 0]");
}

TEST_CASE("mimo detect names both shapes if they disagree") {
  MimoTestFiles files;
  std::vector<int> labels(12);
  write_array(files.s, {5, 1}, labels.data());
  detect.refuses(files.words({"--sent", files.s}), "5 x 1");
  write_array(files.s, {4, 2}, labels.data());
  detect.refuses(files.words({"--sent", files.s}), "4 x 2");
  std::vector<Number> numbers(40);
  write_array(files.h, {5, 3, 2}, numbers.data());
  detect.refuses(files.words(), "5 x 2");
  write_array(files.h, {5, 2, 2, 2}, numbers.data());
  detect.refuses(files.words(), "5 x 2 x 2 x 2");
  write_array(files.h, {20}, numbers.data());
  detect.refuses(files.words(), "h.npy");
  write_array(files.h, {5, 2, 3}, numbers.data());
  detect.refuses({"--h", files.h, "--y", files.y, "--constellation", "bpsk,qpsk"}, "names 2, there are 3 streams");
  std::ofstream(files.h) << "no numbers";
  detect.refuses(files.words(), "h.npy");
}

TEST_CASE("mimo detect refuses more streams than antennas and reports dependent columns, depending on the detector") {
  const TemporaryFolder folder;
  const std::string out = folder / "s.npy";
  const Words wide{"--nt", "3", "--nr", "2", "--signals", "20", "--constellation", "qpsk", "--ebn0", "12", "--method"};
  const Words rank{"--nt", "2", "--signals", "9", "--channel", "rank:1", "--ebn0", "12", "--out-s", out, "--method"};
  detect.refuses(wide + Words{"zf"}, "3 streams, 2 antennas");
  for (const char* const p : {"s", "d"}) {
    const auto report = detect(rank + Words{"zf", "-p", p}, 1);
    CHECK(check(report, "failed") == 9);
    CHECK(report["status"] == "dependent columns: no answer for 9 signals, the first is 1");
    CHECK(!exists(out));
  }
  for (const char* const method : {"sd", "mmse", "mmse-sic", "kbest:8", "nway", "mf", "ep", "babai"}) {
    detect(wide + Words{method});
    detect(rank + Words{method});
  }
  CHECK(exists(out));
}

TEST_CASE("mimo detect works without noise and without signals") {
  const TemporaryFolder folder;
  const std::string s = folder / "s.npy", llr = folder / "llr.npy", points = folder / "points.npy";
  for (const char* const method :
       {"sd", "brute", "babai", "mf", "zf", "mmse", "mmse-sic", "kbest", "nway", "ep", "bfs-gemm"})
    CHECK(check(detect({"--nt", "2", "--nr", "3", "--signals", "30", "--n0", "0", "--method", method}),
                "uncertified") == 0);
  for (const char* const kind : {"sts", "app", "mmse", "nway"})
    detect.refuses({"--nt", "2", "--n0", "0", "--soft", kind}, "--soft needs a variance above 0");
  detect.refuses({"--nt", "2", "--n0", "-0.5", "--soft", "sts"}, "--n0");
  detect({"--nt", "3", "--signals", "0", "--soft", "sts", "--out-s", s, "--out-llr", llr, "--out-points", points});
  CHECK(read_whole_array(s).dims == std::vector<index_t>{0, 3});
  CHECK(read_complex_array<double>(llr).dims == std::vector<index_t>{0, 12});
  CHECK(read_complex_array<double>(points).dims == std::vector<index_t>{0, 3});
}

TEST_CASE("mimo detect of files needs the constellation, and detectors that weigh the noise need its variance") {
  const MimoTestFiles files;
  detect.refuses({"--h", files.h, "--y", files.y}, "--constellation: is missing");
  for (const char* const method : {"mmse", "mmse-sic", "ep"}) {
    detect.refuses(files.words({"--method", method}),
                   std::string("--n0: is missing: ") + method + " needs the variance");
    detect(files.words({"--method", method, "--n0", "0.01"}));
  }
  detect(files.words({"--method", "zf"}));
}

TEST_CASE("mimo detect does not depend on the scale of H and y") {
  const MimoTestFiles files;
  const std::string one = files.folder / "one.npy", other = files.folder / "other.npy";
  detect(files.words({"--out-s", one}));
  for (const double scale : {1e150, 1e-150}) {
    MimoTestFiles scaled;
    for (Number& x : scaled.channels) x *= scale;
    for (Number& x : scaled.signals) x *= scale;
    scaled.write(5);
    for (const char* const method : {"sd", "brute", "zf", "mmse", "kbest:4", "nway"}) {
      detect(scaled.words({"--out-s", other, "--method", method, "--n0", "0"}));
      CHECK(read_whole_array(other).values == read_whole_array(one).values);
    }
  }
}

TEST_CASE("mimo detect checks H or y near the largest number") {
  for (const auto& [of_h, of_y] : {std::pair{1.7e308, 1.0}, {1.0, 1.7e308}, {1.0, 1.2e308}, {1.2e308, 1.2e308}}) {
    CAPTURE(of_h, of_y);
    MimoTestFiles files;
    for (Number& x : files.channels) x = of_h * (x / std::abs(x));
    for (Number& x : files.signals) x = of_y * (x / std::abs(x));
    files.write(5);
    const auto report = detect(files.words({"--n0", "0.1"}));
    CHECK(report["status"] == "ok");
    CHECK(report["checks"]["metric_gap"] <= 1e-12);
    CHECK(report["checks"]["ml_mismatches"] == 0);
  }
}

namespace {

/// Returns rows x cols numbers in C order, transposed.
template <class Value>
std::vector<Value> transposed(const std::vector<Value>& a, std::size_t rows) {
  const std::size_t cols = a.size() / rows;
  std::vector<Value> made(a.size());
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j) made[j * rows + i] = a[i * cols + j];
  return made;
}

}  // namespace

TEST_CASE("mimo detect accepts a row per signal and a row per antenna, and refuses a guess for square signals") {
  const MimoTestFiles files;
  const std::string y = files.folder / "turned.npy", sent = files.folder / "sent.npy",
                    prior = files.folder / "prior.npy";
  write_array(y, {2, 5}, transposed(files.signals, 5).data());
  write_array(sent, {2, 5}, transposed(files.labels, 5).data());
  const std::vector<double> known{0.5, -1, 2, 0, 1, 3, -2, 0.25, 0.125, 1};
  const auto outputs = [&](const char* name) {
    return std::vector<std::string>{files.folder / (std::string(name) + "s.npy"),
                                    files.folder / (std::string(name) + "llr.npy"),
                                    files.folder / (std::string(name) + "points.npy")};
  };
  const auto rows = outputs("rows"), columns = outputs("columns");
  const auto words = [&](const std::string& of_y, const std::string& labels, const std::vector<std::string>& out) {
    return Words{"--h",       files.h,   "--y",       of_y,   "--sent",       labels,   "--constellation",
                 "pi/2-bpsk", "--prior", prior,       "--n0", "0.5",          "--soft", "sts",
                 "--out-s",   out[0],    "--out-llr", out[1], "--out-points", out[2]};
  };
  write_array(prior, {5, 2}, known.data());
  const auto one = detect(words(files.y, files.s, rows));
  detect.refuses(words(files.y, files.s, rows) + Words{"--layout", "antennas-rows"}, "5 x 2");
  detect.refuses(words(files.y, sent, rows), "2 x 5");
  detect.refuses(words(y, sent, columns), "prior.npy is 5 x 2, not 2 x 5");
  write_array(prior, {2, 5}, transposed(known, 5).data());
  for (const char* const layout : {"auto", "antennas-rows"}) {
    const auto other = detect(words(y, sent, columns) + Words{"--layout", layout});
    CHECK(other["checks"]["bit_errors"] == one["checks"]["bit_errors"]);
    CHECK(read_whole_array(columns[0]).dims == std::vector<index_t>{2, 5});
    CHECK(read_whole_array(columns[0]).values == transposed(read_whole_array(rows[0]).values, 5));
    for (int k : {1, 2})
      CHECK(read_complex_array<double>(columns[k]).values == transposed(read_complex_array<double>(rows[k]).values, 5));
  }
  detect.refuses(words(y, sent, columns) + Words{"--buffer", "2"}, "signals-rows");
  const std::string square = files.folder / "square.npy", h = files.folder / "one.npy";
  write_array(square, {2, 2}, files.signals.data());
  write_array(h, {2, 2}, files.channels.data());
  const Words two{"--h", h, "--y", square, "--constellation", "bpsk", "--out-s", rows[0]};
  detect.refuses(two, "name signals-rows or antennas-rows");
  detect(two + Words{"--layout", "signals-rows"});
  const auto labels = read_whole_array(rows[0]).values;
  write_array(square, {2, 2},
              transposed(std::vector<Number>(files.signals.begin(), files.signals.begin() + 4), 2).data());
  detect(two + Words{"--layout", "antennas-rows"});
  CHECK(read_whole_array(rows[0]).values == transposed(labels, 2));
}

TEST_CASE("mimo detect finds pi/2-bpsk, also in odd buffers") {
  MimoTestFiles files(7);
  for (std::size_t e = 0; e < files.signals.size(); ++e)
    if (e / 2 % 2 == 1) files.signals[e] *= Number(0, 1);
  files.write(7);
  const std::string out = files.folder / "out.npy", points = files.folder / "points.npy";
  const Words input{"--h", files.h, "--y", files.y, "--constellation", "pi/2-bpsk", "--sent", files.s};
  for (const Words& more : {Words{}, Words{"--buffer", "3"}, Words{"--buffer", "1"}}) {
    const auto report = detect(input + Words{"--out-s", out, "--out-points", points} + more);
    CHECK(report["checks"]["bit_errors"] == 0);
    CHECK(report["problem"]["constellation"] == "pi/2-bpsk");
    CHECK(read_whole_array(out).values == files.labels);
    const auto sent = read_complex_array<double>(points).values;
    for (std::size_t e = 0; e < sent.size(); ++e) {
      const double b = 1 - 2 * files.labels[e];
      CHECK(std::abs(sent[e] - Number(b, b) / std::sqrt(2.0) * (e / 2 % 2 == 1 ? Number(0, 1) : 1)) < 1e-15);
    }
  }
  detect(input + Words{"--all-within", "0.5", "--out-points", points});
  CHECK(std::abs(read_complex_array<double>(points).values[2].imag()) > 0.7);
  detect.refuses({"--h", files.h, "--y", files.y, "--constellation", "pi/2-bpsk,bpsk"}, "all streams or for none");
  CHECK(check(detect({"--nt", "2", "--signals", "50", "--constellation", "pi/2-bpsk", "--ebn0", "60"}), "bit_errors") ==
        0);
}
