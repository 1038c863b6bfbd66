// Matrices from and to files.
#include "interfaces/python/results.hpp"
#include <tesela/tiles/io/file_formats.hpp>

#include <nanobind/stl/filesystem.h>

namespace tesela::python {
namespace {

template <class F>
auto without_python(F f) {
  const nb::gil_scoped_release free;
  return f();
}

AnyArray read(const std::filesystem::path& path, nb::handle dtype) {
  const bool single =
      dtype.is_none() ? probe_matrix(path.string()).precision == FilePrecision::single_precision : is_single(dtype);
  if (single) return to_python(without_python([&] { return read_matrix<float>(path.string()); }));
  return to_python(without_python([&] { return read_matrix<double>(path.string()); }));
}

void write(const std::filesystem::path& path, nb::handle a_given) {
  const Argument a("a", a_given);
  in_precision({&a}, [&]<class T>(T) {
    without_python([&] {
      const auto columns = Columns<T>::on_host(a);
      write_matrix(path.string(), columns.data, {columns.rows, columns.cols}, columns.ld);
    });
  });
}

const Part part([](nb::module_& m) {
  m.def(
      "read_matrix", read, "path"_a, "dtype"_a = nb::none(),
      R"(The matrix in a file: Matrix Market (dense or coordinates) or NumPy's .npy, as a dense array in Fortran order.

Parameters
----------
path : str or path
    Of either format, which the contents tell.
dtype : float32 or float64, optional
    By default what the file holds; text is float64.

Raises
------
OSError
    If the file cannot be read, is malformed, or holds what is not finite; the message says where.

Examples
--------
>>> import os, tempfile, numpy as np, tesela
>>> with tempfile.TemporaryDirectory() as folder:
...     tesela.write_matrix(os.path.join(folder, "a.mtx"), np.array([[1., 2.], [3., 4.]]))
...     tesela.read_matrix(os.path.join(folder, "a.mtx"))
array([[1., 2.],
       [3., 4.]])
)");
  m.def("write_matrix", write, "path"_a, "a"_a,
        R"(Writes a matrix: a name that ends in .npy is NumPy's format, .mtx Matrix Market's.

The file appears under its name only when it is complete. A vector is written as one column.

Raises
------
OSError
    If the file cannot be written.
ValueError
    If something is not finite; nothing is written then.
)");
});

}  // namespace
}  // namespace tesela::python
