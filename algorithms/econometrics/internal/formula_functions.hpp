#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tesela::formulas {

/// Returns the function of one number with R's name; null without one.
double (*unary_function(std::string_view name))(double);

/// Returns the operator or function of two numbers with R's name; null without one.
double (*binary_function(std::string_view name))(double, double);

/// Returns whether an operator of binary_function() compares, so that its result is logical.
bool is_comparison(std::string_view name);

/// Returns the names of all functions for messages.
std::string function_names();

/// Returns the columns of R's poly(x, degree): polynomials of degree 1 to `degree` that are orthonormal on the elements
/// of x and orthogonal to 1, with positive leading coefficients. Elements where `used` is false are NaN and do not
/// count. Needs more distinct elements than the degree.
std::vector<std::vector<double>> orthogonal_polynomials(const std::vector<double>& x, const std::vector<bool>& used,
                                                        int degree);

}  // namespace tesela::formulas
