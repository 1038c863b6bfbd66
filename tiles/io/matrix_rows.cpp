#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>
#include <tesela/tiles/io/npy.hpp>

namespace tesela {

template <class T>
MatrixRows<T>::MatrixRows(const std::string& path) : path_(path), file_(path) {
  if (!npy::recognise(file_.bytes()))
    throw FileError(path, "only .npy files can be read by rows; convert it first (numpy.save)");
  header_ = npy::parse_header(file_.bytes(), path);
}

template <class T>
void MatrixRows<T>::read(index_t first, const Block<T>& out) const {
  if (first < 0 || out.rows < 0 || first > m() || out.rows > m() - first)
    throw ArgumentError(
        "MatrixRows::read", "first",
        "rows " + std::to_string(first) + "+" + std::to_string(out.rows) + " of " + std::to_string(m()));
  if (out.cols != n())
    throw ArgumentError("MatrixRows::read", "out",
                        std::to_string(out.cols) + " columns; the file has " + std::to_string(n()));
  npy::read_rows(file_.bytes(), header_, path_, first, out);
}

template class MatrixRows<float>;
template class MatrixRows<double>;

}  // namespace tesela
