#include "interfaces/python/arrays.hpp"

#include <tesela/algorithms/support/matrix_tasks.hpp>
#include <tesela/runtime/graph.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace tesela::python {
namespace {

constexpr auto float_code = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float);

bool has_our_type(nb::dlpack::dtype type, Numbers accepted) {
  constexpr auto complex_code = static_cast<std::uint8_t>(nb::dlpack::dtype_code::Complex);
  if (type.code == complex_code && accepted == Numbers::complex_too)
    return (type.bits == 64 || type.bits == 128) && type.lanes == 1;
  return type.code == float_code && (type.bits == 32 || type.bits == 64) && type.lanes == 1;
}

constexpr const char* with_complex = "; docs/factorizations.md lists the functions of complex numbers";

/// The Python module that handles GPU arrays.
nb::object devices(const char* function) { return nb::module_::import_("tesela._devices").attr(function); }

/// Returns a copy in NumPy, of native numbers of an accepted type.
nb::object converted_copy(const char* name, nb::handle given, Numbers accepted) {
  const auto numpy = nb::module_::import_("numpy");
  const nb::object array = numpy.attr("asarray")(given);
  const nb::object type = array.attr("dtype");
  const std::string kind = nb::cast<std::string>(type.attr("kind"));
  const auto bytes = nb::cast<int>(type.attr("itemsize"));
  const char* wanted = nullptr;
  if (kind == "b" || kind == "i" || kind == "u" || (kind == "f" && bytes >= 8))
    wanted = "float64";
  else if (kind == "f")
    wanted = "float32";
  else if (kind == "c" && accepted == Numbers::complex_too)
    wanted = bytes >= 16 ? "complex128" : "complex64";
  if (wanted == nullptr)
    throw nb::type_error((std::string(name) + " has numbers of type " + nb::cast<std::string>(nb::str(type)) +
                          ", not of float32 or float64" + (kind == "c" ? with_complex : ""))
                             .c_str());
  return numpy.attr("array")(array, "dtype"_a = wanted, "order"_a = "F");
}

[[noreturn]] void refuse(const char* name, const std::string& problem) {
  throw nb::value_error((std::string(name) + " " + problem).c_str());
}

template <class T, class S>
void copy_strided(const Argument& a, HostMatrix<T>& h) {
  const S* const from = static_cast<const S*>(a.data());
  const index_t rs = a.row_stride(), cs = a.col_stride();
  constexpr index_t edge = 32;  // edge of a block that fits into the cache
  for (index_t j0 = 0; j0 < h.cols(); j0 += edge)
    for (index_t i0 = 0; i0 < h.rows(); i0 += rs == 1 ? h.rows() : edge)
      for (index_t j = j0; j < std::min(j0 + edge, h.cols()); ++j) {
        const index_t end = rs == 1 ? h.rows() : std::min(i0 + edge, h.rows());
        for (index_t i = i0; i < end; ++i) h(i, j) = tesela::converted<T>(from[i * rs + j * cs]);
      }
}

/// Copies a device array by columns or by rows to the host.
template <class T, class S>
void download(const Argument& a, HostMatrix<T>& h) {
  const bool turned = !a.by_columns();
  const Shape lies = turned ? Shape{a.cols(), a.rows()} : a.shape();
  HostMatrix<S> numbers(lies.rows, lies.cols);
  copy_columns(a.place().device, {numbers.data(), numbers.ld()},
               {const_cast<void*>(a.data()), turned ? a.row_stride() : a.col_stride()}, lies, sizeof(S));
  for (index_t j = 0; j < h.cols(); ++j)
    for (index_t i = 0; i < h.rows(); ++i) h(i, j) = tesela::converted<T>(turned ? numbers(j, i) : numbers(i, j));
}

/// Calls f(S()) with the type of the argument's numbers; T says whether they may be complex.
template <class T, class F>
void with_source(const Argument& a, const F& f) {
  if constexpr (is_complex<T>)
    if (a.complex()) return a.single() ? f(std::complex<float>()) : f(std::complex<double>());
  a.single() ? f(float()) : f(double());
}

/// Number of elements from which tasks transpose an array.
constexpr index_t worth_tasks = 1 << 18;
template <class T>
void turn(const c::Session& session, const Argument& a, NewMatrix<T>& turned) {
  const index_t edge = a.place().on_device() ? 16384 : 512;  // a tile has fewer than 2^32 elements
  const MatrixView<const T> transposed(static_cast<const T*>(a.data()), {a.cols(), a.rows()}, a.row_stride(),
                                       a.place().device);
  const auto A = transposed.in_tiles(session, {edge, edge});
  const auto B = turned.in_tiles(session, {edge, edge}, "B");
  Graph g(session);
  rearrange(g, A, {.op = Op::transpose}, B);
  g.wait();
}

template <class T>
nb::object host_array(HostMatrix<T> matrix, bool vector, Library library) {
  const std::size_t shape[] = {static_cast<std::size_t>(vector ? matrix.size() : matrix.rows()),
                               static_cast<std::size_t>(matrix.cols())};
  auto kept = std::make_unique<HostMatrix<T>>(std::move(matrix));
  T* const data = kept->data();
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<HostMatrix<T>*>(p); });
  kept.release();
  static T nothing;  // an array without elements also has an address
  const nb::ndarray<nb::numpy, T, nb::f_contig> array(data != nullptr ? data : &nothing, vector ? 1 : 2, shape, owner);
  nb::object numpy_array = nb::cast(array);
  if constexpr (std::is_same_v<T, index_t>)
    numpy_array = numpy_array.attr("astype")("int64");  // C has two types for int64
  if (library == Library::pytorch) return nb::module_::import_("torch").attr("from_numpy")(numpy_array);
  if (library == Library::jax) return nb::module_::import_("jax.numpy").attr("asarray")(numpy_array);
  return numpy_array;
}

template <class T>
nb::object device_array(DeviceBuffer buffer, Shape shape, bool vector, Library library) {
  const auto rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
  const std::size_t extents[] = {vector ? rows * cols : rows, cols};
  const std::int64_t strides[] = {1, std::max<std::int64_t>(shape.rows, 1)};
  auto kept = std::make_unique<DeviceBuffer>(std::move(buffer));
  void* const data = kept->data();
  const int device = kept->device();
  const nb::capsule owner(kept.get(), [](void* p) noexcept { delete static_cast<DeviceBuffer*>(p); });
  kept.release();
  const nb::ndarray<nb::array_api, T> array(data, vector ? 1 : 2, extents, owner, strides, nb::dtype<T>(),
                                            nb::device::cuda::value, device);
  return devices("adopt")(nb::cast(array), static_cast<int>(library));
}

}  // namespace

void require_unmasked(const char* name, nb::handle given) {
  if (!nb::hasattr(given, "mask")) return;
  const auto masked = nb::module_::import_("numpy.ma");
  if (nb::isinstance(given, masked.attr("MaskedArray")) && nb::cast<bool>(masked.attr("is_masked")(given)))
    refuse(name, "has masked elements: masked arrays are not supported; give filled() or compressed() arrays");
}

Argument::Argument(const char* name, nb::handle given, Numbers accepted)
    : name_(name), object_(nb::borrow(given)), accepted_(accepted) {
  const std::string module = nb::cast<std::string>(given.type().attr("__module__"));
  if (module.starts_with("torch")) place_.library = Library::pytorch;
  if (module.starts_with("jax")) place_.library = Library::jax;
  const bool plain = module == "numpy" || module == "builtins";
  if (!plain) require_unmasked(name, given);
  const nb::object found = plain ? nb::none() : devices("read")(given, name);
  if (found.is_none())
    read_host(given);
  else
    read_device(nb::cast<nb::tuple>(found));
}

void Argument::read_shape() {
  if (view_.ndim() != 1 && view_.ndim() != 2)
    refuse(name_, "has " + std::to_string(view_.ndim()) + " dimensions, not 1 or 2");
  shape_ = {static_cast<index_t>(view_.shape(0)), is_vector() ? 1 : static_cast<index_t>(view_.shape(1))};
  row_stride_ = view_.stride(0);
  col_stride_ = is_vector() ? std::max<index_t>(shape_.rows, 1) : view_.stride(1);
  if (shape_.rows == 0 || shape_.cols == 0) {  // empty arrays, to which libraries give any strides
    row_stride_ = 1;
    col_stride_ = std::max<index_t>(shape_.rows, 1);
  }
}

void Argument::read_host(nb::handle given) {
  const auto read = [&](nb::handle from) { return nb::try_cast(from, view_, false); };
  if (!read(given) || (view_.device_type() == nb::device::cpu::value && !has_our_type(view_.dtype(), accepted_)) ||
      reinterpret_cast<std::uintptr_t>(view_.data()) % (view_.itemsize() > 0 ? view_.itemsize() : 1) != 0) {
    object_ = converted_copy(name_, given, accepted_);
    converted_ = true;
    if (!read(object_)) throw nb::type_error((std::string(name_) + " is not an array").c_str());
  }
  if (view_.device_type() != nb::device::cpu::value)
    throw nb::type_error((std::string(name_) + " is neither in the host's memory nor on a CUDA device").c_str());
  read_shape();
  // JAX's arrays are immutable. Other arrays that are written to must be native.
  nb::ndarray<> own;
  writable_ = !converted_ && place_.library != Library::jax && nb::try_cast(given, own, false);
}

/// Stores the result of _devices.read.
void Argument::read_device(const nb::tuple& found) {
  const auto read = [&](const nb::tuple& what) {
    place_ = {static_cast<Library>(nb::cast<int>(what[0])), nb::cast<int>(what[1])};
    object_ = what[2];
    if (!nb::try_cast(nb::object(what[3]), view_, false))
      throw nb::type_error((std::string(name_) + " is not an array").c_str());
    read_shape();
  };
  const auto take_copy = [&](const nb::object& copy) {
    converted_ = true;
    read(nb::cast<nb::tuple>(devices("read")(copy, name_)));
  };
  read(found);
  if (!has_our_type(view_.dtype(), accepted_)) {
    using Code = nb::dlpack::dtype_code;
    const auto code = static_cast<Code>(view_.dtype().code);
    const bool whole = code == Code::Int || code == Code::UInt || code == Code::Bool;
    if (whole || (view_.dtype().bits == 16 && code != Code::Complex))
      take_copy(devices("converted")(object_, whole ? "float64" : "float32"));
    if (!has_our_type(view_.dtype(), accepted_))
      throw nb::type_error((std::string(name_) + " has numbers of another type than float32 and float64" +
                            (code == Code::Complex ? with_complex : ""))
                               .c_str());
  }
  if (!by_columns() && !by_rows()) take_copy(devices("without_gaps")(object_));
  writable_ = !converted_ && place_.library != Library::jax;
}

bool Argument::apart(std::initializer_list<const Argument*> others) const {
  const auto ends = [](const Argument& a) {  // first and last byte
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
void Argument::require_rows(index_t wanted, index_t or_wanted) const {
  if (rows() != wanted && rows() != or_wanted)
    refuse(name_, "has " + std::to_string(rows()) + " rows, not " + std::to_string(wanted) + " or " +
                      std::to_string(or_wanted));
}

void Argument::require_vector_of(index_t size) const {
  if (!is_vector() || rows() != size)
    refuse(name_, "must be a vector of " + std::to_string(size) + ", not " + to_string(shape_));
}

bool is_single(nb::handle dtype) {
  const nb::object type = nb::module_::import_("numpy").attr("dtype")(dtype);
  const auto name = nb::cast<std::string>(type.attr("name"));
  if (name != "float32" && name != "float64") throw nb::type_error("dtype must be float32 or float64");
  return name == "float32";
}

void require_together(std::initializer_list<const Argument*> arguments) {
  const Argument& first = **arguments.begin();
  for (const Argument* a : arguments) {
    const auto problem = [&](const std::string& text) {
      return nb::type_error((std::string(first.name()) + " and " + a->name() + text).c_str());
    };
    if (a->place().device != first.place().device) throw problem(" lie in different memories, of the host or of a GPU");
    if (a->place().on_device() && (a->single() != first.single() || a->complex() != first.complex()))
      throw problem(" have numbers of different types, on a GPU: convert one");
  }
}

template <class T>
NewMatrix<T>::NewMatrix(Shape shape, const Place& place)
    : place_(place), shape_(shape), memory_(HostMatrix<T>(place.on_device() ? 0 : shape.rows, shape.cols)) {
  if (place.on_device())
    memory_ = DeviceBuffer(place.device, static_cast<std::size_t>(shape.rows * shape.cols) * sizeof(T));
}

template <class T>
NewMatrix<T>::NewMatrix(HostMatrix<T> numbers, const Place& place)
    : place_(place), shape_(numbers.shape()), memory_(std::move(numbers)) {
  if (!place.on_device()) return;
  auto& host = std::get<HostMatrix<T>>(memory_);
  DeviceBuffer there(place.device, static_cast<std::size_t>(host.size()) * sizeof(T));
  copy_columns(place.device, {there.data(), ld()}, {host.data(), host.ld()}, shape_, sizeof(T));
  memory_ = std::move(there);
}

template <class T>
T* NewMatrix<T>::data() {
  if (auto* host = std::get_if<HostMatrix<T>>(&memory_)) return host->data();
  return static_cast<T*>(std::get<DeviceBuffer>(memory_).data());
}

template <class T>
HostMatrix<T> NewMatrix<T>::on_host() && {
  if (auto* host = std::get_if<HostMatrix<T>>(&memory_)) return std::move(*host);
  HostMatrix<T> numbers(shape_.rows, shape_.cols);
  copy_columns(place_.device, {numbers.data(), numbers.ld()}, {data(), ld()}, shape_, sizeof(T));
  return numbers;
}

template <class T>
nb::object NewMatrix<T>::to_python(bool vector) && {
  if (auto* host = std::get_if<HostMatrix<T>>(&memory_)) return host_array(std::move(*host), vector, place_.library);
  return device_array<T>(std::move(std::get<DeviceBuffer>(memory_)), shape_, vector, place_.library);
}

template <class T>
NewMatrix<T> copied_to(const c::Session& session, const TileMatrix<T>& X, const Place& place) {
  NewMatrix<T> copy(Shape{X.m(), X.n()}, place);
  if (place.on_device()) {
    Graph g(session);
    rearrange(g, X, {}, copy.in_tiles(session, X.tile_shape(), "X"));
    g.wait();
  } else {
    X.copy_to(copy.data(), copy.ld());
  }
  return copy;
}

template <class T>
Columns<T>::Columns(const Argument& a, bool in_place, const c::Session* session)
    : c::Array<T>(a.name(), nullptr, {0, 0}, "ld", 1) {
  this->rows = a.rows();
  this->cols = a.cols();
  this->device = a.place().device;
  if (in_place && a.by_columns() && a.has<T>()) {
    this->data = const_cast<T*>(static_cast<const T*>(a.data()));
    this->ld = a.cols() <= 1 ? std::max<index_t>(a.rows(), 1) : a.col_stride();
    return;
  }
  const bool by_tasks = a.by_rows() && !a.by_columns() && session != nullptr && a.has<T>();
  if (this->device >= 0 && a.by_columns()) {
    copy_ = std::make_shared<NewMatrix<T>>(Shape{a.rows(), a.cols()}, a.place());
    copy_columns(this->device, {copy_->data(), copy_->ld()}, {const_cast<void*>(a.data()), a.col_stride()},
                 {a.rows(), a.cols()}, sizeof(T));
  } else if (by_tasks && (this->device >= 0 || a.rows() * a.cols() >= worth_tasks)) {
    copy_ = std::make_shared<NewMatrix<T>>(Shape{a.rows(), a.cols()}, a.place());
    turn<T>(*session, a, *copy_);
  } else {
    HostMatrix<T> numbers(a.rows(), a.cols());
    with_source<T>(a, [&]<class S>(S) { copy_strided<T, S>(a, numbers); });
    copy_ = std::make_shared<NewMatrix<T>>(std::move(numbers), a.place());
  }
  this->data = copy_->data();
  this->ld = copy_->ld();
}

template <class T>
Columns<T> Columns<T>::on_host(const Argument& a) {
  if (!a.place().on_device()) return Columns(a, true, nullptr);
  HostMatrix<T> numbers(a.rows(), a.cols());
  with_source<T>(a, [&]<class S>(S) { download<T, S>(a, numbers); });
  return Columns(a, std::make_shared<NewMatrix<T>>(std::move(numbers), Place{}));
}

template <class T>
Columns<T>::Columns(const Argument& a, std::shared_ptr<NewMatrix<T>> copy)
    : c::Array<T>(a.name(), copy->data(), {a.rows(), a.cols()}, "ld", copy->ld()), copy_(std::move(copy)) {}

template <class T>
void Columns<T>::zero_below_blocks(index_t order) const {
  for (index_t j = 0; j + order < this->rows; j += order) {
    const index_t width = std::min(order, this->cols - j), height = this->rows - j - order;
    T* const below = this->data + j + order + j * this->ld;
    if (this->device >= 0)
      zero_columns(this->device, {below, this->ld}, {height, width}, sizeof(T));
    else
      for (index_t k = 0; k < width; ++k) std::fill_n(below + k * this->ld, height, T(0));
  }
}

template <class T>
HostMatrix<T> Columns<T>::copy() const {
  if (this->device < 0) return c::Array<T>::copy();
  HostMatrix<T> numbers(this->rows, this->cols);
  copy_columns(this->device, {numbers.data(), numbers.ld()}, {this->data, this->ld}, numbers.shape(), sizeof(T));
  return numbers;
}

template class NewMatrix<int>;
template class NewMatrix<index_t>;
template class NewMatrix<std::uint8_t>;
TESELA_CLASSES_FOR_NUMBERS(NewMatrix, Columns)
TESELA_FUNCTIONS_FOR_NUMBERS(copied_to)

}  // namespace tesela::python
