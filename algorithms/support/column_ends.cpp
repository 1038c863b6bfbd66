#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/runtime/errors.hpp>

#include <algorithm>
#include <string>

namespace tesela {

template <class T>
std::vector<index_t> column_ends(const HostMatrix<T>& a) {
  std::vector<index_t> ends;
  if (a.rows() == 0) return ends;
  bool any = false;
  for (index_t j = 0; j < a.cols(); ++j) {
    index_t end = a.rows();
    while (end > 0 && a(end - 1, j) == T(0)) --end;
    ends.push_back(end);
    any = any || end < a.rows();
  }
  return any ? ends : std::vector<index_t>{};
}

void require_column_ends(const char* routine, const std::vector<index_t>& ends, index_t m, index_t n) {
  if (ends.empty()) return;
  if (static_cast<index_t>(ends.size()) != n)
    throw ArgumentError(routine, "options.ends",
                        std::to_string(ends.size()) + " for " + std::to_string(n) + " columns");
  for (const index_t end : ends)
    if (end < 0 || end > m)
      throw ArgumentError(routine, "options.ends", std::to_string(end) + " is not in 0 ... " + std::to_string(m));
}

template std::vector<index_t> column_ends(const HostMatrix<float>&);
template std::vector<index_t> column_ends(const HostMatrix<double>&);

}  // namespace tesela
