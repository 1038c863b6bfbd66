#include <tesela/runtime/internal/messages.hpp>

#include <starpu_mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif
#include <new>
#include <thread>

// The only file that uses MPI.

namespace tesela::detail {
namespace {

std::string library() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  const std::string all(version, static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

class MpiMessages final : public Messages {
 public:
  explicit MpiMessages(bool ends_mpi) : ends_mpi_(ends_mpi) {
    MPI_Comm_dup(MPI_COMM_WORLD, &agreement_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiMessages() override {
    int ended = 0;  // by the program, which may own MPI
    MPI_Finalized(&ended);
    if (left_ || ended != 0) return;  // other ranks no longer reply
    MPI_Comm_free(&agreement_);
    if (ends_mpi_) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void start() override {
    starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD);
    starpu_mpi_cache_set(0);  // the runtime knows who has which copy
  }
  void stop() noexcept override { starpu_mpi_shutdown(); }

  void send(void* handle, int to, std::int64_t tag, int priority, Done done, void* argument) override {
    starpu_mpi_isend_detached_prio(static_cast<starpu_data_handle_t>(handle), to, tag, priority, MPI_COMM_WORLD, done,
                                   argument);
  }
  void receive(void* handle, int from, std::int64_t tag, int priority, Done done, void* argument) override {
    starpu_mpi_irecv_detached_prio(static_cast<starpu_data_handle_t>(handle), from, tag, priority, MPI_COMM_WORLD, done,
                                   argument);
  }

  std::vector<std::string> gather(std::string_view mine, double patience) override {
    const auto count = static_cast<std::size_t>(size_);
    const int length = static_cast<int>(mine.size());
    std::vector<int> lengths(count), begins(count + 1, 0);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, agreement_, &request);
    if (!wait(request, patience)) return {};
    for (std::size_t r = 0; r < count; ++r) begins[r + 1] = begins[r] + lengths[r];
    std::string all(static_cast<std::size_t>(begins.back()), '\0');
    MPI_Iallgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), begins.data(), MPI_CHAR, agreement_,
                    &request);
    if (!wait(request, patience)) return {};
    std::vector<std::string> answers;
    for (std::size_t r = 0; r < count; ++r)
      answers.push_back(all.substr(static_cast<std::size_t>(begins[r]), static_cast<std::size_t>(lengths[r])));
    return answers;
  }

  void add(std::span<double> numbers) override {
    constexpr std::size_t most = std::size_t{1} << 24;  // MPI counts in int
    for (; !numbers.empty(); numbers = numbers.subspan(std::min(most, numbers.size()))) {
      MPI_Request request = MPI_REQUEST_NULL;
      const int count = static_cast<int>(std::min(most, numbers.size()));
      MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), count, MPI_DOUBLE, MPI_SUM, agreement_, &request);
      wait(request, 0);
    }
  }

  void abort(int code) noexcept override {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // else MPICH's launcher may drop output
    MPI_Abort(MPI_COMM_WORLD, code);
    std::_Exit(code);
  }

 private:
  /// Sleeps between tests: the rank's only core may have workers.
  bool wait(MPI_Request& request, double patience) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    auto pause = std::chrono::microseconds(1);
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done != 0) return true;
      if (patience > 0 && Clock::now() - begin > std::chrono::duration<double>(patience)) {
        left_ = true;
        return false;
      }
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::microseconds(1000));
    }
  }

  MPI_Comm agreement_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool ends_mpi_, left_ = false;
};

}  // namespace
}  // namespace tesela::detail

extern "C" const char* tesela_describe_messages() {
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  static const std::string description = tesela::detail::library() + ", GPU-aware";
#else
  static const std::string description = tesela::detail::library() + ", not GPU-aware";
#endif
  return description.c_str();
}

extern "C" tesela::detail::Messages* tesela_start_messages(std::string* reason) {
  int started = 0, level = 0;
  MPI_Initialized(&started);
  const int status =
      started != 0 ? MPI_Query_thread(&level) : MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  if (status != MPI_SUCCESS || level < MPI_THREAD_MULTIPLE) {
    *reason = status != MPI_SUCCESS ? "MPI_Init_thread failed" : "MPI does not allow several threads";
    return nullptr;
  }
  return new (std::nothrow) tesela::detail::MpiMessages(started == 0);
}
