#include "interfaces/c/arguments.hpp"
#include "interfaces/c/objects.hpp"

namespace tesela::c {
namespace {

TileShape tile_shape(index_t mb, index_t nb) {
  for (const auto& [name, value] : {std::pair{"mb", mb}, std::pair{"nb", nb}})
    if (value < 1) throw WrongArgument(name, std::to_string(value) + " is less than 1");
  return {mb, nb};
}

/// Returns a caller's array with the shape of the matrix.
template <class T, class M>
Array<T> as_large(const char* name, T* a, const M& matrix, const char* ld_name, index_t lda) {
  return {name, a, Shape{matrix.m(), matrix.n()}, ld_name, lda};
}

}  // namespace

/// Makes an m x n matrix in tiles of mb x nb, without contents.
template <Number T>
Code matrix_create(index_t m, index_t n, index_t mb, index_t nb, tesela_matrix** a) {
  require_sizes({{"m", m}, {"n", n}});
  const TileShape tile = tile_shape(mb, nb);
  require_output_pointer("a", a);
  const Session session;
  hand_out(a, std::make_shared<MatrixObject<T>>(TileMatrix<T>(session.runtime(), m, n, tile)));
  return 0;
}

/// Maps the caller's column-major memory as a matrix with tiles in place, without a copy. The memory belongs to the
/// matrix until that is freed; tesela_?matrix_home brings the tasks' results there.
template <Number T>
Code matrix_map(index_t m, index_t n, T* memory, index_t ld, index_t mb, index_t nb, tesela_matrix** a) {
  require_sizes({{"m", m}, {"n", n}});
  const Array<T> array("memory", memory, {m, n}, "ld", ld);
  const TileShape tile = tile_shape(mb, nb);
  require_output_pointer("a", a);
  const Session session;
  hand_out(a, std::make_shared<MatrixObject<T>>(array.in_tiles(session, tile), array));
  return 0;
}

/// Waits for the tasks that use the matrix and copies column-major memory to it.
template <Number T>
Code matrix_set(tesela_matrix* a, const T* memory, index_t ld) {
  const TileMatrix<T> A = tiles<T>("a", a);
  const auto from = as_large("memory", memory, A, "ld", ld);
  const Session session;
  A.copy_from(from.data, from.ld);
  return 0;
}

/// Waits for the tasks that write the matrix and copies it to column-major memory.
template <Number T>
Code matrix_get(tesela_matrix* a, T* memory, index_t ld) {
  const TileMatrix<T> A = tiles<T>("a", a);
  const auto to = as_large("memory", memory, A, "ld", ld);
  const Session session;
  A.copy_to(to.data, to.ld);
  return 0;
}

/// Waits until a mapped matrix is up to date in the caller's memory.
template <Number T>
Code matrix_home(tesela_matrix* a) {
  const TileMatrix<T> A = tiles<T>("a", a);
  const Session session;
  A.bring_home();
  return 0;
}

/// Waits for the tasks that use the matrix and destroys it; a mapped matrix's memory is then up to date. NULL is
/// allowed.
Code matrix_free(tesela_matrix* a) { return free_handle<AnyMatrix>("a", a); }

}  // namespace tesela::c
