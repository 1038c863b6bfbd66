#pragma once

#include "interfaces/python/arrays.hpp"
#include "interfaces/python/call.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <string>
#include <utility>
#include <vector>

namespace tesela::python {

/// Returns NAME(rank=2, status='ok').
inline std::string describe(nb::handle result, const std::vector<const char*>& members) {
  std::string text = nb::cast<std::string>(result.type().attr("__name__")) + "(";
  const char* separator = "";
  for (const char* member : members) {
    text += separator + std::string(member) + "=" + nb::cast<std::string>(nb::repr(result.attr(member)));
    separator = ", ";
  }
  return text + ")";
}

/// Gives a class a repr() with these members.
template <class R>
void prints(nb::class_<R>& bound, std::initializer_list<const char*> members) {
  bound.def("__repr__", [list = std::vector<const char*>(members)](nb::handle self) { return describe(self, list); });
}

/// Binds a result class with readable members, which can be copied and pickled.
template <class R>
class ResultClass : public nb::class_<R> {
 public:
  ResultClass(nb::handle scope, const char* name, const char* about) : nb::class_<R>(scope, name, about) {
    this->def("__getstate__", [members = members_](const R& r) {
      nb::dict state;
      for (const Member& member : *members) state[member.name] = member.read(r);
      return state;
    });
    this->def("__setstate__", [members = members_](R& r, const nb::dict& state) {
      R whole{};  // a wrong state throws and changes nothing
      for (const Member& member : *members) member.write(whole, state[member.name]);
      new (&r) R(std::move(whole));
    });
  }

  template <class M>
  ResultClass& member(const char* name, M R::*place, const char* about) {
    this->def_ro(name, place, about);
    members_->push_back({name, [place](const R& r) { return nb::cast(r.*place); },
                         [place, name](R& r, nb::handle value) {
                           if (!nb::try_cast(value, r.*place)) throw nb::type_error(name);
                         }});
    return *this;
  }

  /// Members in repr(), which should fit one line.
  ResultClass& prints(std::initializer_list<const char*> members) {
    tesela::python::prints<R>(*this, members);
    return *this;
  }

 private:
  struct Member {
    const char* name;
    std::function<nb::object(const R&)> read;
    std::function<void(R&, nb::handle)> write;
  };
  std::shared_ptr<std::vector<Member>> members_ = std::make_shared<std::vector<Member>>();
};

/// Makes a result unpackable, like SciPy's tuples: into the members that are not None.
template <class R>
void unpacks(nb::class_<R>& result, nb::tuple (*members)(const R&)) {
  result.def("__iter__", [members](const R& r) { return nb::iter(members(r)); });
  result.def("__len__", [members](const R& r) { return nb::len(members(r)); });
  result.def("__getitem__", [members](const R& r, nb::object i) { return members(r).attr("__getitem__")(i); });
}

/// Result of functions that compute eigenvectors; bound in module.cpp.
struct EighResult {
  AnyArray eigenvalues, eigenvectors;
};

/// Returns the vector on the host. Throws LinAlgError with the index of the first element, from element `first` on,
/// that is not finite.
template <class T>
Columns<T> finite_on_host(const char* routine, const Argument& vector, index_t first = 0) {
  Columns<T> numbers = Columns<T>::on_host(vector);
  for (index_t i = first; i < numbers.rows; ++i)
    if (!is_finite(numbers.data[i]))
      raise_lin_alg_error(std::string(routine) + ": " + element(vector.name(), i) + " is not finite", "not finite",
                          nb::none());
  return numbers;
}

/// Returns one number per right-hand side: a float for a vector, otherwise an array.
template <class T>
nb::object number_or_numbers(const Argument& b, const std::vector<T>& numbers) {
  if (b.is_vector() && numbers.size() == 1) return nb::float_(static_cast<double>(numbers[0]));
  return to_python(numbers, b.place());
}

}  // namespace tesela::python
