#pragma once

#include "tests/support/command.hpp"
#include "tests/support/machine.hpp"

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

}  // namespace tesela::test
