#include <tesela/runtime/internal/ranks.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>
#include <tesela/runtime/internal/topology_parts.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/variable.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <filesystem>
#include <future>
#include <limits>
#include <optional>
#include <sched.h>
#include <sstream>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace tesela::detail {
namespace {

/// Whether a launcher started several processes: Open MPI, or launchers with PMI (MPICH, Slurm) or PMIx.
bool launched() {
  if (const char* wanted = std::getenv("TESELA_MPI"); wanted != nullptr && *wanted != 0) return *wanted != '0';
  for (const char* size : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char* value = std::getenv(size); value != nullptr) return std::atoi(value) > 1;
  const char* const tasks = std::getenv("SLURM_NTASKS");
  return std::getenv("PMIX_RANK") != nullptr && tasks != nullptr && std::atoi(tasks) > 1;
}

/// Loads libtesela_mpi.so from this library's folder; returns null on failure, with the reason in dlerror().
void* load_messages() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&launched), &here);
  const auto beside = std::filesystem::path(here.dli_fname != nullptr ? here.dli_fname : "").parent_path();
  return dlopen((beside / "libtesela_mpi.so").c_str(), RTLD_NOW | RTLD_GLOBAL);
}

/// The messages of this process; MPI starts once in it and ends with it.
Messages* process_messages() {
  static const std::unique_ptr<Messages> only = [] {
    void* const library = load_messages();
    if (library == nullptr)
      throw EnvironmentError(std::string("a program of several processes needs libtesela_mpi.so: ") + dlerror() +
                             " (TESELA_MPI=0 runs each process by itself)");
    const auto start = reinterpret_cast<StartMessages>(dlsym(library, start_messages_name));
    std::string reason = "libtesela_mpi.so has no " + std::string(start_messages_name);
    Messages* const messages = start != nullptr ? start(&reason) : nullptr;
    if (messages == nullptr) throw EnvironmentError("MPI cannot start: " + reason);
    return std::unique_ptr<Messages>(messages);
  }();
  return only.get();
}

constexpr const char* leaves = "leaves";

std::atomic<int (*)(ErrorKind)> exit_codes{[](ErrorKind) { return EXIT_FAILURE; }};

std::string host_name() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// Returns the k-th of `parts` nearly equal shares of `count` things; if count < parts, several parts share a thing.
std::pair<int, int> share(int count, int k, int parts) {
  if (count < parts) return {k % std::max(count, 1), k % std::max(count, 1) + 1};
  return {count * k / parts, count * (k + 1) / parts};
}

/// Position among the ranks that share a resource, and their number.
struct Among {
  int before = 0, count = 0;
};

template <class Belongs>
Among among(const std::vector<std::string>& all, int rank, const Belongs& belongs) {
  Among result;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (!belongs(all[r])) continue;
    result.before += static_cast<int>(r) < rank ? 1 : 0;
    ++result.count;
  }
  return result;
}

/// Restricts this thread to the rank's share of the cores; a launcher may have bound it to one core. StarPU uses the
/// cores that this thread may run on, whether or not it binds its workers.
void share_cores(Among mine, ScopedEnvironment& env) {
  for (const char* decided : {"STARPU_WORKERS_CPUID", "STARPU_WORKERS_COREID"})
    if (std::getenv(decided) != nullptr) return;
  const std::vector<std::vector<int>> cores = cores_of_host();
  const auto [first, end] = share(static_cast<int>(cores.size()), mine.before, mine.count);
  cpu_set_t units;
  CPU_ZERO(&units);
  for (int c = first; c < end && c < std::ssize(cores); ++c)
    for (const int unit : cores[static_cast<std::size_t>(c)]) CPU_SET(static_cast<std::size_t>(unit), &units);
  if (CPU_COUNT(&units) == 0) return;
  if (sched_setaffinity(0, sizeof units, &units) == 0 || std::getenv("STARPU_NCPU") != nullptr) return;
  env.set("STARPU_NCPU", std::to_string(end - first));  // for containers that forbid binding
}

/// Gives each rank at least one GPU, or none to some ranks if there are fewer GPUs than ranks. No two ranks share a GPU
/// unless the user sets a number.
void share_gpus(Among mine, const std::string& host, std::optional<int> wanted, ScopedEnvironment& env) {
  const char* const said = std::getenv("STARPU_NCUDA");
  if (!wanted && said != nullptr) wanted = std::atoi(said);
  const int gpus = std::getenv("STARPU_WORKERS_CUDAID") != nullptr || wanted == 0 ? 0 : count_cuda_devices();
  if (gpus == 0 || mine.count == 1) return;
  auto [first, end] = share(gpus, mine.before, mine.count);
  if (const int more = wanted.value_or(0); more > end - first) {  // too few: as few ranks as possible share a GPU
    if (more > gpus) return;
    first = std::min(first, gpus - more);
    end = first + more;
  }
  std::ostringstream devices;
  for (int d = first; d < end; ++d) devices << (d == first ? "" : " ") << d;  // StarPU stops reading at a comma
  env.set("STARPU_WORKERS_CUDAID", devices.str());
  if (!wanted) env.set("STARPU_NCUDA", mine.before < gpus ? std::to_string(end - first) : "0");
  if (!wanted && gpus < mine.count && mine.before == 0)
    std::fprintf(stderr, "tesela: %d ranks on %s have %d %s: ranks without a GPU compute on cores alone\n", mine.count,
                 host.c_str(), gpus, gpus == 1 ? "GPU" : "GPUs");
}

}  // namespace

void connect_ranks(RuntimeState& state) {
  Messages* const pretended = null_messages();
  if (pretended == nullptr && !launched()) return;
  Messages* const messages = pretended != nullptr ? pretended : with_local_copies(*process_messages());
  state.has_null_messages = pretended != nullptr;
  if (messages->size() == 1) return;
  if (messages->size() > most_ranks)
    throw EnvironmentError(std::to_string(messages->size()) + " ranks: at most " + std::to_string(most_ranks) +
                           " share a graph");
  state.messages = messages;
  state.rank = messages->rank();
  state.ranks = messages->size();
  state.received.resize(static_cast<std::size_t>(state.ranks));
  if (const std::int64_t mebibytes = variable_or("TESELA_RECEIVED_MIB", -1); mebibytes >= 0)
    state.received_limit = static_cast<std::uint64_t>(mebibytes) << 20;
}

void share_host(const RuntimeState& state, ScopedEnvironment& env, std::optional<int> gpus_wanted) {
  if (state.messages == nullptr) return;
  const std::string host = host_name();
  const std::vector<std::string> all = state.messages->gather(host + ' ' + visible_gpus());
  const Among mine = among(all, state.rank, [&](const std::string& said) { return said.starts_with(host + ' '); });
  if (mine.count == 1) return;
  // StarPU does not lock its performance-model files against concurrent readers and writers.
  if (mine.before > 0) setenv("STARPU_HOSTNAME", (host + "-" + std::to_string(mine.before)).c_str(), 0);
  share_cores(mine, env);
  // Launchers may have divided the GPUs already, so that each rank sees only its own.
  const std::string& seen = all[static_cast<std::size_t>(state.rank)];
  share_gpus(among(all, state.rank, [&](const std::string& said) { return said == seen; }), host, gpus_wanted, env);
}

void set_rank_grid(RuntimeState& state, const std::optional<std::array<int, 2>>& grid) {
  if (grid) {
    auto [rows, columns] = *grid;
    if (rows == 0 && columns > 0) rows = state.ranks / columns;
    if (columns == 0 && rows > 0) columns = state.ranks / rows;
    require(rows >= 1 && columns >= 1 && rows <= state.ranks && columns <= state.ranks && rows * columns == state.ranks,
            "Runtime", "grid", rows, "x", columns, " does not fit ", state.ranks,
            state.ranks == 1 ? " rank" : " ranks");
    state.grid_rows = rows;
    state.grid_columns = columns;
    return;
  }
  state.grid_rows = static_cast<int>(std::sqrt(state.ranks));
  while (state.ranks % state.grid_rows != 0) --state.grid_rows;
  state.grid_columns = state.ranks / state.grid_rows;
}

int RuntimeState::rank_of(index_t i, index_t j) const {
  return static_cast<int>(i % grid_rows) * grid_columns + static_cast<int>(j % grid_columns);
}

void reduce_worker_counts(RuntimeState& state) {
  state.agreed = {state.cpus, state.gpus};
  state.least_workers = std::ssize(state.workers);
  if (state.messages == nullptr) return;
  constexpr std::size_t unsaid = std::numeric_limits<std::size_t>::max();
  if (variable_or("TESELA_RECEIVED_MIB", -1) < 0) state.received_limit = unsaid;
  std::ostringstream mine;
  mine << state.cpus << ' ' << state.gpus << ' ' << state.smallest_device << ' ' << state.received_limit << ' '
       << state.workers.size() << ' ' << last_data_id;
  for (const std::string& words : state.messages->gather(mine.str())) {
    if (words == leaves) {
      std::this_thread::sleep_for(std::chrono::seconds(5));  // the other rank prints the reason and ends all
      throw EnvironmentError("another rank cannot start, and the others wait for it");
    }
    std::istringstream in(words);
    int cpus = 0, gpus = 0;
    std::size_t bytes = 0, received = 0;
    index_t workers = 0;
    std::uint64_t last_id = 0;
    in >> cpus >> gpus >> bytes >> received >> workers >> last_id;
    last_data_id = std::max(last_data_id.load(), last_id);
    state.least_workers = std::min(state.least_workers, workers);
    state.received_limit = std::min(state.received_limit, received);
    state.agreed.cpus = std::min(state.agreed.cpus, cpus);
    // A rank without a GPU then uses the sizes and work space of a GPU rank.
    const bool some = state.agreed.gpus > 0 || gpus > 0;
    state.agreed.gpus = std::max(std::min(state.agreed.gpus, gpus), some ? 1 : 0);
    state.agreed.gpus_on_all_ranks &= gpus > 0;
    state.smallest_device = std::min(state.smallest_device, bytes);
  }
  // GPU tiles are large, and many are in transit; this includes ranks without a GPU beside ranks with one.
  if (state.received_limit == unsaid)
    state.received_limit =
        state.agreed.gpus > 0 ? static_cast<std::size_t>(state.agreed.gpus) << 31 : std::size_t{64} << 20;
}

std::vector<RankUse> exchange_uses(const RuntimeState& state, index_t tasks) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::ostringstream mine;
  mine << host_name() << ' ' << state.workers.size() << ' ' << tasks << ' ' << state.bytes_sent << ' '
       << state.bytes_received << ' ' << usage.ru_maxrss;
  std::vector<RankUse> uses;
  for (const std::string& said :
       state.messages != nullptr ? state.messages->gather(mine.str()) : std::vector{mine.str()}) {
    std::istringstream in(said);
    RankUse& use = uses.emplace_back();
    in >> use.host >> use.workers >> use.tasks >> use.bytes_sent >> use.bytes_received >> use.peak_bytes;
    use.peak_bytes *= 1024;  // getrusage counts in KiB
  }
  return uses;
}

std::vector<RankReport> exchange_reports(const RuntimeState& state, const RankReport& mine) {
  std::ostringstream words;
  words << "waits " << mine.tasks << ' ' << mine.hash << ' ' << mine.status_number << ' ' << mine.info << ' '
        << mine.failure;
  std::vector<RankReport> reports;
  for (const std::string& said : state.messages->gather(words.str())) {
    std::istringstream in(said);
    std::string kind;
    RankReport report;
    in >> kind >> report.tasks >> report.hash >> report.status_number >> report.info;
    if (kind != "waits")
      throw EnvironmentError("rank " + std::to_string(reports.size()) + " of " + std::to_string(state.ranks) +
                             " ended, and the others wait for it");
    in.get();
    std::getline(in, report.failure, '\0');
    reports.push_back(std::move(report));
  }
  return reports;
}

int exit_code_of(ErrorKind kind) noexcept { return exit_codes.load()(kind); }

void shut_down_ranks(const RuntimeState& state) noexcept {
  if (state.messages == nullptr) return;
  try {
    constexpr double patience = 2;  // seconds
    const std::vector<std::string> all = state.messages->gather(leaves, patience);
    if (!all.empty() && std::all_of(all.begin(), all.end(), [](const std::string& said) { return said == leaves; }))
      return;
  } catch (const std::exception&) {
    // Handled like a missing reply.
  }
  const auto& [what, kind] = of_thread<LastError>();
  std::fprintf(stderr, "tesela: rank %d of %d on %s ended because of an error%s%s\n", state.rank, state.ranks,
               host_name().c_str(), what.empty() ? "" : ": ", what.c_str());
  state.messages->abort(exit_code_of(kind));
}

}  // namespace tesela::detail

void tesela::set_exit_codes(int (*code_of)(ErrorKind)) noexcept { detail::exit_codes = code_of; }

std::string tesela::mpi_description() {
  void* const library = detail::load_messages();
  if (library == nullptr) return "";
  const auto name = reinterpret_cast<detail::DescribeMessages>(dlsym(library, detail::describe_messages_name));
  return name != nullptr ? name() : "";
}

tesela::index_t tesela::least_workers(const Runtime& runtime) { return runtime.state()->least_workers; }

std::vector<std::string> tesela::gather_over_ranks(const Runtime& runtime, std::string_view mine) {
  detail::Messages* const messages = runtime.state()->messages;
  return messages != nullptr ? messages->gather(mine) : std::vector{std::string(mine)};
}

void tesela::sum_over_ranks(const Runtime& runtime, std::span<double> numbers) {
  if (detail::Messages* const messages = runtime.state()->messages; messages != nullptr) messages->add(numbers);
}

namespace {

/// Open MPI's mpirun ends all ranks when one fails.
bool launcher_ends_all() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

/// Waits for the other ranks on a separate thread.
std::shared_future<tesela::detail::Messages*>& joining() {
  static auto& joined = *new std::shared_future<tesela::detail::Messages*>(
      std::async(std::launch::async, tesela::detail::process_messages));
  return joined;
}

}  // namespace

void tesela::prepare_to_end_ranks() noexcept {
  try {
    if (!launcher_ends_all()) joining();
  } catch (const std::exception&) {
    // Without a thread each rank ends separately.
  }
}

void tesela::end_ranks(int code) noexcept {
  std::fflush(nullptr);
  try {
    constexpr auto patience = std::chrono::seconds(10);  // other ranks may have ended before they joined MPI
    if (!launcher_ends_all() && joining().wait_for(patience) == std::future_status::ready) joining().get()->abort(code);
  } catch (const std::exception&) {
    // MPI failed; the error is already reported.
  }
  std::_Exit(code);
}

bool tesela::launched_with_others() noexcept { return detail::launched(); }

int tesela::launched_rank() noexcept {
  if (!detail::launched()) return 0;
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (const char* value = std::getenv(rank); value != nullptr) return std::atoi(value);
  return 0;
}
