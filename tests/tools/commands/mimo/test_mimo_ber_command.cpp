#include "tests/support/commands/command.hpp"

#include <map>

using namespace tesela::test;

namespace {

const Command ber{{"mimo", "ber"}};

}  // namespace

TEST_CASE("mimo ber: zf matches its closed form, sd lies within its bounds, and better detectors make fewer errors") {
  const TemporaryFolder folder;
  const std::string csv = folder / "ber.csv", svg = folder / "ber.svg";
  const auto report =
      ber({"--nt",   "2",     "--nr",     "3",   "--constellation", "qpsk", "--detectors",    "zf,mmse-sic,kbest:16,sd",
           "--ebn0", "0:2:4", "--errors", "300", "--signals",       "3000", "--most-signals", "60000",
           "--csv",  csv,     "--svg",    svg});
  CHECK(check(report, "zf_sigmas") < 4);
  std::map<std::pair<std::string, double>, nlohmann::json> rates;
  for (const auto& r : report["error_rates"]) rates[{r["detector"], r["ebn0_db"]}] = r;
  for (const double db : {0.0, 2.0, 4.0}) {
    const auto of = [&](const char* name, const char* what) { return rates.at({name, db})[what].get<double>(); };
    CHECK(of("sd", "bit_errors") >= 300);
    CHECK(of("sd", "vector_errors") <= of("kbest:16", "vector_errors"));
    CHECK(of("kbest:16", "vector_errors") <= of("mmse-sic", "vector_errors"));
    CHECK(of("mmse-sic", "vector_errors") <= of("zf", "vector_errors"));
    CHECK((of("zf", "ber_low") < of("zf", "ber") && of("zf", "ber") < of("zf", "ber_high")));
    CHECK(of("sd", "ber_high") >= of("one stream alone", "ber"));
    CHECK(of("sd", "ber_low") <= of("union bound", "ber"));
  }
  CHECK(contents(csv).starts_with("ebn0_db,detector,signals"));
  CHECK(contents(svg).find("<polyline") != std::string::npos);
}

TEST_CASE("mimo ber stops each point at its limit and refuses invalid options") {
  const auto report = ber({"--nt", "2", "--nr", "4", "--constellation", "qpsk", "--detectors", "sd", "--ebn0", "30",
                           "--signals", "500", "--most-signals", "1200"});
  CHECK(report["error_rates"][0]["signals"] == 1200);
  CHECK(report["error_rates"][0]["ber_high"].get<double>() > 0);
  ber.refuses({"--constellation", "integers"}, "no bits");
  ber.refuses({"--ebn0", "0:0:5"}, "--ebn0");
  ber.refuses({"--ebn0", "x"}, "--ebn0");
  ber.refuses({"--ebn0", "0:1"}, "--ebn0");
  ber.refuses({"--detectors", "zf,none"}, "--detectors: 'none'");
  ber.refuses({"--detectors", "sd,zf,sd"}, "--detectors: names sd twice");
  ber.refuses({"--soft", "sts,sts"}, "--soft: names sts twice");
  ber.refuses({"--nt", "10", "--nr", "10", "--constellation", "16qam", "--detectors", "brute"},
              "brute force over 1099511627776 candidates");
  ber.refuses({"--nt", "6", "--nr", "6", "--constellation", "16qam", "--detectors", "zf", "--soft", "max-log"},
              "max-log (--soft) over 16777216 candidates; at most 2^20");
  ber.refuses({"--nt", "3", "--nr", "2", "--detectors", "zf"}, "needs as many antennas");
}

TEST_CASE("mimo ber --soft reports mutual information from 0 to 1 for each bit") {
  const auto report = ber({"--nt", "2", "--constellation", "qpsk", "--detectors", "sd", "--ebn0", "-20:20:40", "--soft",
                           "app,sts,mmse", "--signals", "2000", "--most-signals", "2000"});
  std::map<std::pair<std::string, double>, double> information;
  for (const auto& r : report["error_rates"])
    if (r.contains("information")) information[{r["detector"], r["ebn0_db"]}] = r["information"];
  CHECK(information.size() == 12);
  for (const char* const kind : {"soft app", "soft sts", "soft mmse"}) {
    CHECK(information.at({kind, -20.0}) < 0.1);
    CHECK(information.at({kind, 20.0}) > 0.97);
    CHECK(information.at({kind, 20.0}) <= 1);
  }
  CHECK(information.at({"soft app", 20.0}) >= information.at({"soft mmse", 20.0}));
  CHECK(information.at({"soft app", -20.0}) > -0.01);
  ber.refuses({"--soft", "none"}, "--soft");
  const Outcome told = run_tesela({"mimo", "ber", "--nt", "1", "--constellation", "qpsk", "--ebn0", "5", "--soft",
                                   "sts", "--signals", "500", "--most-signals", "500"});
  CHECK(told.code == 0);
  CHECK_THAT(told.out, Catch::Matchers::ContainsSubstring("soft sts           information"));
}
