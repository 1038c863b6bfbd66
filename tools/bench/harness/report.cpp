#include "tools/bench/harness/report.hpp"

#include "tools/app/outputs.hpp"
#include "tools/app/report.hpp"
#include "tools/app/standard_streams.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/row_chart.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/vector_target.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/atomic_file.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace tesela::bench {
namespace {

/// Returns "0.3.21 Haswell" for "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64".
std::string blas_version() {
  const std::string text = blas::description();
  std::string version, previous;
  std::size_t start = 0, word = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string token = text.substr(start, end - start);
    if (word == 1) version = token;
    if (token.starts_with("MAX_THREADS")) return version + " " + previous;
    previous = token;
    start = end + 1;
    ++word;
  }
  return version;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string doubled;
  for (const char c : text) doubled.append(c == '"' ? 2 : 1, c);
  return fmt::format("\"{}\"", doubled);
}

std::string count(index_t n) { return n > 0 ? std::to_string(n) : std::string(); }
std::string figure(double x) { return x > 0 ? fmt::format("{:.6g}", x) : std::string(); }

/// Returns whether a row has a remark.
bool any_remark(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& r) { return !r.timing.remark.empty(); });
}

/// Returns the flops of a run, if the rate counts flops.
double flops_of(const Row& row) { return row.what.rate_unit == "GFLOP/s" ? row.rate * 1e9 * row.timing.median() : 0; }

std::string energy_of(const Row& row) {
  const auto joules = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.4g} J", *value) : std::string("unavailable");
  };
  return fmt::format("GPUs {}, processors {}", joules(row.timing.energy.gpus), joules(row.timing.energy.cores));
}

void write_file(const std::string& path, const std::string& text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace

void Options::add_to(cli::App& app, const char* default_name, cli::CommonOptions::Taken taken) {
  name = default_name;
  taken.trace = false;
  taken.report = false;
  common.add_to(app, taken);
  app.add_option("-o,--out", out, "directory of the CSV and the plot")->type_name("DIR")->show_default();
  app.add_option("--name", name, "their name: NAME.csv, NAME.svg")->show_default();
  cli::declare_outputs(app, cli::Output::text, "--name", [this] {
    require(std::filesystem::is_directory(out), "bench", "--out", out, " is not a directory");
    const std::string both = (std::filesystem::path(out) / name).string();
    return std::vector{both + ".csv", both + ".svg"};
  });
}

RuntimeOptions Options::runtime() const {
  RuntimeOptions runtime = common.runtime();
  runtime.profile = false;
  return runtime;
}

Report::Report(const char* benchmark, const Options& options, const Runtime* runtime)
    : benchmark_(benchmark), options_(options) {
  const Machine machine = describe_machine();
  machine_ = fmt::format("{} ({} cores)", machine.cpu_model, machine.cores);
  if (runtime != nullptr) {
    // The checks of peers have all of a result in one process.
    require(runtime->ranks() == 1, benchmark, "mpirun", "starts ", runtime->ranks(),
            " processes, and a benchmark measures one; start the command itself, with --repeat");
    scheduler_ = runtime->scheduler();
    cpus_ = runtime->cpus();
    gpus_ = runtime->gpus();
  } else {
    gpus_ = 1;
  }
  std::vector<int> devices;
  for (int device = 0; device < gpus_; ++device) devices.push_back(device);
  if (options.common.energy) energy_ = std::make_unique<EnergyScope>(devices);
  if (gpus_ > 0 && !machine.gpus.empty()) gpu_ = machine.gpus.front().name;
  cuda_ = machine.cuda_runtime;
}

void Report::append(const Row& row) {
  rows_.push_back(row);
  rows_.back().gpus = gpus_;
  if (row.what.precision.empty()) rows_.back().what.precision = options_.common.precision;
  std::ofstream(path("csv.part")) << csv();
}

std::string Report::path(const char* extension) const {
  return (std::filesystem::path(options_.out) / (options_.name + "." + extension)).string();
}

std::string Report::csv() const {
  std::string text =
      "benchmark,case,m,n,k,tile,precision,data,peer,median_s,min_s,max_s,ratio,rate,rate_unit,ceiling,fraction,"
      "source_s,source_rate,scheduler,cpu_workers,gpus,machine,vector_unit,gpu,tesela,starpu,cuda,openblas,seed,"
      "repeats,"
      "date";
  if (!rows_.empty())
    for (const auto& [name, value] : rows_.front().more) text += "," + field(name);
  const bool remarks = any_remark(rows_);
  if (energy_) text += ",gpu_j,cpu_j";
  text += remarks ? ",remark\n" : "\n";
  const std::string date = utc_now();
  for (const Row& row : rows_) {
    const Case& w = row.what;
    const std::vector<std::string> fields{
        benchmark_,
        w.title,
        count(w.m),
        count(w.n),
        count(w.k),
        w.tile,
        w.precision,
        w.data,
        row.timing.peer,
        figure(row.timing.median()),
        figure(row.timing.min()),
        figure(row.timing.max()),
        row.timing.seconds.empty() ? "" : fmt::format("{:.4f}", row.ratio),
        figure(row.rate),
        w.rate_unit,
        figure(row.ceiling),
        row.ceiling > 0 && row.rate > 0 ? fmt::format("{:.4f}", row.rate / row.ceiling) : "",
        figure(row.published_s),
        figure(row.published_rate),
        scheduler_,
        scheduler_.empty() ? "" : std::to_string(cpus_),
        std::to_string(row.gpus),
        machine_,
        std::string(vector_target()),
        gpu_,
        config::version,
        Runtime::starpu_version(),
        cuda_,
        blas_version(),
        std::to_string(options_.common.seed),
        std::to_string(row.timing.seconds.size()),
        date};
    for (std::size_t f = 0; f < fields.size(); ++f) text.append(f > 0 ? "," : "").append(field(fields[f]));
    for (const auto& [name, value] : row.more) text += std::isnan(value) ? "," : fmt::format(",{:.6g}", value);
    const auto joules = [](const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; };
    if (energy_) text += "," + joules(row.timing.energy.gpus) + "," + joules(row.timing.energy.cores);
    text += remarks ? "," + field(row.timing.remark) + "\n" : "\n";
  }
  return text;
}

void Report::print() const {
  std::size_t widest = 4, widest_peer = 4;
  for (const Row& row : rows_) {
    widest = std::max(widest, row.what.title.size());
    widest_peer = std::max(widest_peer, row.timing.peer.size());
  }
  const bool ceilings = std::any_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.ceiling > 0; });
  const bool published =
      std::any_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.published_s > 0 || r.published_rate > 0; });
  fmt::print("{:<{}}  {:<{}}  {:>11}  {:>11}  {:>11}  {:>7}  {:>14}{}{}\n", "case", widest, "peer", widest_peer,
             "median", "min", "max", "ratio", "rate", ceilings ? "  of ceiling" : "", published ? "      source" : "");
  const auto ms = [](double s) { return fmt::format("{:.4g} ms", s * 1e3); };
  for (const Row& row : rows_) {
    if (row.timing.seconds.empty()) {
      fmt::print("{:<{}}  {:<{}}  {:>11}\n", row.what.title, widest, row.timing.peer, widest_peer, row.timing.remark);
      continue;
    }
    fmt::print("{:<{}}  {:<{}}  {:>11}  {:>11}  {:>11}  {:>7.3f}  {:>14}", row.what.title, widest, row.timing.peer,
               widest_peer, ms(row.timing.median()), ms(row.timing.min()), ms(row.timing.max()), row.ratio,
               fmt::format("{:.4g} {}", row.rate, row.what.rate_unit));
    if (ceilings) fmt::print("  {:>10}", row.ceiling > 0 ? fmt::format("{:.1f} %", 100 * row.rate / row.ceiling) : "");
    if (published)
      fmt::print("  {:>10}", row.published_s > 0      ? ms(row.published_s)
                             : row.published_rate > 0 ? fmt::format("{:.4g}", row.published_rate)
                                                      : "");
    if (energy_) fmt::print("  {}", energy_of(row));
    fmt::print("{}{}\n", row.timing.remark.empty() ? "" : "  ", row.timing.remark);
  }
  fmt::print("ratio: median time of the peer / median time of the case's first peer\n");
  fmt::print("cores: {}, vector unit {}\n", machine_, vector_target());
  for (const std::string& note : notes_) fmt::print("{}\n", note);
}

nlohmann::json Report::json() const {
  nlohmann::json peers = nlohmann::json::array();
  nlohmann::json checks = nlohmann::json::object();
  for (const Row& row : rows_) {
    nlohmann::json more = nlohmann::json::object();
    for (const auto& [name, value] : row.more) more[name] = value;
    peers.push_back({{"case", row.what.title},
                     {"peer", row.timing.peer},
                     {"seconds", row.timing.seconds},
                     {"median_s", row.timing.median()},
                     {"ratio", row.ratio},
                     {"rate", row.rate},
                     {"rate_unit", row.what.rate_unit},
                     {"ceiling", row.ceiling},
                     {"more", more}});
    if (energy_) peers.back()["energy"] = cli::energy_json(row.timing.energy, flops_of(row));
    if (row.timing.remark.empty())
      checks["error of " + row.timing.peer + ", " + row.what.title] = row.timing.error;
    else
      peers.back()["remark"] = row.timing.remark;
  }
  for (const auto& [name, value] : checks_) checks[name] = value;
  const Row* first = rows_.empty() ? nullptr : &rows_.front();
  return {
      {"command", "bench " + benchmark_},
      {"version", config::version},
      {"problem",
       {{"precision", options_.common.precision}, {"seed", options_.common.seed}, {"repeat", options_.common.repeat}}},
      {"machine",
       {{"cpu", machine_},
        {"vector_unit", vector_target()},
        {"gpu", gpu_},
        {"cpu_workers", cpus_},
        {"cuda_devices", gpus_},
        {"scheduler", scheduler_},
        {"starpu", Runtime::starpu_version()},
        {"cuda", cuda_},
        {"openblas", blas_version()}}},
      {"workers", nlohmann::json::array()},
      {"peers", peers},
      {"seconds", {{"total", first != nullptr ? first->timing.median() : 0.0}}},
      {"gflops", first != nullptr && first->what.rate_unit == "GFLOP/s" ? first->rate : 0.0},
      {"checks", checks},
      {"notes", notes_},
      {"status", "ok"}};
}

std::vector<std::string> write_charts(const std::string& benchmark, const std::vector<Row>& rows,
                                      const std::string& where, const std::string& path) {
  std::vector<std::string> written{path};
  write_file(path, draw_svg(chart_of(benchmark, rows, where)));
  for (const SourceFigure& figure : source_figures(benchmark, rows)) {
    written.push_back(std::filesystem::path(path).replace_extension().string() + "-" + figure.name + ".svg");
    write_file(written.back(), draw_svg(figure.chart));
  }
  return written;
}

void Report::finish() const {
  const bool quiet = options_.common.json_path == "-";
  if (!quiet) print();
  write_file(path("csv"), csv());
  std::filesystem::remove(path("csv.part"));
  std::string drawn;
  std::vector<Row> measured = rows_;
  std::erase_if(measured, [](const Row& row) { return row.timing.seconds.empty(); });
  try {
    if (measured.empty()) throw EnvironmentError("nothing was measured");
    for (const std::string& picture :
         write_charts(benchmark_, measured, gpus_ > 0 ? fmt::format("{} {}", gpus_, gpu_) : machine_, path("svg")))
      drawn += ", " + picture;
  } catch (const EnvironmentError& error) {
    cli::print_error(fmt::format("tesela: no plot, only the CSV: {}", error.what()));
  }
  if (!quiet) fmt::print("wrote {}{}\n", path("csv"), drawn);
  cli::write_json(json(), options_.common.json_path);
}

bool Options::gpu() const { return count_cuda_devices() > 0 && common.ncuda != 0; }

cli::Option* add_peers(cli::App& app, std::vector<std::string>& peers, const std::vector<std::string>& names,
                       const std::string& about) {
  return app.add_list("--peers,--methods", peers, "methods to run; the others are compared with the first" + about)
      ->check(cli::one_of(names));
}

void add_jobs(cli::App& app, std::vector<std::string>& jobs) {
  app.add_list("--jobs", jobs, "values, vectors: one job or two")
      ->check(cli::one_of({"values", "vectors"}))
      ->show_default();
}

int guarded(const std::function<void()>& body) {
  try {
    body();
  } catch (const WrongResult& error) {
    cli::print_error(fmt::format("tesela: {}", error.what()));
    return cli::numerical_failure;
  }
  return cli::done;
}

}  // namespace tesela::bench
