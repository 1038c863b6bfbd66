#pragma once

#include "tests/support/command.hpp"
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
