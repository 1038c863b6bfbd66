#pragma once

#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <thread>
#include <vector>

namespace tesela {

/// Returns a host matrix with elements element(i, j); all cores fill its columns.
template <class T, class Element>
HostMatrix<T> filled(Shape shape, const Element& element) {
  HostMatrix<T> a(shape.rows, shape.cols);
  if (a.size() == 0) return a;  // there may be very many empty columns
  const index_t threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> team;
  for (index_t t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      for (index_t j = t; j < shape.cols; j += threads)
        for (index_t i = 0; i < shape.rows; ++i) a(i, j) = element(i, j);
    });
  team.clear();
  return a;
}

/// Returns a generated host matrix.
template <class T>
HostMatrix<T> generate(Shape shape, Generator<T> element) {
  element.rows = shape.rows;
  element.columns = shape.cols;
  return filled<T>(shape, element);
}

}  // namespace tesela
