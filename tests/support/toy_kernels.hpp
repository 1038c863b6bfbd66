#pragma once

#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <atomic>
#include <chrono>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>

/// Kernels with results that a test can predict by hand; T is the element type, and all elements of a tile are written.
namespace tesela::test {

template <class B, class F>
void for_each_element(const B& block, F f) {
  for (index_t j = 0; j < block.cols; ++j)
    for (index_t i = 0; i < block.rows; ++i) f(block(i, j));
}

/// a = value
template <class T>
struct Set {
  static constexpr auto name = "test_set";
  struct Args {
    T value{};
  };
  static double flops(const Args&, Shape) { return 1; }
  static void cpu(const Args& args, Out<T> a) {
    for_each_element(a, [&](T& x) { x = args.value; });
  }
};

/// a = scale a + shift; two of these do not commute, so a wrong order changes the result
template <class T>
struct Affine {
  static constexpr auto name = "test_affine";
  static constexpr std::uint32_t color = 0x00ff00;
  struct Args {
    T scale = 1, shift = 0;
  };
  static double flops(const Args&, Shape) { return 10; }
  static void cpu(const Args& args, InOut<T> a) {
    for_each_element(a, [&](T& x) { x = args.scale * x + args.shift; });
  }
};

/// b = a
template <class T>
struct Copy {
  static constexpr auto name = "test_copy";
  struct Args {};
  static double flops(const Args&, Shape, Shape) { return 100; }
  static void cpu(const Args&, In<T> a, Out<T> b) {
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i) b(i, j) = a(i, j);
  }
};

/// a += value, in any order
template <class T>
struct AddAnyOrder {
  static constexpr auto name = "test_add_any_order";
  struct Args {
    T value{};
  };
  static double flops(const Args&, Shape) { return 1000; }
  static void cpu(const Args& args, Commute<T> a) {
    for_each_element(a, [&](T& x) { x += args.value; });
  }
};

/// sum of a (over workers) += value
template <class T>
struct Contribute {
  static constexpr auto name = "test_contribute";
  struct Args {
    T value{};
  };
  static void cpu(const Args& args, Reduce<T> sum) {
    for_each_element(sum, [&](T& x) { x += args.value; });
  }
};

/// Combines contributions: a += b
template <class T>
struct Combine {
  static constexpr auto name = "test_combine";
  struct Args {};
  static void cpu(const Args&, Commute<T> a, In<T> b) {
    for (index_t j = 0; j < a.cols; ++j)
      for (index_t i = 0; i < a.rows; ++i) a(i, j) += b(i, j);
  }
};

struct IncrementAll {
  static constexpr auto name = "test_increment_all";
  struct Args {};
  static void cpu(const Args&, std::span<const InOut<double>> tiles) {
    for (const InOut<double>& tile : tiles) *tile.data += 1;
  }
};

/// Waits for a flag, so that a test decides when later tasks run.
struct Gate {
  static constexpr auto name = "test_gate";
  struct Args {
    std::atomic<bool>* open = nullptr;
  };
  static void cpu(const Args& args, InOut<int>) {
    while (!args.open->load()) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
};

/// Sleeps and increments a counter.
struct Sleep {
  static constexpr auto name = "test_sleep";
  struct Args {
    int milliseconds = 0;
    std::atomic<int>* ran = nullptr;
  };
  static void cpu(const Args& args, InOut<int>) {
    std::this_thread::sleep_for(std::chrono::milliseconds(args.milliseconds));
    if (args.ran != nullptr) ++*args.ran;
  }
};

/// Appends a number to a list of the test, which gives the order of tasks on one worker.
struct Log {
  static constexpr auto name = "test_log";
  struct Args {
    std::vector<int>* order = nullptr;
    int number = 0;
    double cost = 0;
  };
  static double flops(const Args& args, Shape) { return args.cost; }
  static void cpu(const Args& args, InOut<int>) { args.order->push_back(args.number); }
};

/// Reports a failed call like a CUDA variant through its context.
struct Fail {
  static constexpr auto name = "test_fail";
  struct Args {
    int status = 0;
  };
  static void cpu(const Args& args, InOut<int>) { CudaContext("test_fail").check(args.status, "someCall"); }
};

/// Throws: 1 bad_alloc, 2 a runtime_error, 3 an int; 0: does not throw.
struct Throw {
  static constexpr auto name = "test_throw";
  struct Args {
    int what = 0;
  };
  static void cpu(const Args& args, InOut<int> a) {
    if (args.what == 1) throw std::bad_alloc();
    if (args.what == 2) throw std::runtime_error("no such luck");
    if (args.what == 3) throw 3;
    ++*a.data;
  }
};

/// A kernel that only a GPU can run.
struct CudaOnly {
  static constexpr auto name = "test_cuda_only";
  struct Args {};
  static void cuda(CudaContext&, const Args&, InOut<int>) {}
};

inline std::vector<double> to_vector(const TileMatrix<double>& a) {
  std::vector<double> values(static_cast<std::size_t>(a.m() * a.n()));
  a.copy_to(values.data(), std::max<index_t>(a.m(), 1));
  return values;
}

/// Returns the only element of a 1 x 1 tile.
template <class T>
T value_of(const Tile<T>& tile) {
  return *tile.read().data;
}

/// Reports a number like LAPACK.
struct ReportInfo {
  static constexpr auto name = "test_report";
  struct Args {
    int info = 0;
  };
  static void cpu(const Args& args, Out<int> status) { *status.data = args.info; }
};

}  // namespace tesela::test
