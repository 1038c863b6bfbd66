#include "tests/support/files.hpp"
#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/internal/model_entries.hpp>

#include <catch2/catch_approx.hpp>

#include <filesystem>
#include <fstream>

using namespace tesela::test;
using Catch::Approx;
using detail::is_unreadable;

namespace {

std::string regressions() {
  return "# "
         "sumlnx\tsumlnx2\n0.000000e+00\t0.000000e+00\t0.000000e+00\t0.000000e+"
         "00\tnan\tnan\t0\t18446744073709551615\t0\n"
         "# a\tb\tc\nnan\tnan\tnan\n# not multiple-regression-base\n0\n";
}

std::string entry(const std::string& footprint) {
  return "# hash\tsize\tflops\tmean\n" + footprint + "\t4096\t1.0e+03\t2.0e+00\t1.0e-01\t2.0e+01\t4.0e+01\t10\n";
}

/// Returns a model in the format of StarPU 1.4: two kinds of workers, the second with two variants.
std::string model(const std::string& version = "45") {
  return "##\n# Performance Model Version\n" + version +
         "\n\n##\n# COMBs\n# number of combinations\n2\n##\n# COMB_0\n" +
         "# number of types devices\n1\n# DEV_0\n# device type\n0\n# device id\n-1\n# number of cores\n1\n##\n" +
         "# number of implementations\n1\n#####\n# Model for cpu\n# number of entries\n2\n" + regressions() +
         entry("0a1b2c3d") + entry("deadbeef") +
         "\n##\n# COMB_1\n# number of types devices\n1\n# DEV_0\n1\n0\n1\n##\n" +
         "# number of implementations\n2\n#####\n# number of entries\n0\n" + regressions() + "#####\n1\n" +
         regressions() + entry("00000001");
}

}  // namespace

TEST_CASE("a truncated model file is detected") {
  const std::string whole = model();
  CHECK_FALSE(is_unreadable(whole, "45"));
  CHECK_FALSE(is_unreadable(whole + "\n", "45"));
  CHECK_FALSE(is_unreadable("", "45"));  // StarPU treats it as missing
  for (std::size_t left = 1; left < whole.size(); ++left) {
    CAPTURE(whole.substr(0, left));
    CHECK(is_unreadable(whole.substr(0, left), "45"));
  }
}

TEST_CASE("a model file on which StarPU aborts is detected") {
  const auto with = [](const std::string& right, const std::string& wrong) {
    std::string text = model();
    const std::size_t at = text.rfind(right);
    REQUIRE(at != std::string::npos);
    return text.replace(at, right.size(), wrong);
  };
  CHECK(is_unreadable(model("44"), "45"));
  CHECK(is_unreadable(model("4.5"), "45"));
  CHECK(is_unreadable("hello\n", "45"));
  CHECK(is_unreadable(with("# number of entries\n0\n", "# number of entries\n1e308\n"), "45"));
  CHECK(is_unreadable(with("# number of cores\n1\n", "# number of cores\n-5\n"), "45"));
  CHECK(is_unreadable(with("nan\tnan\tnan\n", "abc\tnan\tnan\n"), "45"));
  CHECK(is_unreadable(with("nan\tnan\tnan\n", "nan\tnan\tnan\nnan\tnan\tnan\n"), "45"));
  CHECK(is_unreadable(with("not multiple-regression-base\n0\n", "not multiple-regression-base\n3\n"), "45"));
  for (const char* const mean : {"inf", "nan", "-1", "x"})
    CHECK(is_unreadable(with("\t2.0e+00\t", std::string("\t") + mean + "\t"), "45"));
  CHECK_FALSE(is_unreadable(with("\t1.0e+03\t", "\tnan\t"), "45"));  // flops
  CHECK_FALSE(is_unreadable(with("\t1.0e+03\t", "\t"), "45"));       // older releases did not write it
  CHECK(is_unreadable(with("\t10\n", "\t10\t1\n"), "45"));
}

TEST_CASE("a model file of another format is kept if its lines are complete") {
  CHECK_FALSE(is_unreadable(model("46").substr(0, model("46").find("# COMB_1")), "46"));
  CHECK(is_unreadable(model("46").substr(0, 200), "46"));
}

TEST_CASE("only truncated files are removed") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "45");
  const std::string whole = folder / "45/whole", cut = folder / "45/cut";
  std::ofstream(whole) << model();
  std::ofstream(cut) << model().substr(0, model().rfind("# hash"));
  for (const std::string& path : {whole, cut, folder / "none"}) detail::remove_if_unreadable(path);
  CHECK(std::filesystem::exists(whole));
  CHECK_FALSE(std::filesystem::exists(cut));
}

TEST_CASE("the entries of a model file are read with their kind of worker") {
  const auto entries = detail::read_model(model());
  REQUIRE(entries.size() == 2);  // the second kind of worker has an entry of its second variant alone
  CHECK(entries[0].footprint == 0x0a1b2c3d);
  CHECK(entries[1].footprint == 0xdeadbeef);
  for (const detail::ModelEntry& e : entries) {
    CHECK_FALSE(e.on_gpu);
    CHECK(e.bytes == 4096);
    CHECK(e.flops == 1000);
    CHECK(e.mean == 2);
    CHECK(e.deviation == Approx(0.1));
    CHECK(e.samples == 10);
  }
  std::string on_gpu = model();
  on_gpu.replace(on_gpu.find("# device type\n0"), 15, "# device type\n1");
  const auto gpu_entries = detail::read_model(on_gpu);
  REQUIRE(gpu_entries.size() == 2);
  CHECK(gpu_entries[0].on_gpu);
  CHECK(detail::read_model("45\n2\n").empty());
}
