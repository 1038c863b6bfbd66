#include "tools/app/numbers.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/bench/memory_access/memory_kernels.hpp"
#include "tools/peers/device.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/generator.hpp>

#include <fmt/format.h>

#include <vector>

#if TESELA_HAVE_CUDA

#include <cuda_runtime.h>
#endif

namespace tesela::bench {
namespace {

struct MemoryOptions : Options {
  std::vector<index_t> n{2000, 6000, 11000};
  int block = 256;
};

#if TESELA_HAVE_CUDA

template <class T>
struct Matrices {
  index_t n;
  std::uint64_t seed;
  DeviceMemory a, b, c;
  Matrices(index_t size, std::uint64_t s) : n(size), seed(s), a(bytes()), b(bytes()), c(bytes()) {
    generate(a.template as<T>(), n, n, operand(0));
    generate(b.template as<T>(), n, n, operand(1));
  }
  std::size_t bytes() const { return static_cast<std::size_t>(n * n) * sizeof(T); }
  Generator<T> operand(std::uint64_t which) const { return {Pattern::uniform, T(0), n, 2 * seed + which}; }
};

template <class T>
using Sum = int (*)(CUstream_st*, const kernels::SumProblem<T>&, int);

/// One IEEE addition has one right answer, so every element is compared exactly.
template <class T>
double check(const char* peer, const Matrices<T>& x) {
  std::vector<T> c(static_cast<std::size_t>(x.n * x.n));
  copy_memory(c.data(), x.c.template as<T>(), x.bytes());
  const Generator<T> a = x.operand(0), b = x.operand(1);
  for (index_t e = 0; e < x.n * x.n; ++e) {
    const T expected = a(e % x.n, e / x.n) + b(e % x.n, e / x.n);
    if (c[static_cast<std::size_t>(e)] != expected)
      throw WrongResult(fmt::format("bench memory-access: {}: element {} is {} and should be {}", peer, e,
                                    c[static_cast<std::size_t>(e)], expected));
  }
  return 0;
}

template <class T>
Peer make_peer(const char* name, Sum<T> sum, const Matrices<T>& x, int block) {
  const auto run = [name, sum, &x, block] {
    const kernels::SumProblem<T> p{x.n, x.n, x.a.template as<T>(), x.n, x.b.template as<T>(), x.n, x.c.template as<T>(),
                                   x.n};
    flush_device_cache();
    int status = 0;
    const double seconds = event_seconds([&](CUstream_st* stream) { status = sum(stream, p, block); });
    check_device(status, name);
    return seconds;
  };
  return {name, run, [run, name, &x] {
            check_device(cudaMemset(x.c.template as<T>(), 0xff, x.bytes()), "cudaMemset");  // NaN
            run();
            return check(name, x);
          }};
}

template <class T>
void run(const MemoryOptions& o) {
  require_gpu("memory-access");
  Report report("memory-access", o, nullptr);
  const double ceiling = copy_ceiling();
  for (const index_t n : o.n) {
    const Matrices<T> x(n, o.common.seed);
    const std::vector<Peer> peers{make_peer<T>("element", &kernels::sum_by_element<T>, x, o.block),
                                  make_peer<T>("row", &kernels::sum_by_row<T>, x, o.block),
                                  make_peer<T>("column", &kernels::sum_by_column<T>, x, o.block)};
    const double bytes = 3 * static_cast<double>(x.bytes());
    report.add({fmt::format("n = {}", n), n, n, 0, std::to_string(o.block), "device", "GB/s"},
               alternate(peers, o.common.repeat), ceiling, [&](double seconds) { return bytes / seconds * 1e-9; });
  }
  for (Row& row : report.rows())
    row.more = {
        {"source_unit_not_stated",
         published_value({.source = "caceres-2017", .table = "sums", .row = row.timing.peer, .n = row.what.n})}};
  report.note(
      fmt::format("of ceiling: of a copy within the device, {:.0f} GB/s in this run; caches are flushed before "
                  "each run, bytes are two reads and one write of each element",
                  ceiling));
  report.note(
      "element: neighbouring threads take neighbouring addresses, so a warp's access is one or two wide "
      "transactions, and there are threads enough to hide the memory's latency");
  report.note(
      "row: neighbouring threads are a whole row apart, so each of a warp's 32 accesses is a separate "
      "transaction that fetches a sector and uses one element of it, unless the cache keeps it for the next step");
  report.note(
      "column: coalesced like element, but there are only n threads: too few to keep the memory busy on a GPU "
      "that runs a hundred thousand, enough on a small one");
  report.note(
      "source (CSV): Cáceres Huacarpuma 2017, section 1.1, on a GeForce 930MX, without a unit; its element times "
      "equal "
      "its row times, as if that kernel's neighbouring threads ran down the rows too; ours run along them");
  report.finish();
}

#else
template <class T>
void run(const MemoryOptions&) {
  require_gpu("memory-access");
}
#endif

const cli::Command memory_access_command(
    cli::Command::Group::bench, "memory-access", "matrix sum by element, by row and by column on one GPU",
    [](cli::App& app) {
      auto o = std::make_shared<MemoryOptions>();
      o->common.repeat = 9;
      o->common.precision = std::string("s");  // GCC 12 warns of an overlap in assign(const char*)
      o->add_to(app, "memory-access", {.cores = false, .gpus = false});
      app.add_list("-n,--n", o->n, "rows and columns, several with commas")->positive()->show_default();
      app.add_option("--block", o->block, "threads of a block")->check(cli::between(1, 1024))->show_default();
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
