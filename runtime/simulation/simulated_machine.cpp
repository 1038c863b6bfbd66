#include <tesela/runtime/internal/model_entries.hpp>
#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/machine/device_memory.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/runtime/simulation/simulated_machine.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tesela {
namespace {

constexpr const char* host = "machine";

std::string name_of_memory(unsigned node) {
  return starpu_node_get_kind(node) == STARPU_CUDA_RAM ? "GPU" + std::to_string(starpu_memory_node_get_devid(node))
                                                       : "RAM";
}

/// Returns the memories of a machine in StarPU's order.
std::vector<std::string> memories(int gpus) {
  std::vector<std::string> all{"RAM"};
  for (int gpu = 0; gpu < gpus; ++gpu) all.push_back("GPU" + std::to_string(gpu));
  return all;
}

const LinkSpeed& link_of(const SimulatedMachine& machine, const std::string& from, const std::string& to) {
  const auto link = std::find_if(machine.links.begin(), machine.links.end(),
                                 [&](const LinkSpeed& one) { return one.from == from && one.to == to; });
  require(link != machine.links.end() && link->bytes_per_second > 0, "prepare_simulation", "machine.links",
          "the speed from ", from, " to ", to,
          " is missing: `tesela predict record --out FOLDER -- COMMAND` measures it on that machine");
  return *link;
}

/// Returns the name of a memory's host in the platform.
std::string host_of(const std::string& memory) { return memory == "RAM" ? memory : "CUDA" + memory.substr(3); }

/// Returns a square table of one number for each pair of memories, in StarPU's format. StarPU takes no number from the
/// last column and the last row, which are NaN in its own tables.
template <class F>
std::string table(const std::vector<std::string>& nodes, const F& number) {
  std::ostringstream text;
  text << "# " << host << '\n' << std::scientific;
  for (const std::string& from : nodes) {
    for (const std::string& to : nodes) text << (from == to ? 0.0 : number(from, to)) << '\t';
    text << "nan\n";
  }
  for (std::size_t column = 0; column < nodes.size(); ++column) text << "nan\t";
  text << "nan\n";
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text) || !file.flush()) throw FileError(path, "cannot be written");
}

/// Returns the speed of the fastest link from a GPU to other GPUs, or to it.
double fastest(const SimulatedMachine& machine, const std::vector<std::string>& nodes, const std::string& gpu,
               bool from) {
  double most = 0;
  for (const std::string& other : nodes)
    if (other != gpu && other != "RAM")
      most = std::max(most, link_of(machine, from ? gpu : other, from ? other : gpu).bytes_per_second);
  return most;
}

/// Returns the platform of SimGrid: a link for each pair of memories. All transfers from a GPU to other GPUs also share
/// one link, and so do all to it, as through a switch. A GPU runs the tasks of all its streams at full speed, since the
/// models' times include the slowdown by other streams.
std::string platform(const SimulatedMachine& machine, const std::vector<std::string>& nodes) {
  std::ostringstream text;
  text.precision(17);
  text << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
          "<platform version=\"4.1\">\n<config id=\"General\">\n"
          "<prop id=\"network/TCP-gamma\" value=\"-1\"/>\n<prop id=\"network/latency-factor\" value=\"1\"/>\n"
          "<prop id=\"network/bandwidth-factor\" value=\"1\"/>\n<prop id=\"network/crosstraffic\" value=\"0\"/>\n"
          "<prop id=\"network/weight-S\" value=\"0.0\"/>\n"
          "</config>\n<zone id=\"AS0\" routing=\"Full\">\n<host id=\"MAIN\" speed=\"1f\"/>\n";
  for (int core = 0; core < std::max(machine.cores, 1); ++core)  // StarPU starts on no machine without a core
    text << "<host id=\"CPU" << core << "\" speed=\"2000000000f\"/>\n";
  for (int gpu = 0; gpu < machine.gpus; ++gpu)
    text << "<host id=\"CUDA" << gpu << "\" speed=\"2000000000f\" core=\"64\">\n<prop id=\"model\" value=\"GPU\"/>\n"
         << "<prop id=\"memsize\" value=\"" << static_cast<unsigned long long>(machine.gpu_bytes) << "\"/>\n"
         << "<prop id=\"memcpy_peer\" value=\"1\"/>\n</host>\n";
  text << "<host id=\"RAM\" speed=\"1f\"/>\n";
  for (const std::string& gpu : nodes)
    for (const bool from : {true, false})
      if (gpu != "RAM" && machine.gpus > 1)
        text << "<link id=\"" << host_of(gpu) << (from ? "-out" : "-in") << "\" bandwidth=\""
             << fastest(machine, nodes, gpu, from) << "Bps\" latency=\"0s\"/>\n";
  std::string routes;
  for (const std::string& from : nodes)
    for (const std::string& to : nodes) {
      if (from == to) continue;
      const LinkSpeed& link = link_of(machine, from, to);
      const std::string name = host_of(from) + '-' + host_of(to);
      text << "<link id=\"" << name << "\" bandwidth=\"" << link.bytes_per_second << "Bps\" latency=\"" << link.seconds
           << "s\"/>\n";
      const bool switched = from != "RAM" && to != "RAM";
      routes += "<route src=\"" + host_of(from) + "\" dst=\"" + host_of(to) + "\" symmetrical=\"NO\">" +
                (switched ? "<link_ctn id=\"" + host_of(from) + "-out\"/>" : "") + "<link_ctn id=\"" + name + "\"/>" +
                (switched ? "<link_ctn id=\"" + host_of(to) + "-in\"/>" : "") + "</route>\n";
    }
  return text.str() + routes + "</zone>\n</platform>\n";
}

}  // namespace

std::vector<LinkSpeed> read_links(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) throw FileError(path, "cannot be read");
  if (line != heading_of_links) throw FileError(path, std::string("line 1 is not ") + heading_of_links);
  std::vector<LinkSpeed> links;
  for (int number = 2; std::getline(file, line); ++number) {
    std::istringstream fields(line);
    LinkSpeed link;
    char comma = 0;
    if (!std::getline(fields, link.from, ',') || !std::getline(fields, link.to, ',') ||
        !(fields >> link.bytes_per_second >> comma >> link.seconds) || comma != ',' ||
        !(fields >> comma >> link.column_seconds) || comma != ',' || !fields.eof() || !(link.bytes_per_second > 0) ||
        !(link.seconds >= 0) || !(link.column_seconds >= 0))
      throw FileError(path, "line " + std::to_string(number) + " is not two memories, a speed and two times");
    links.push_back(std::move(link));
  }
  return links;
}

std::vector<LinkSpeed> measured_links(const Runtime& runtime) {
  std::vector<LinkSpeed> links;
  require(runtime.state()->alive, "measured_links", "runtime", "has ended");
  const unsigned nodes = starpu_memory_nodes_get_count();
  for (unsigned from = 0; from < nodes; ++from)
    for (unsigned to = 0; to < nodes; ++to) {
      const double speed = starpu_transfer_bandwidth(from, to), latency = starpu_transfer_latency(from, to);
      if (from == to || name_of_memory(from) == name_of_memory(to) || !std::isfinite(speed) || !std::isfinite(latency))
        continue;
      LinkSpeed link{name_of_memory(from), name_of_memory(to), 1e6 * speed, 1e-6 * latency};
      if (std::any_of(links.begin(), links.end(),
                      [&](const LinkSpeed& other) { return other.from == link.from && other.to == link.to; }))
        continue;
      const bool to_gpu = starpu_node_get_kind(from) == STARPU_CPU_RAM;
      if (to_gpu || starpu_node_get_kind(to) == STARPU_CPU_RAM)
        link.column_seconds = measured_column_seconds(starpu_memory_node_get_devid(to_gpu ? to : from), to_gpu);
      links.push_back(std::move(link));
    }
  return links;
}

std::vector<std::pair<std::string, std::string>> prepare_simulation(const SimulatedMachine& machine,
                                                                    const std::string& folder,
                                                                    const std::string& times) {
  const std::vector<std::string> nodes = memories(machine.gpus);
  std::ostringstream columns;  // bytes that take as long as a column: to a GPU, and from it
  for (const bool to_gpu : {true, false})
    if (machine.gpus > 0) {
      const LinkSpeed& link = link_of(machine, to_gpu ? "RAM" : "GPU0", to_gpu ? "GPU0" : "RAM");
      columns << link.column_seconds * link.bytes_per_second << ' ';
    }
  const std::string bus = folder + "/bus";
  std::filesystem::create_directories(bus);
  write(bus + "/" + host + ".config", "");  // StarPU looks for it, and over SimGrid never reads it
  write(bus + "/" + host + ".platform.v4.xml", platform(machine, nodes));
  write(bus + "/" + host + ".bandwidth", table(nodes, [&](const std::string& from, const std::string& to) {
          return link_of(machine, from, to).bytes_per_second * 1e-6;
        }));
  write(bus + "/" + host + ".latency", table(nodes, [&](const std::string& from, const std::string& to) {
          return link_of(machine, from, to).seconds * 1e6;
        }));
  return {{"STARPU_PERF_MODEL_DIR", folder},
          {"STARPU_HOSTNAME", host},
          {"STARPU_NCPU", std::to_string(machine.cores)},
          {"STARPU_NCUDA", std::to_string(machine.gpus)},
          {"STARPU_NOPENCL", "0"},
          {"STARPU_SCHED", machine.scheduler},
          {"STARPU_CUDA_THREAD_PER_WORKER", "1"},    // SimGrid's StarPU needs it for several streams
          {"STARPU_SIMGRID_CUDA_MALLOC_COST", "0"},  // measured runs follow a first one, which allocates
          {"STARPU_FXT_TRACE", ""},
          {"STARPU_CALIBRATE", ""},
          {"STARPU_WORKERS_CPUID", ""},
          {"STARPU_WORKERS_COREID", ""},
          {"STARPU_WORKERS_CUDAID", ""},
          {"TESELA_MPI", "0"},
          {"TESELA_SIMULATED_COLUMNS", columns.str()},
          {"TESELA_SIMULATED_INT8", machine.int8 ? "1" : ""},
          {"TESELA_SIMULATED_TIMES", times}};
}

std::vector<std::pair<std::string, std::string>> recording_environment(const std::string& folder,
                                                                       const std::string& name) {
  return {{"STARPU_PERF_MODEL_DIR", folder},
          {"STARPU_HOSTNAME", name},
          {"STARPU_PERF_MODEL_HOMOGENEOUS_CUDA", "1"},
          {"STARPU_CUDA_PIPELINE", "0"},
          {"STARPU_HISTORY_MAX_ERROR", "300"},  // percent; the default drops slow tasks, as of shared memory
          {"STARPU_CALIBRATE", ""},
          {detail::separate_flops_variable, "1"}};
}

}  // namespace tesela
