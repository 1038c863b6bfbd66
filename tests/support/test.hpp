#pragma once

// Catch2, the standard headers and the names that nearly every test needs.

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tesela::test {
using namespace tesela;  // a test opens both by one directive
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;
}  // namespace tesela::test
