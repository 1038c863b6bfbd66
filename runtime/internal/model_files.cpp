#include <tesela/runtime/internal/environment.hpp>
#include <tesela/runtime/internal/model_entries.hpp>
#include <tesela/runtime/internal/simulation.hpp>

#include <starpu.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <unistd.h>
#include <vector>

namespace tesela::detail {
namespace {

constexpr unsigned long known_version = 45;

bool parses(const std::string& word, double& value) {
  char* end = nullptr;
  value = std::strtod(word.c_str(), &end);
  return !word.empty() && end == word.c_str() + word.size();
}

/// Reads a model's text number by number; lines that begin with # are comments.
class ModelNumbers {
 public:
  explicit ModelNumbers(const std::string& text) : in_(text) {}

  bool wrong() const { return wrong_ || !in_; }

  unsigned long count() {
    const std::string word = next();
    constexpr std::size_t most_digits = 6;
    if (!word.empty() && word.size() <= most_digits &&
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      return std::strtoul(word.c_str(), nullptr, 10);
    wrong_ = true;
    return 0;
  }
  void numbers(unsigned long many) {
    for (double value = 0; many > 0 && !wrong(); --many) wrong_ = !parses(next(), value);
  }
  /// Reads a line: a footprint (hexadecimal), a size, flops (absent in older releases), and five numbers, for which
  /// StarPU does not accept NaN. Returns it, for a worker of this kind.
  ModelEntry entry(bool on_gpu) {
    constexpr std::size_t numbers = 7, flops = 2;
    while ((in_ >> std::ws).peek() == '#') skip_line();
    std::string line, word;
    std::getline(in_, line);
    std::istringstream words(line);
    words >> word;
    bool right =
        !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
    std::vector<double> values;
    for (double value = 0; words >> word; values.push_back(value)) right = right && parses(word, value);
    if (values.size() == numbers - 1) values.insert(values.begin() + (flops - 1), 0);
    if (values.size() == numbers &&
        !(values[flops - 1] < std::numeric_limits<double>::infinity() && values[flops - 1] >= 0))
      values[flops - 1] = 0;  // unknown
    right = right && values.size() == numbers &&
            std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v) && v >= 0; });
    wrong_ = wrong_ || !right;
    if (!right) return {};
    const auto footprint = static_cast<std::uint32_t>(std::strtoul(line.c_str(), nullptr, 16));
    return {on_gpu, footprint, values[0], values[1], values[2], values[3], static_cast<index_t>(values[6])};
  }

 private:
  std::string next() {
    std::string word;
    while (in_ >> word && word.front() == '#') skip_line();
    return word;
  }
  void skip_line() { in_.ignore(std::numeric_limits<std::streamsize>::max(), '\n'); }

  std::istringstream in_;
  bool wrong_ = false;
};

std::string contents(int file) {
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = pread(file, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

/// Returns the entries of the first variants; nothing for a wrong text.
std::optional<std::vector<ModelEntry>> entries_of(const std::string& model) {
  constexpr unsigned long of_regressions = 12, cuda = STARPU_CUDA_WORKER;
  std::vector<ModelEntry> all;
  ModelNumbers text(model);
  if (text.count() != known_version) return std::nullopt;
  for (unsigned long kinds = text.count(); kinds > 0 && !text.wrong(); --kinds) {
    bool on_gpu = false;
    for (unsigned long devices = text.count(); devices > 0 && !text.wrong(); --devices) {
      on_gpu = text.count() == cuda;
      text.numbers(1);  // which
      text.count();     // cores
    }
    const unsigned long variants = text.count();
    for (unsigned long variant = 0; variant < variants && !text.wrong(); ++variant) {
      unsigned long entries = text.count();
      text.numbers(of_regressions);
      text.numbers(text.count());  // coefficients
      for (; entries > 0 && !text.wrong(); --entries) {
        const ModelEntry entry = text.entry(on_gpu);
        if (variant == 0) all.push_back(entry);
      }
    }
  }
  if (text.wrong()) return std::nullopt;
  return all;
}

}  // namespace

bool is_unreadable(const std::string& model, const std::string& version) {
  if (model.empty() || model.back() != '\n') return !model.empty();
  if (version != std::to_string(known_version)) return false;
  return !entries_of(model);
}

std::vector<ModelEntry> read_model(const std::string& model) {
  return entries_of(model).value_or(std::vector<ModelEntry>{});
}

std::uint32_t footprint_with_flops(std::uint32_t footprint, double flops) {
  if (!(flops > 0)) return footprint;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4e", flops);
  for (const char* digit = digits; *digit != 0; ++digit)  // FNV-1a
    footprint = (footprint ^ static_cast<unsigned char>(*digit)) * 16777619u;
  return footprint;
}

bool models_separate_flops() {
  static const bool set = std::getenv(separate_flops_variable) != nullptr;
  return simulates || set;
}

void remove_if_unreadable(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  const std::string version = std::filesystem::path(path).parent_path().filename();
  const auto unreadable = [&] { return is_unreadable(contents(file), version); };
  struct flock whole {};  // the same lock as StarPU uses for writing
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (unreadable() && fcntl(file, F_SETLK, &whole) == 0 && unreadable()) unlink(path.c_str());
  close(file);
}

}  // namespace tesela::detail
