#include "interfaces/python/arrays.hpp"

#include <tesela/algorithms/support/rearrange.hpp>
#include <tesela/runtime/graph.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tesela::python {
namespace {

constexpr auto float_code = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);

bool has_our_type(nb::dlpack::dtype type) {
  return type.code == float_code && (type.bits == 32 || type.bits == 64) && type.lanes == 1;
}

Library library_of(nb::handle given) {
  const std::string module = nb::cast<std::string>(given.type().attr("__module__"));
  if (module.starts_with("torch")) return Library::pytorch;
  if (module.starts_with("jax")) return Library::jax;
  return Library::numpy;
}

/// A copy in NumPy, of native float32 or float64.
nb::object in_our_type(const char* name, nb::handle given) {
  const auto numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(given);
  const nb::object type = array.attr("dtype");
  const std::string kind = nb::cast<std::string>(type.attr("kind"));
  const auto bytes = nb::cast<int>(type.attr("itemsize"));
  const char* wanted = nullptr;
  if (kind == "b" || kind == "i" || kind == "u" || (kind == "f" && bytes == 8))
    wanted = "float64";
  else if (kind == "f" && bytes <= 4)
    wanted = "float32";
  if (wanted == nullptr)
    throw nb::type_error((std::string(name) + " has numbers of type " + nb::cast<std::string>(nb::str(type)) +
                          ", not of float32 or float64")
                             .c_str());
  return numpy.attr("array")(array, "dtype"_a = wanted, "order"_a = "F");
}

[[noreturn]] void refuse(const char* name, const std::string& problem) {
  throw nb::value_error((std::string(name) + " " + problem).c_str());
}

template <class T, class S>
void copy_columns(const Argument& a, HostMatrix<T>& h) {
  const S* const from = static_cast<const S*>(a.data());
  const index_t rs = a.row_stride(), cs = a.col_stride();
  constexpr index_t edge = 32;  // of a block that is read and written in cache
  for (index_t j0 = 0; j0 < h.cols(); j0 += edge)
    for (index_t i0 = 0; i0 < h.rows(); i0 += rs == 1 ? h.rows() : edge)
      for (index_t j = j0; j < std::min(j0 + edge, h.cols()); ++j) {
        const index_t end = rs == 1 ? h.rows() : std::min(i0 + edge, h.rows());
        for (index_t i = i0; i < end; ++i) h(i, j) = static_cast<T>(from[i * rs + j * cs]);
      }
}

/// By tasks, from as many numbers on.
constexpr index_t worth_tasks = 1 << 18;
template <class T>
void turn(const c::Session& session, const Argument& a, HostMatrix<T>& h) {
  const TileShape tile{512, 512};
  const auto A = TileMatrix<T>::map(session, static_cast<const T*>(a.data()), a.cols(), a.rows(), a.row_stride(), tile);
  const auto B = TileMatrix<T>::map(session, h.data(), h.rows(), h.cols(), h.ld(), tile, "B");
  Graph g(session);
  rearrange(g, A, {.op = Op::transpose}, B);
  g.wait();
}

nb::object as_of(nb::object numpy_array, Library library) {
  switch (library) {
    case Library::numpy:
      break;
    case Library::pytorch:
      return nb::module_::import_("torch").attr("from_numpy")(numpy_array);
    case Library::jax:
      return nb::module_::import_("jax.numpy").attr("asarray")(numpy_array);
  }
  return numpy_array;
}

template <class T>
nb::object array_of(HostMatrix<T> matrix, bool vector, Library library) {
  const std::size_t rows = static_cast<std::size_t>(matrix.rows()), cols = static_cast<std::size_t>(matrix.cols());
  auto kept = std::make_unique<HostMatrix<T>>(std::move(matrix));
  T* const data = kept->data();
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<HostMatrix<T>*>(p); });
  kept.release();
  static T nothing;  // an array without elements has an address, too
  const std::size_t shape[] = {rows, cols};
  const nb::ndarray<nb::numpy, T, nb::f_contig> array(data != nullptr ? data : &nothing, vector ? 1 : 2, shape, owner);
  return as_of(nb::cast(array), library);
}

}  // namespace

Argument::Argument(const char* name, nb::handle given)
    : name_(name), object_(nb::borrow(given)), library_(library_of(given)) {
  const auto read = [&](nb::handle from) { return nb::try_cast(from, view_, false); };
  if (!read(given) || (view_.device_type() == nb::device::cpu::value && !has_our_type(view_.dtype())) ||
      reinterpret_cast<std::uintptr_t>(view_.data()) % (view_.itemsize() > 0 ? view_.itemsize() : 1) != 0) {
    object_ = in_our_type(name, given);
    converted_ = true;
    if (!read(object_)) throw nb::type_error((std::string(name) + " is no array").c_str());
  }
  if (view_.device_type() != nb::device::cpu::value)
    throw nb::type_error((std::string(name) + " is not in the host's memory").c_str());
  if (view_.ndim() != 1 && view_.ndim() != 2)
    refuse(name, "has " + std::to_string(view_.ndim()) + " dimensions, not 1 or 2");
  shape_ = {static_cast<index_t>(view_.shape(0)), is_vector() ? 1 : static_cast<index_t>(view_.shape(1))};
  row_stride_ = view_.stride(0);
  col_stride_ = is_vector() ? std::max<index_t>(shape_.rows, 1) : view_.stride(1);
  // JAX's arrays do not change. What else is written to must be given as such.
  nb::ndarray<> own;
  writable_ = !converted_ && library_ != Library::jax && nb::try_cast(given, own, false);
}

bool Argument::apart(std::initializer_list<const Argument*> others) const {
  const auto ends = [](const Argument& a) {  // of its bytes
    const auto* first = static_cast<const std::byte*>(a.data());
    const auto size = static_cast<index_t>(a.view_.itemsize());
    const index_t down = (a.rows() - 1) * a.row_stride() * size, right = (a.cols() - 1) * a.col_stride() * size;
    return std::pair(first + std::min<index_t>(down, 0) + std::min<index_t>(right, 0),
                     first + std::max<index_t>(down, 0) + std::max<index_t>(right, 0) + size);
  };
  if (rows() == 0 || cols() == 0) return true;
  const auto mine = ends(*this);
  return std::all_of(others.begin(), others.end(), [&](const Argument* other) {
    if (other->rows() == 0 || other->cols() == 0) return true;
    const auto theirs = ends(*other);
    return mine.second <= theirs.first || theirs.second <= mine.first;
  });
}

Argument Argument::transposed() const {
  Argument turned = *this;
  std::swap(turned.shape_.rows, turned.shape_.cols);
  std::swap(turned.row_stride_, turned.col_stride_);
  return turned;
}

void Argument::require_square() const {
  if (is_vector() || rows() != cols()) refuse(name_, "must be a square matrix, not " + to_string(shape_));
}
void Argument::require_rows(index_t wanted) const {
  if (rows() != wanted) refuse(name_, "has " + std::to_string(rows()) + " rows, not " + std::to_string(wanted));
}
void Argument::require_cols(index_t wanted) const {
  if (cols() != wanted) refuse(name_, "has " + std::to_string(cols()) + " columns, not " + std::to_string(wanted));
}
void Argument::require_vector() const {
  if (!is_vector()) refuse(name_, "must be a vector, not " + to_string(shape_));
}
void Argument::require_vector_of(index_t size) const {
  if (!is_vector() || rows() != size)
    refuse(name_, "must be a vector of " + std::to_string(size) + ", not " + to_string(shape_));
}

template <class T>
Columns<T>::Columns(const Argument& a, bool in_place, const c::Session* session)
    : c::Array<T>(a.name(), nullptr, {0, 0}, "ld", 1) {
  this->rows = a.rows();
  this->cols = a.cols();
  const bool by_columns =
      (a.row_stride() == 1 || a.rows() <= 1) && (a.col_stride() >= std::max<index_t>(a.rows(), 1) || a.cols() <= 1);
  if (in_place && by_columns && a.single() == (sizeof(T) == 4)) {
    this->data = const_cast<T*>(static_cast<const T*>(a.data()));
    this->ld = a.cols() <= 1 ? std::max<index_t>(a.rows(), 1) : a.col_stride();
    return;
  }
  copy_ = std::make_shared<HostMatrix<T>>(a.rows(), a.cols());
  if (session != nullptr && a.by_rows() && a.single() == (sizeof(T) == 4) && copy_->size() >= worth_tasks)
    turn<T>(*session, a, *copy_);
  else
    a.single() ? copy_columns<T, float>(a, *copy_) : copy_columns<T, double>(a, *copy_);
  this->data = copy_->data();
  this->ld = copy_->ld();
}

template <class T>
nb::object to_python(HostMatrix<T> matrix, Library library) {
  return array_of(std::move(matrix), false, library);
}
template <class T>
nb::object column_to_python(HostMatrix<T> matrix, Library library) {
  return array_of(std::move(matrix), true, library);
}
template <class T>
nb::object to_python(std::vector<T> numbers, Library library) {
  HostMatrix<T> column(static_cast<index_t>(numbers.size()), 1);
  std::copy(numbers.begin(), numbers.end(), column.data());
  return array_of(std::move(column), true, library);
}

nb::object counts_to_python(const std::vector<index_t>& counts) {
  return nb::module_::import_("numpy").attr("array")(counts, "dtype"_a = "int64");
}

template class Columns<float>;
template class Columns<double>;
template nb::object to_python(HostMatrix<float>, Library);
template nb::object to_python(HostMatrix<double>, Library);
template nb::object column_to_python(HostMatrix<float>, Library);
template nb::object column_to_python(HostMatrix<double>, Library);
template nb::object to_python(std::vector<float>, Library);
template nb::object to_python(std::vector<double>, Library);

}  // namespace tesela::python
