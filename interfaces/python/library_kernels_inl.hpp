#pragma once

#include "interfaces/python/library_kernels.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

// Descriptions of kernels from their declarations, for the files that kernel_list.py writes.

namespace tesela::python {

/// Returns the name of an enumerator, or an empty one if the enumeration has no such value.
template <auto value>
constexpr std::string_view enumerator_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view before = "value = ";
  std::string_view name = text.substr(text.find(before) + before.size());
  name = name.substr(0, name.find_first_of(";]"));
  if (name.front() == '(') return {};
  return name.substr(name.rfind(':') + 1);
}

/// Returns the names of an enumeration's values, which count from 0.
template <class E>
std::vector<std::string> enumerators() {
  static_assert(sizeof(E) == 1);
  std::vector<std::string> names;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const std::array<std::string_view, sizeof...(I)> all{enumerator_name<static_cast<E>(I)>()...};
    for (const std::string_view name : all) {
      if (name.empty()) break;
      names.emplace_back(name);
    }
  }
  (std::make_index_sequence<24>{});
  return names;
}

template <class V>
struct ValuesOf {
  using type = V;
  static constexpr std::size_t count = 0;
};
template <class V, std::size_t n>
struct ValuesOf<std::array<V, n>> {
  using type = V;
  static constexpr std::size_t count = n;
};

/// Describes the members of Args, each in one call.
class ArgsReader {
 public:
  ArgsReader(LibraryInstance& to, const void* args) : to_(&to), args_(static_cast<const std::byte*>(args)) {}

  template <class M>
  void operator()(const char* name, const M& member, bool required, const char* comment) {
    using V = typename ValuesOf<M>::type;
    ArgsField field{name, comment, kind<V>(), offset(&member), sizeof(V), ValuesOf<M>::count, {}};
    if constexpr (std::is_enum_v<V>) field.values = enumerators<V>();
    to_->fields.push_back(std::move(field));
    record(name, required);
  }
  void record(const char* name, bool required) {
    if (required) to_->required.emplace_back(name);
  }

 private:
  template <class V>
  static constexpr ArgsField::Kind kind() {
    using Kind = ArgsField::Kind;
    if constexpr (std::is_enum_v<V>) return Kind::enumerator;
    if constexpr (std::is_same_v<V, bool>) return Kind::boolean;
    if constexpr (std::is_same_v<V, float>) return Kind::float32;
    if constexpr (std::is_same_v<V, double>) return Kind::float64;
    if constexpr (std::is_unsigned_v<V> && sizeof(V) == 8) return Kind::uint64;
    static_assert(std::is_enum_v<V> || std::is_floating_point_v<V> || (std::is_integral_v<V> && sizeof(V) != 2));
    return sizeof(V) == 8 ? Kind::int64 : Kind::int32;
  }
  std::size_t offset(const void* member) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(member) - args_);
  }

  LibraryInstance* to_;
  const std::byte* args_;
};

template <class K, class F>
LibraryInstance instance_of(F visit) {
  using P = typename Codelet<K>::Parameters;
  const typename K::Args args{};
  LibraryInstance made{&any_kernel<K>, DynamicKernel::of(any_kernel<K>), {}, {}, {}, {}};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    made.elements = {element_of<typename detail::ValueOf<std::tuple_element_t<I, P>>::type>...};
  }
  (std::make_index_sequence<Codelet<K>::arity>{});
  ArgsReader reader(made, &args);
  visit(args, reader);
  made.defaults.resize(sizeof args);
  std::memcpy(made.defaults.data(), static_cast<const void*>(&args), sizeof args);
  return made;
}

/// Returns the descriptions of a kernel's instances; `visit` calls the reader for each member of Args.
template <class... K, class F>
std::vector<LibraryInstance> instances(F visit) {
  std::vector<LibraryInstance> all;
  (all.push_back(instance_of<K>(visit)), ...);
  return all;
}

}  // namespace tesela::python
