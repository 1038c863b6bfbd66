#include <tesela/algorithms/support/column_ends.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>

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
  require(static_cast<index_t>(ends.size()) == n, routine, "options.ends", ends.size(), " for ", n, " columns");
  for (const index_t end : ends) require(end >= 0 && end <= m, routine, "options.ends", end, " is not in 0 ... ", m);
}

TESELA_FUNCTIONS_FOR_NUMBERS(column_ends)

}  // namespace tesela
