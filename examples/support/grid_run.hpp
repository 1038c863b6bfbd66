#pragma once

#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

// Options, progress and pictures of the examples adi_heat and adi_flow.

namespace grid_run {

using tesela::index_t;

inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= most)) most = difference;  // also for NaN
  }
  return most;
}

/// Writes an n x n field as a picture: red above 0, blue below, full colour at `size`; y points up.
inline void write_picture(const double* field, index_t n, double size, const std::string& path) {
  const index_t stride = tesela::ceil_div(n, index_t{1024}), pixels = tesela::ceil_div(n, stride);
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << pixels << ' ' << pixels << "\n255\n";
  for (index_t j = pixels - 1; j >= 0; --j)
    for (index_t i = 0; i < pixels; ++i) {
      const double value = std::clamp(field[i * stride + j * stride * n] / size, -1.0, 1.0);
      const auto pale = static_cast<char>(std::lround(255 * (1 - std::abs(value))));
      const char full = '\xff';
      file << (value >= 0 ? full : pale) << pale << (value >= 0 ? pale : full);
    }
  if (!file.flush()) throw tesela::EnvironmentError("cannot write " + path);
}

inline void show_progress(index_t step, index_t steps) {
  if (isatty(STDERR_FILENO) == 0) return;
  const auto done = static_cast<std::size_t>(40 * step / steps);
  std::fprintf(stderr, "\r[%-40s] step %lld of %lld", std::string(done, '#').c_str(), static_cast<long long>(step),
               static_cast<long long>(steps));
  if (step == steps) std::fprintf(stderr, "\r\x1b[K");
}

/// Name and help of a program, and its errors.
struct Usage {
  const char* program;
  const char* help;

  [[noreturn]] void refuse(const std::string& option, const std::string& value, const char* why) const {
    std::fprintf(stderr, "%s: %s %s: %s\n%s", program, option.c_str(), value.c_str(), why, help);
    std::exit(2);
  }
  /// Returns a positive number, whole unless `real`, from the text of an option.
  double positive(const std::string& option, const std::string& text, bool real) const {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end != '\0' || !(number > 0) || number > 1e9 || (!real && number != std::floor(number)))
      refuse(option, text, real ? "not a positive number" : "not a positive whole number");
    return number;
  }
  /// Calls set(option, value) for each option with a value, flag(option) for the others, which return false for an
  /// unknown one.
  template <class Flag, class Set>
  void parse(int argc, char** argv, Flag flag, Set set) const {
    for (int i = 1; i < argc; ++i) {
      const std::string option = argv[i];
      if (option == "--help" || option == "-h") {
        std::fputs(help, stdout);
        std::exit(0);
      }
      if (flag(option)) continue;
      if (i + 1 == argc) refuse(option, "", "unknown, or its value is missing");
      const std::string value = argv[++i];
      if (!set(option, value)) refuse(option, value, "unknown");
    }
  }
  /// Calls body() and returns the exit code: 0 if it returns true, 1 if false, 3 after an error.
  template <class Body>
  int run(Body body) const {
    try {
      const bool good = body();
      if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw tesela::EnvironmentError("standard output: cannot write");
      return good ? 0 : 1;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", program, e.what());
      return 3;
    }
  }
};

}  // namespace grid_run
