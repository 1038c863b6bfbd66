#pragma once

#include "algorithms/toeplitz.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// How a method's solve ended.
struct ToeplitzSolved {
  std::string failure;              ///< empty where there was none
  index_t order = 0;                ///< of the leading minor where a recursion broke down
  std::optional<index_t> negative;  ///< pivots: T's eigenvalues below sigma, where the method counts them
  std::optional<double> growth;     ///< of a recursion's numbers
};

/// A way of `tesela toeplitz solve`. Another one is another line in toeplitz_methods.cpp's list.
template <class T>
struct ToeplitzMethod {
  const char* name;
  const char* about;
  /// X <- (T - sigma I)^-1 X, X in one tile; waits for the graph.
  ToeplitzSolved (*solve)(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& X);
};

/// All of them; the same names for every T.
template <class T>
const std::vector<ToeplitzMethod<T>>& toeplitz_methods();

}  // namespace tesela::cli
