#include "tests/support/commands/process.hpp"
#include "tests/support/test.hpp"
#include <tesela/runtime/trace.hpp>

#include <catch2/catch_approx.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace tesela::test;
using Catch::Approx;
using nlohmann::json;

namespace {

/// Returns the data of a page after a check of its structure.
json data_of(const std::string& page) {
  CHECK_THAT(page, Catch::Matchers::StartsWith("<!DOCTYPE html>") && Catch::Matchers::EndsWith("</html>\n"));
  for (const char* outside : {" src=", "<link", "@import", "url(", "fetch(", "XMLHttpRequest("}) {
    CAPTURE(outside);
    const std::string own =
        page.substr(0, page.find("!function(){var d3=")) + page.substr(page.rfind("</script>\n<script>"));
    CHECK(own.find(outside) == std::string::npos);
  }
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  return json::parse(page.substr(begin + open.size(), page.find("</script>", begin) - begin - open.size()));
}

/// Returns the numbers of a packed array: the bytes of each, then all of them in base 64.
std::vector<std::size_t> unpacked(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, count = 0;
  for (const char c : text.substr(1)) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  const auto size = static_cast<std::size_t>(text[0] - '0');
  REQUIRE(bytes.size() % size == 0);
  std::vector<std::size_t> numbers(bytes.size() / size);
  for (std::size_t k = 0; k < bytes.size(); ++k)
    numbers[k / size] |= std::size_t{static_cast<unsigned char>(bytes[k])} << 8 * (k % size);
  return numbers;
}

struct Reported {
  explicit Reported(const Words& command) {
    run = run_tesela(command + Words{"--report", folder / "run.html", "--json", folder / "run.json"});
    CAPTURE(run.err);
    report = json::parse(contents(folder / "run.json"));
    page = contents(folder / "run.html");
    data = data_of(page);
  }
  TemporaryFolder folder;
  Outcome run;
  std::string page;
  json report, data;
};

}  // namespace

TEST_CASE("a page and the JSON have the same numbers") {
  const Words command =
      GENERATE(Words{"gemm", "--n", "300", "--tile", "100"}, Words{"qr", "--n", "200", "--tile", "50", "--repeat", "3"},
               Words{"cholesky", "--n", "150", "--tile", "50"});
  CAPTURE(command);
  const Reported r(command + Words{"--ncuda", "0", "--ncpu", "2"});
  REQUIRE(r.run.code == 0);
  const json &summary = r.data["summary"], &tasks = r.data["tasks"];
  CHECK(r.data["report"]["status"] == r.report["status"]);
  CHECK(r.data["report"]["checks"] == r.report["checks"]);
  CHECK(r.data["report"]["seconds"]["compute"] == r.report["seconds"]["compute"]);
  std::map<std::string, int> count;
  double busy = 0, of_workers = 0;
  for (const json& kernel : summary["kernels"]) {
    count[kernel["kernel"]] += kernel["tasks"].get<int>();
    busy += kernel["seconds"].get<double>();
  }
  CHECK(json(count) == r.report["counts"]["tasks"]);
  for (const json& worker : r.report["workers"])
    for (const auto& [kernel, seconds] : worker["kernel_s"].items()) of_workers += seconds.get<double>();
  CHECK(busy == Approx(of_workers).epsilon(1e-3));
  if (r.report["bounds"]["untimed_tasks"] == 0) {
    CHECK(summary["unmodelled"] == 0);
    CHECK(summary["path_bound"].get<double>() == Approx(r.report["bounds"]["path_s"].get<double>()));
    CHECK(summary["area_bound"].get<double>() == Approx(r.report["bounds"]["area_s"].get<double>()));
  }
  CHECK(summary["seconds"].get<double>() <= r.report["seconds"]["slowest"].get<double>());
  CHECK(summary["path_seconds"].get<double>() <= summary["seconds"].get<double>() * (1 + 1e-9));
  for (const json& worker : summary["workers"]) {
    double sum = 0;
    for (const char* part : {"busy", "data", "ready", "insertion", "dependences", "end"})
      sum += worker[part].get<double>();
    CHECK(sum == Approx(summary["seconds"].get<double>()));
  }
  // The packed tasks.
  const auto total = r.report["bounds"]["tasks"].get<std::size_t>();
  CHECK(tasks["count"] == total);
  const auto start = unpacked(tasks["start"]), length = unpacked(tasks["length"]), kind = unpacked(tasks["kind"]);
  const auto worker = unpacked(tasks["worker"]), before = unpacked(tasks["before"]), edges = unpacked(tasks["edges"]);
  REQUIRE((start.size() == total && length.size() == total && kind.size() == total && worker.size() == total));
  std::map<std::string, int> packed;
  double last = 0, sum = 0;
  std::size_t edge = 0;
  for (std::size_t t = 0; t < total; ++t) {
    ++packed[r.data["kernels"][tasks["kinds"][kind[t]][0].get<std::size_t>()]["name"]];
    CHECK(worker[t] < summary["workers"].size());
    last = std::max(last, static_cast<double>(start[t] + length[t]));
    sum += static_cast<double>(length[t]);
    for (std::size_t k = 0; k < before[t]; ++k, ++edge) CHECK((edges.at(edge) > 0 && edges[edge] <= t));
  }
  CHECK(packed == count);
  CHECK(edge == edges.size());
  CHECK(edges.size() > 0);
  const double unit = tasks["unit"];
  CHECK(last * unit == Approx(summary["seconds"].get<double>()));
  CHECK(sum * unit == Approx(busy).epsilon(1e-4));
}

TEST_CASE("a failed run has a page with its status") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.csv") << "1,2\n2,4\n";
  const Outcome run = run_tesela({"cholesky", "--a", folder / "a.csv", "--report", folder / "run.html"});
  CAPTURE(run.err);
  CHECK(run.code == 1);
  CHECK_THAT(data_of(contents(folder / "run.html"))["report"]["status"].get<std::string>(),
             ContainsSubstring("not positive definite"));
}

TEST_CASE("--report accepts no library and no folder") {
  const TemporaryFolder folder;
  CHECK_THAT(run_tesela({"qr", "--n", "20", "--method", "lapack", "--report", folder / "x.html"}).err,
             ContainsSubstring("--report") && ContainsSubstring("records tasks"));
  const Outcome nowhere = run_tesela({"gemm", "--n", "20", "--report", folder / "no/x.html"});
  CHECK(nowhere.code == 2);
  CHECK_THAT(nowhere.err, ContainsSubstring("x.html"));
}

TEST_CASE("a page from a trace shows its last run") {
  if (!tesela::can_trace()) SKIP("this StarPU records no traces");
  const TemporaryFolder folder;
  REQUIRE(run_tesela({"gemm", "--n", "300", "--tile", "100", "--ncuda", "0", "--repeat", "2", "--trace", folder / "t",
                      "--report", folder / "run.html"})
              .code == 0);
  REQUIRE(run_tesela({"trace", folder / "t", "--report", folder / "trace.html"}).code == 0);
  const json run = data_of(contents(folder / "run.html")), trace = data_of(contents(folder / "trace.html"));
  REQUIRE(run["summary"]["kernels"].size() == trace["summary"]["kernels"].size());
  for (std::size_t k = 0; k < run["summary"]["kernels"].size(); ++k)
    CHECK(run["summary"]["kernels"][k]["tasks"] == trace["summary"]["kernels"][k]["tasks"]);
  CHECK_THAT(trace["report"]["notes"][0].get<std::string>(), ContainsSubstring("2 recorded runs"));
  CHECK(run_tesela({"trace", folder / "t", folder / "t", "--report", folder / "x.html"}).code == 2);
  CHECK(run_tesela({"trace", folder / "t", "--from", "1e-9", "--report", folder / "x.html"}).code == 2);
}

TEST_CASE("any text may be in a page") {
  const TemporaryFolder folder;
  std::ofstream(folder / "tasks.rec")
      << "Name: a</script>\xff\"\\\nJobId: 1\nWorkerId: 0\nStartTime: 1\nEndTime: 2\n\n";
  std::ofstream(folder / "paje.trace") << "7\t1.0\tw0\tW\tt99\tCPU0\n";
  REQUIRE(run_tesela({"trace", folder.path(), "--report", folder / "x.html"}).code == 0);
  CHECK(data_of(contents(folder / "x.html"))["kernels"][0]["name"] == "a</script>\uFFFD\"\\");
}
