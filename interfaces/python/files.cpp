// Reading and writing matrix files.
#include "interfaces/python/results.hpp"
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <nanobind/stl/filesystem.h>
#include <sys/stat.h>
#include <unistd.h>
#include <variant>

namespace tesela::python {
namespace {

/// Throws OSError, or its subclass for errno such as FileNotFoundError, with errno and the name of the file.
[[noreturn]] void raise_errno(int error, const std::filesystem::path& path) {
  errno = error;
  PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, nb::cast(path.string()).ptr());
  throw nb::python_error();
}

/// Returns errno of opening a file for reading, EISDIR for a folder, or 0.
int reading_error(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return errno;
  struct stat about {};
  const bool folder = fstat(file, &about) == 0 && S_ISDIR(about.st_mode);
  close(file);
  return folder ? EISDIR : 0;
}

/// Returns why no file of this name can be made, as errno, or 0.
int writing_error(const std::filesystem::path& path) {
  if (std::error_code error; std::filesystem::is_directory(path, error)) return EISDIR;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  return access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

/// Runs f() without the GIL. Replaces a FileError by the OSError of why_not(), if that returns an errno.
template <class F, class Why>
auto on_file(const std::filesystem::path& path, const Why& why_not, const F& f) {
  try {
    const Released free;
    return f();
  } catch (const FileError&) {
    if (const int error = why_not(path); error != 0) raise_errno(error, path);
    throw;
  }
}

AnyArray read(const std::filesystem::path& path, nb::handle dtype) {
  const bool given = !dtype.is_none(), given_single = given && is_single(dtype);
  std::variant<HostMatrix<float>, HostMatrix<double>> matrix;
  bool vector = false;
  on_file(path, reading_error, [&] {
    const std::string name = path.string();
    const MappedFile mapped(name);  // once, since a pipe cannot be read again
    const MatrixFileInfo file = probe_matrix_bytes(mapped.bytes(), name);
    vector = file.vector;
    if (given ? given_single : file.precision == FilePrecision::single_precision)
      matrix = read_matrix_bytes<float>(mapped.bytes(), name);
    else
      matrix = read_matrix_bytes<double>(mapped.bytes(), name);
  });
  return std::visit(
      [vector](auto& found) { return vector ? column_to_python(std::move(found)) : to_python(std::move(found)); },
      matrix);
}

void write(const std::filesystem::path& path, const ArrayLike& a_given) {
  const Argument a("a", a_given);
  in_precision({&a}, [&]<class T>(T) {
    on_file(path, writing_error, [&] {
      const auto columns = Columns<T>::on_host(a);
      if (a.is_vector())
        write_vector(path.string(), columns.data, columns.rows);
      else
        write_matrix(path.string(), columns.data, {columns.rows, columns.cols}, columns.ld);
    });
  });
}

const Part part([](nb::module_& m) {
  m.def(
      "read_matrix", read, "path"_a, "dtype"_a = nb::none(),
      R"(Read a file as a dense array in Fortran order: Matrix Market, NumPy (.npy), or plain text and CSV without names.

A .npy file with one dimension, and text with one column, are vectors, (n,).

Parameters
----------
path : str or path
    The contents decide the format.
dtype : float32 or float64, optional
    By default the precision of the file; text is float64.

Raises
------
OSError
    If the file cannot be read, is malformed, or has a value that is not finite; the message states the place. A missing
    file is a FileNotFoundError, with `errno` and `filename`.

Examples
--------
>>> import os, tempfile, numpy as np, tesela
>>> with tempfile.TemporaryDirectory() as folder:
...     tesela.write_matrix(os.path.join(folder, "a.mtx"), np.array([[1., 2.], [3., 4.]]))
...     tesela.read_matrix(os.path.join(folder, "a.mtx"))
array([[1., 2.],
       [3., 4.]])
)");
  m.def(
      "write_matrix", write, "path"_a, "a"_a,
      R"(Write a matrix or a vector: NumPy's format if the name ends in .npy, Matrix Market for .mtx, text for .txt and .csv.

The file appears when it is complete. A vector keeps its one dimension in .npy; text has one column.

Raises
------
OSError
    If the file cannot be written.
ValueError
    If a value is not finite; nothing is written then.
)");
});

}  // namespace
}  // namespace tesela::python
