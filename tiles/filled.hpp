#pragma once

#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>

namespace tesela {

/// Returns a matrix with elements element(i, j). All cores compute its columns.
template <class T, class Element>
HostMatrix<T> filled(Shape shape, const Element& element) {
  constexpr index_t elements_per_thread = 4096;  // elements
  HostMatrix<T> a(shape.rows, shape.cols);
  if (a.size() == 0) return a;  // without a loop over as many empty columns as an index can count
  parallel_for(shape.cols, ceil_div(elements_per_thread, shape.rows), [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j)
      for (index_t i = 0; i < shape.rows; ++i) a(i, j) = element(i, j);
  });
  return a;
}

/// Copies all elements of `from` to `to`, a matrix of the same shape. All cores copy.
template <class T>
void copy_elements(const HostMatrix<T>& from, HostMatrix<T>& to) {
  constexpr index_t block = 1 << 18;  // elements
  parallel_for(from.size(), block, [&](index_t first, index_t end) {
    std::copy(from.data() + first, from.data() + end, to.data() + first);
  });
}

/// Returns a generated matrix.
template <class T>
HostMatrix<T> generate(Shape shape, Generator<T> element) {
  element.rows = shape.rows;
  element.columns = shape.cols;
  return filled<T>(shape, element);
}

}  // namespace tesela
