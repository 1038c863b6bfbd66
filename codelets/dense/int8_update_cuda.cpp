#include <tesela/codelets/dense/int8_update.hpp>

#include <tesela/codelets/dense/internal/int8_steps.hpp>
#include <tesela/codelets/dense/internal/int8_workspace.hpp>

#if TESELA_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

#include <vector>

namespace tesela::kernels {

using namespace int8;

template <class T>
ResidueShapes<T>::ResidueShapes(index_t k, index_t lines)
    : bytes{ceil_div(k, 16) * 16, moduli_for(sizeof(T)) * lines},
      exponents{lines + 2 * tile_i, 1},
      squares{3 * lines * norm_parts(k), 1},
      kept{ceil_div(kept_bytes(lines, lines, moduli_for(sizeof(T))), 8), 1} {}

template struct ResidueShapes<float>;
template struct ResidueShapes<double>;

#if TESELA_HAVE_CUDA

template <class T>
void ToResidues<T>::cuda(CudaContext& context, const Args& args, Out<std::uint8_t> bytes, Out<int> exponents,
                         Scratch<double> squares, std::span<const In<T>> a) {
  std::vector<OperandPart<T>> parts;
  index_t k = 0;
  for (const In<T>& tile : a) {
    const auto lines = static_cast<int>(tile.cols - args.column);
    parts.push_back({{&tile(0, args.column), tile.ld, true, lines, static_cast<int>(tile.rows)}, 0,
                     static_cast<int>(k)});
    k += tile.rows;
  }
  const Planes to{bytes.data, exponents.data, parts.front().from.lines};
  context.check(make_planes<T>(context.stream(), parts, moduli_for(sizeof(T)), static_cast<int>(bytes.ld), to,
                               squares.data, nullptr),
                "residues");
}

template <class T>
void ResidueUpdate<T>::cuda(CudaContext& context, const Args& args, In<std::uint8_t> bytes, In<int> exponents,
                            Scratch<double> kept, std::span<const InOut<T>> c) {
  std::vector<Piece<T>> pieces;
  index_t m = 0;
  for (const InOut<T>& tile : c) {
    pieces.push_back({&tile(0, args.row), tile.ld});
    m += tile.rows;
  }
  const auto lines = static_cast<int>(c.front().cols - args.column), first = static_cast<int>(args.row - args.column);
  // The planes are only read.
  const Planes planes{const_cast<std::uint8_t*>(bytes.data), const_cast<int*>(exponents.data), lines};
  Product<T> product{.a = planes, .b = planes, .a_line = first, .b_line = first};
  product.m = static_cast<int>(m), product.n = lines - first;
  product.k = static_cast<int>(args.inner), product.depth = static_cast<int>(bytes.ld);
  product.count = moduli_for(sizeof(T)), product.alpha = -1, product.beta = 1;
  product.upper = product.spread = true;
  product.piece_rows = c.size() > 1 ? static_cast<int>(c.front().rows) : unlimited;
  product.pieces = pieces;
  product.kept = reinterpret_cast<std::uint8_t*>(kept.data);
  context.check(multiply(context.stream(), product), "product of residues");
}

#define TESELA_INSTANTIATE(T)                                     \
  template decltype(ToResidues<T>::cuda) ToResidues<T>::cuda;     \
  template decltype(ResidueUpdate<T>::cuda) ResidueUpdate<T>::cuda;
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

#endif

}  // namespace tesela::kernels
