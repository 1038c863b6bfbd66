#pragma once

#include "tests/support/commands/command.hpp"
#include "tests/support/machine.hpp"

#include <fstream>

namespace tesela::test {

inline const Command sem{{"sem"}};

/// Returns the path of a file in examples/econometrics.
inline std::string example(const std::string& name) {
  return data_directory() + "/../../examples/econometrics/" + name;
}

/// Returns the options that name a model there, such as "food_market", and its data.
inline Words example_files(const std::string& name) {
  return {"--data", example(name + ".csv"), "--model", example(name + ".txt")};
}

/// Returns the largest distance between a number of the coefficients of two reports, or the largest relative distance;
/// infinity if it is NaN or the coefficients are not the same ones.
inline double apart(const nlohmann::json& a, const nlohmann::json& b, const char* number = "estimate",
                    bool relative = false) {
  double most = a["equations"].size() == b["equations"].size() && !a["equations"].empty() ? 0 : INFINITY;
  for (std::size_t i = 0; std::isfinite(most) && i < a["equations"].size(); ++i) {
    const auto &x = a["equations"][i]["coefficients"], &y = b["equations"][i]["coefficients"];
    if (x.size() != y.size() || x.empty()) return INFINITY;
    for (std::size_t p = 0; p < x.size(); ++p) {
      const double from = x[p][number].get<double>(), to = y[p][number].get<double>(),
                   distance = std::abs(from - to) / (relative ? std::abs(to) : 1);
      most = x[p]["name"] == y[p]["name"] && std::isfinite(distance) ? std::max(most, distance) : INFINITY;
    }
  }
  return most;
}

/// Writes data and a model and returns the options that name them.
struct Files {
  TemporaryFolder folder;
  Words operator()(const std::string& data, const std::string& model) const {
    std::ofstream(folder / "d.csv") << data;
    std::ofstream(folder / "m.txt") << model;
    return {"--data", folder / "d.csv", "--model", folder / "m.txt"};
  }
};

}  // namespace tesela::test
