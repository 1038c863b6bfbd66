#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/io/row_file.hpp>

namespace tesela {

template <class T>
RowFile<T>::RowFile(const std::string& path, Shape shape) : file_(path), row_(static_cast<std::size_t>(shape.cols)) {
  file_.write(npy::header_text<T>(shape, true));
}

template <class T>
void RowFile<T>::append(const Block<T>& rows) {
  for (index_t i = 0; i < rows.rows; ++i) {
    for (index_t j = 0; j < rows.cols; ++j) row_[static_cast<std::size_t>(j)] = rows(i, j);
    file_.write(row_.data(), row_.size() * sizeof(T));
  }
}

template class RowFile<float>;
template class RowFile<double>;

}  // namespace tesela
