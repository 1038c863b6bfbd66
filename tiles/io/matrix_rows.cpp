#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tesela {

template <class T>
MatrixRows<T>::MatrixRows(const std::string& path, Nans nans, Counted counts)
    : path_(path), file_(path), nans_(nans), counts_(std::move(counts)) {
  if (!npy::recognise(file_.bytes()))
    throw FileError(path, "only .npy files can be read by rows; convert it first (numpy.save)");
  header_ = npy::parse_header(file_.bytes(), path, is_complex<T>);
}

template <class T>
void MatrixRows<T>::read(index_t first, const Block<T>& out, std::span<const index_t> columns) const {
  require(first >= 0 && out.rows >= 0 && first <= m() && out.rows <= m() - first, "MatrixRows::read", "first", "rows ",
          first, "+", out.rows, " of ", m());
  require(out.cols == (columns.empty() ? n() : std::ssize(columns)), "MatrixRows::read", "out", out.cols,
          " columns; the file has ", n());
  for (const index_t c : columns) require(c >= 0 && c < n(), "MatrixRows::read", "columns", c, " of ", n());
  npy::read_rows(file_.bytes(), header_, path_, first, out, columns, nans_ == Nans::kept, counts_);
}

namespace {

constexpr index_t rows_at_once = 512;

/// Reads rows of a file; negative columns are ones.
template <class T>
void read_columns(const MatrixRows<T>& file, const std::vector<index_t>& columns, index_t first, const Block<T>& out) {
  const auto part = [&](index_t j, index_t cols) { return Block<T>{&out(0, j), out.rows, cols, out.ld}; };
  if (columns.empty()) return file.read(first, part(0, out.cols));
  for (index_t j = 0; j < out.cols;) {
    const auto begin = columns.begin() + j;
    const auto end = std::find_if(begin, columns.end(), [&](index_t c) { return (c < 0) != (*begin < 0); });
    const index_t cols = end - begin;
    if (*begin >= 0)
      file.read(first, part(j, cols), std::span(begin, end));
    else
      for (index_t k = 0; k < cols; ++k) std::fill_n(&out(0, j + k), out.rows, T(1));
    j += cols;
  }
}

/// Reads these ascending rows; neighbouring rows are read together.
template <class T>
void read_some(const MatrixRows<T>& file, const std::vector<index_t>& columns, std::span<const index_t> rows,
               const Block<T>& out) {
  for (std::size_t from = 0, to = 0; from < rows.size(); from = to) {
    while (to < rows.size() && rows[to] < rows[from] + rows_at_once) ++to;
    const auto at = static_cast<index_t>(from);
    const index_t first = rows[from], count = static_cast<index_t>(to) - at, span = rows[to - 1] + 1 - first;
    if (span == count) {
      read_columns(file, columns, first, {&out(at, 0), count, out.cols, out.ld});
      continue;
    }
    HostMatrix<T> all(span, out.cols);
    read_columns(file, columns, first, {all.data(), span, out.cols, all.ld()});
    for (index_t j = 0; j < out.cols; ++j)
      for (index_t k = 0; k < count; ++k) out(at + k, j) = all(rows[from + static_cast<std::size_t>(k)] - first, j);
  }
}

}  // namespace

template <class T>
RowSource<T> rows_of(std::shared_ptr<const MatrixRows<T>> file, std::vector<index_t> columns,
                     std::optional<std::vector<index_t>> rows) {
  const index_t m = rows ? std::ssize(*rows) : file->m(), n = columns.empty() ? file->n() : std::ssize(columns);
  for (const index_t c : columns) require(c < file->n(), "rows_of", "columns", c, " of ", file->n());
  const auto which = std::make_shared<const std::optional<std::vector<index_t>>>(std::move(rows));
  const auto read = [file = std::move(file), columns = std::move(columns), which](index_t first, const Block<T>& out) {
    parallel_for(out.rows, rows_at_once, [&](index_t at, index_t end) {
      const index_t some = end - at;
      const Block<T> part{&out(at, 0), some, out.cols, out.ld};
      if (*which)
        read_some(*file, columns, std::span(**which).subspan(static_cast<std::size_t>(first + at), some), part);
      else
        read_columns(*file, columns, first + at, part);
    });
  };
  return {m, n, read};
}

template <class T>
std::optional<std::vector<index_t>> rows_without_nan(const MatrixRows<T>& file, const std::vector<index_t>& columns) {
  std::vector<index_t> some = columns;
  std::erase_if(some, [](index_t c) { return c < 0; });
  const index_t n = columns.empty() ? file.n() : std::ssize(some);
  std::vector<char> lacking(static_cast<std::size_t>(file.m()));
  parallel_for(n == 0 ? 0 : file.m(), rows_at_once, [&](index_t first, index_t end) {
    const index_t count = end - first;
    HostMatrix<T> part(count, n);
    file.read(first, {part.data(), count, part.cols(), part.ld()}, some);
    for (index_t j = 0; j < part.cols(); ++j)
      for (index_t i = 0; i < count; ++i)
        if (std::isnan(part(i, j))) lacking[static_cast<std::size_t>(first + i)] = 1;
  });
  if (std::find(lacking.begin(), lacking.end(), 1) == lacking.end()) return std::nullopt;
  std::vector<index_t> rows;
  for (index_t i = 0; i < file.m(); ++i)
    if (lacking[static_cast<std::size_t>(i)] == 0) rows.push_back(i);
  return rows;
}

#define TESELA_INSTANTIATE(T)                                                               \
  template class MatrixRows<T>;                                                             \
  template RowSource<T> rows_of(std::shared_ptr<const MatrixRows<T>>, std::vector<index_t>, \
                                std::optional<std::vector<index_t>>);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)
template std::optional<std::vector<index_t>> rows_without_nan(const MatrixRows<double>&, const std::vector<index_t>&);

}  // namespace tesela
