#pragma once

#include <CLI/CLI.hpp>

namespace tesela::cli {

/// What an option's number must be, in one short line where it is not. A whole number may be written as 1e3.
/// Use: app.add_option("--n", n)->transform(positive()).
CLI::Validator positive();
CLI::Validator non_negative();
/// A seed has one bit more.
CLI::Validator seed_number();
CLI::Validator positive_up_to(double largest);  ///< above 0, and at most that
CLI::Validator between(double least, double largest);

}  // namespace tesela::cli
