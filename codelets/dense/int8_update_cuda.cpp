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
ResidueShapes<T>::ResidueShapes(index_t k, index_t lines, int moduli)
    : bytes{ceil_div(k, 16) * 16, moduli * lines},
      exponents{lines + 2 * tile_i, 1},
      squares{3 * lines * norm_parts(k), 1} {}

TESELA_STRUCTS_FOR_REALS(ResidueShapes)

index_t residue_work(int moduli) {
  constexpr index_t many = most_blocks * tile_i;
  return ceil_div(kept_bytes(many, many, moduli), index_t{sizeof(double)});
}

#if TESELA_HAVE_CUDA

namespace {

/// Returns residues that are only read.
Planes planes(In<std::uint8_t> bytes, In<int> exponents, index_t lines) {
  return {const_cast<std::uint8_t*>(bytes.data), const_cast<int*>(exponents.data), static_cast<int>(lines)};
}

}  // namespace

template <class T>
void ToResidues<T>::cuda(CudaContext& context, const Args& args, Out<std::uint8_t> bytes, Out<int> exponents,
                         Scratch<double> squares, std::span<const In<T>> a) {
  std::vector<OperandPart<T>> parts;
  int lines = 0, k = 0;
  for (const In<T>& tile : a) {
    const Shape block{args.rows > 0 ? args.rows : tile.rows - args.row, tile.cols - args.column};
    const Shape of = apply(args.op, block);
    const Lines<T> from{&tile(args.row, args.column), tile.ld, args.op == Op::transpose, static_cast<int>(of.rows),
                        static_cast<int>(of.cols)};
    parts.push_back({from, args.more_lines ? lines : 0, args.more_lines ? 0 : k});
    lines = parts.back().line + from.lines, k = parts.back().at + from.k;
  }
  context.check(make_planes<T>(context.stream(), parts, args.moduli, static_cast<int>(bytes.ld),
                               {bytes.data, exponents.data, lines}, squares.data, nullptr),
                "residues");
}

template <class T>
void ResidueUpdate<T>::cuda(CudaContext& context, const Args& args, In<std::uint8_t> a, In<int> a_exponents,
                            In<std::uint8_t> b, In<int> b_exponents, Scratch<double> work,
                            std::span<const InOut<T>> c) {
  std::vector<Piece<T>> pieces;
  std::vector<Shape> shapes;
  for (const InOut<T>& tile : c) {
    pieces.push_back({&tile(args.row, args.column), tile.ld});
    shapes.push_back(tile.shape());
  }
  const Shape size_of_c = size(args, shapes);
  Product<T> product{.a = planes(a, a_exponents, args.a_lines), .b = planes(b, b_exponents, args.b_lines)};
  product.a_line = static_cast<int>(args.a_line), product.b_line = static_cast<int>(args.b_line);
  product.m = static_cast<int>(size_of_c.rows), product.n = static_cast<int>(size_of_c.cols);
  product.k = static_cast<int>(args.inner), product.depth = static_cast<int>(a.ld);
  product.count = args.moduli, product.alpha = -1, product.beta = 1;
  product.upper = args.symmetric, product.spread = true;
  if (c.size() > 1)
    (args.symmetric ? product.piece_rows : product.piece_columns) =
        static_cast<int>(args.symmetric ? shapes[0].rows : shapes[0].cols);
  product.pieces = pieces;
  product.kept = reinterpret_cast<std::uint8_t*>(work.data);
  context.check(multiply(context.stream(), product), "product of residues");
}

TESELA_CUDA_FOR_REALS(ToResidues, ResidueUpdate)

#endif

}  // namespace tesela::kernels
