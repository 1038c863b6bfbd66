#include <tesela/codelets/tridiagonal/internal/parallel_reduction_body.hpp>
#include <tesela/codelets/tridiagonal/parallel_reduction.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace {

struct Alone {
  static index_t rank() { return 0; }
  static index_t size() { return 1; }
  static void sync() {}
};

}  // namespace

template <class T>
void ReduceSystems<T>::cpu(const Args& args, In<T> dl, In<T> d, In<T> du, InOut<T> b, Scratch<T> work, Scratch<index_t>,
                           Out<int> info) {
  index_t failure = parallel::no_failure;
  for (index_t s = 0; s < b.cols; ++s)
    parallel::solve_system<T>(args, dl, d, du, b, s, work.data, Alone{}, [&](index_t phase, index_t row) {
      failure = std::min(failure, parallel::failure_at(s, phase, row, b.rows));
    });
  *info.data = parallel::failure_status(failure, b.rows);
}

TESELA_STRUCTS_FOR_NUMBERS(ReduceSystems)

}  // namespace tesela::kernels
