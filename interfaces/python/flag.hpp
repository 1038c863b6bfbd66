#pragma once

#include <nanobind/nanobind.h>

namespace tesela::python {

/// A bool parameter. Accepts True and False, numpy.bool_, and the integers 0 and 1 of Python and NumPy.
struct Flag {
  bool value = false;
  operator bool() const { return value; }  // NOLINT: replaces a bool
};

}  // namespace tesela::python

namespace nanobind::detail {

template <>
struct type_caster<tesela::python::Flag> {
  NB_TYPE_CASTER(tesela::python::Flag, const_name("bool"))

  bool from_python(handle src, std::uint32_t, cleanup_list*) noexcept {
    if (src.ptr() == Py_True || src.ptr() == Py_False) {
      value = {src.ptr() == Py_True};
      return true;
    }
    PyObject* number = of_numpy(src.ptr());  // first, because NumPy 1 warns if it is used as an index
    PyErr_Clear();
    if (number == nullptr && PyIndex_Check(src.ptr()) != 0) number = PyNumber_Index(src.ptr());
    const long found = number != nullptr ? PyLong_AsLong(number) : -1;
    Py_XDECREF(number);
    PyErr_Clear();
    value = {found == 1};
    return found == 0 || found == 1;
  }
  static handle from_cpp(tesela::python::Flag flag, rv_policy, cleanup_list*) noexcept {
    return handle(flag.value ? Py_True : Py_False).inc_ref();
  }

 private:
  /// Returns the value of a numpy.bool_, or null for another type.
  static PyObject* of_numpy(PyObject* object) noexcept {
    PyObject* const numpy = PyImport_ImportModule("numpy");
    PyObject* const type = numpy != nullptr ? PyObject_GetAttrString(numpy, "bool_") : nullptr;
    const bool is_one = type != nullptr && PyObject_IsInstance(object, type) == 1;
    Py_XDECREF(type);
    Py_XDECREF(numpy);
    return is_one ? PyLong_FromLong(PyObject_IsTrue(object)) : nullptr;
  }
};

}  // namespace nanobind::detail
