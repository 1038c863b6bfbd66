#pragma once

#include "tests/support/command.hpp"
#include "tests/support/machine.hpp"

#include <fstream>

namespace tesela::test {

inline const Command sem{{"sem"}};

/// A file of examples/econometrics.
inline std::string example(const std::string& name) {
  return data_directory() + "/../../examples/econometrics/" + name;
}

/// The options that name the model "food_market" there, and its data.
inline Words example_files(const std::string& name) {
  return {"--data", example(name + ".csv"), "--model", example(name + ".txt")};
}

/// Writes data and a model, and answers the options that name them.
struct Files {
  TemporaryFolder folder;
  Words operator()(const std::string& data, const std::string& model) const {
    std::ofstream(folder / "d.csv") << data;
    std::ofstream(folder / "m.txt") << model;
    return {"--data", folder / "d.csv", "--model", folder / "m.txt"};
  }
};

}  // namespace tesela::test
