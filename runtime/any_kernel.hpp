#pragma once

#include <tesela/runtime/graph.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

namespace tesela {

/// A kernel without its types, for an interface of another language (DynamicKernel).
struct AnyKernel {
  const char* name;                            ///< the kernel's
  detail::CodeletImpl& (*codelet)();           ///< makes the kernel's codelet at the first call
  std::span<const Mode> modes;                 ///< of the tiles
  std::span<const std::size_t> element_sizes;  ///< of the tiles, in bytes
  bool has_list;                               ///< the last mode is the mode of any number of tiles
  bool on_cores, on_gpus;                      ///< its variants, also of a build without CUDA
  std::size_t args_size;                       ///< bytes of its Args
  std::size_t args_offset;                     ///< bytes before the Args in a task's argument block
  std::size_t call_size;                       ///< bytes of a task's argument block
  double (*flops)(const void* args, std::span<const Shape> tiles);  ///< its operations, 0 if it does not count them
  std::uint64_t (*cost_key)(const void* args);                      ///< of its Args; 0 without such a function
};

namespace detail {

template <class K>
double flops_of([[maybe_unused]] const void* args, [[maybe_unused]] std::span<const Shape> tiles) {
  if constexpr (!HasFlops<K>) {
    return 0;
  } else {
    const auto& own = *static_cast<const typename K::Args*>(args);
    if constexpr (Codelet<K>::has_list)
      return K::flops(own, tiles);
    else
      return [&]<std::size_t... I>(std::index_sequence<I...>) { return K::flops(own, tiles[I]...); }
    (std::make_index_sequence<Codelet<K>::arity>{});
  }
}

/// Bytes before `args` in Call<Args>.
template <class Args>
constexpr std::size_t args_offset = (sizeof(CallHeader) + alignof(Args) - 1) / alignof(Args) * alignof(Args);

template <class K>
constexpr auto element_sizes_of = []<std::size_t... I>(std::index_sequence<I...>) {
  using P = typename Codelet<K>::Parameters;
  return std::array<std::size_t, sizeof...(I)>{sizeof(typename ValueOf<std::tuple_element_t<I, P>>::type)...};
}
(std::make_index_sequence<Codelet<K>::arity>{});

}  // namespace detail

/// The kernel K as AnyKernel.
template <Kernel K>
inline constexpr AnyKernel any_kernel{
    .name = K::name,
    .codelet = &Codelet<K>::get,
    .modes = Codelet<K>::modes,
    .element_sizes = detail::element_sizes_of<K>,
    .has_list = Codelet<K>::has_list,
    .on_cores = detail::HasCpu<K>,
    .on_gpus = detail::HasCuda<K>,
    .args_size = sizeof(typename K::Args),
    .args_offset = detail::args_offset<typename K::Args>,
    .call_size = sizeof(detail::Call<typename K::Args>),
    .flops = &detail::flops_of<K>,
    .cost_key = [](const void* args) { return detail::task_key<K>(*static_cast<const typename K::Args*>(args)); },
};

}  // namespace tesela
