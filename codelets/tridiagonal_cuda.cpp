#include "codelets/tridiagonal.hpp"
namespace tesela {
using namespace tridiagonal;
#define S(T) template <> void TridiagonalSolve<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, In<T>, InOut<T>, Scratch<Segment<T>>, InOut<int>) noexcept {} \
template <> void TridiagonalReduce<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, In<T>, In<T>, Out<Segment<T>>, Out<Segment<T>>) noexcept {} \
template <> void TridiagonalJoin<T>::cuda(CudaContext&, const Args&, Out<T>, Scratch<Joint<T>>, InOut<int>, std::span<const In<Segment<T>>>) noexcept {} \
template <> void TridiagonalSubstitute<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, In<T>, InOut<T>, In<Segment<T>>, In<T>, InOut<int>) noexcept {}
S(float) S(double)
}
