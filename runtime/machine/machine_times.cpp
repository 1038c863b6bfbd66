#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/model_entries.hpp>
#include <tesela/runtime/machine/machine_times.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <tuple>

namespace tesela {
namespace {

constexpr const char* heading = "kernel,worker,shape,bytes,flops,seconds,deviation,samples";
constexpr const char *core = "core", *gpu = "gpu";

/// Returns the shortest text that reads as this number.
std::string text_of(double number) {
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, number);
    if (std::strtod(text, nullptr) == number) break;
  }
  return text;
}

/// Reads the fields of one line.
class Fields {
 public:
  Fields(const std::string& path, std::size_t number, const std::string& line)
      : where_(path + ", line " + std::to_string(number)), line_(line) {}
  std::string word() {
    std::string field;
    if (!std::getline(line_, field, ',') || field.empty()) refuse("a field is missing");
    return field;
  }
  double number(int base = 10) {
    const std::string field = word();
    char* end = nullptr;
    const double value =
        base == 10 ? std::strtod(field.c_str(), &end) : static_cast<double>(std::strtoul(field.c_str(), &end, base));
    if (*end != 0 || !std::isfinite(value) || value < 0) refuse("'" + field + "' is not a number >= 0");
    return value;
  }
  [[noreturn]] void refuse(const std::string& problem) const { throw FileError(where_, problem); }
  void end() {
    if (std::string rest; std::getline(line_, rest)) refuse("more than 8 fields");
  }

 private:
  std::string where_;
  std::istringstream line_;
};

/// A measure that differs between precisions, but not between square tiles of different sizes.
double precision_measure(double bytes, double flops) { return 3 * std::log(bytes) - 2 * std::log(flops); }
/// Half of its difference between single and double precision.
constexpr double like = 1.04;

bool alike(const KernelTime& time, double bytes, double flops) {
  if (bytes <= 0 || time.bytes <= 0 || flops <= 0 || time.flops <= 0) return true;
  return std::abs(precision_measure(time.bytes, time.flops) - precision_measure(bytes, flops)) < like;
}

}  // namespace

std::string to_csv(const std::vector<KernelTime>& times) {
  std::string text = std::string(heading) + '\n';
  char shape[16];
  for (const KernelTime& t : times) {
    std::snprintf(shape, sizeof shape, "%08x", t.shape);
    text += t.kernel + ',' + (t.on_gpu ? gpu : core) + ',' + shape + ',' + text_of(t.bytes) + ',' + text_of(t.flops) +
            ',' + text_of(t.seconds) + ',' + text_of(t.deviation) + ',' + std::to_string(t.samples) + '\n';
  }
  return text;
}

std::vector<KernelTime> read_kernel_times(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) throw FileError(path, "cannot be read");
  std::string problem = "line 1 is not ";
  if (line != heading) throw FileError(path, problem += heading);
  std::vector<KernelTime> times;
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    Fields fields(path, number, line);
    KernelTime t;
    t.kernel = fields.word();
    const std::string worker = fields.word();
    if (worker != core && worker != gpu) fields.refuse("'" + worker + "' is neither core nor gpu");
    t.on_gpu = worker == gpu;
    t.shape = static_cast<std::uint32_t>(fields.number(16));
    t.bytes = fields.number();
    t.flops = fields.number();
    t.seconds = fields.number();
    t.deviation = fields.number();
    t.samples = static_cast<index_t>(fields.number());
    fields.end();
    times.push_back(std::move(t));
  }
  return times;
}

std::vector<KernelTime> modelled_times(const std::string& folder, const std::string& host) {
  std::vector<KernelTime> times;
  std::error_code none;
  for (auto entry = std::filesystem::recursive_directory_iterator(folder, none);
       entry != std::filesystem::recursive_directory_iterator(); entry.increment(none)) {
    if (!entry->is_regular_file(none) || entry->path().extension() != "." + host) continue;
    std::ifstream file(entry->path());
    std::stringstream text;
    text << file.rdbuf();
    for (const detail::ModelEntry& e : detail::read_model(text.str()))
      times.push_back({entry->path().stem(), e.on_gpu, e.footprint, e.bytes, e.flops, 1e-6 * e.mean, 1e-6 * e.deviation,
                       e.samples});
  }
  std::sort(times.begin(), times.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::tie(a.kernel, a.on_gpu, a.flops, a.bytes, a.shape) <
           std::tie(b.kernel, b.on_gpu, b.flops, b.bytes, b.shape);
  });
  return times;
}

KernelTimes::KernelTimes(std::vector<KernelTime> times) {
  for (KernelTime& t : times)
    if (t.samples > 0 && t.seconds > 0) times_[{t.kernel, t.on_gpu}].push_back(std::move(t));
  for (auto& [key, some] : times_)
    std::sort(some.begin(), some.end(), [](const KernelTime& a, const KernelTime& b) {
      return std::tie(a.flops, a.bytes, a.shape) < std::tie(b.flops, b.bytes, b.shape);
    });
}

bool KernelTimes::has(std::string_view kernel, bool on_a_gpu) const {
  return times_.contains({std::string(kernel), on_a_gpu});
}

KernelTimes::Found KernelTimes::find(std::string_view kernel, bool on_a_gpu, std::uint32_t shape, double bytes,
                                     double flops) const {
  const std::vector<KernelTime>& all = times_.at({std::string(kernel), on_a_gpu});
  for (const KernelTime& t : all)
    if (t.shape == shape) return {t.seconds, true};
  // StarPU keeps no flops of a shape whose tasks differ in them.
  const bool by_flops = flops > 0 && std::any_of(all.begin(), all.end(), [](const auto& t) { return t.flops > 0; });
  const auto size_of = [&](const KernelTime& t) { return std::max(by_flops ? t.flops : t.bytes, 1.0); };
  const double size = std::max(by_flops ? flops : bytes, 1.0);
  const auto counts = [&](const KernelTime& t) { return !by_flops || t.flops > 0; };
  const bool some_alike =
      std::any_of(all.begin(), all.end(), [&](const auto& t) { return counts(t) && alike(t, bytes, flops); });
  const KernelTime *below = nullptr, *above = nullptr;
  for (const KernelTime& t : all) {
    if (!counts(t) || (some_alike && !alike(t, bytes, flops))) continue;
    if (size_of(t) <= size && (below == nullptr || size_of(t) >= size_of(*below))) below = &t;
    if (size_of(t) >= size && (above == nullptr || size_of(t) < size_of(*above))) above = &t;
  }
  if (below == nullptr || above == nullptr) {
    const KernelTime& nearest = below != nullptr ? *below : *above;
    return {nearest.seconds * size / size_of(nearest), false};
  }
  const double first = size_of(*below), second = size_of(*above);
  const double part = second > first ? std::log(size / first) / std::log(second / first) : 0;
  return {below->seconds * std::pow(above->seconds / below->seconds, part), false};
}

}  // namespace tesela
