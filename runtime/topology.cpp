#include "runtime/topology.hpp"

#include "runtime/topology_cuda.hpp"

#include <hwloc.h>

#include <memory>
#include <stdexcept>

namespace tesela {
namespace {

int count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  const int n = hwloc_get_nbobjs_by_type(topology, type);
  return n > 0 ? n : 0;
}

const char* info(hwloc_obj_t object, const char* key) {
  const char* value = object != nullptr ? hwloc_obj_get_info_by_name(object, key) : nullptr;
  return value != nullptr ? value : "";
}

}  // namespace

Machine describe_machine() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw std::bad_alloc();
  const std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)> owner(topology, &hwloc_topology_destroy);
  if (hwloc_topology_load(topology) != 0) return {};

  Machine machine;
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  machine.host = info(root, "HostName");
  machine.cpu_model = info(hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0), "CPUModel");
  machine.sockets = count(topology, HWLOC_OBJ_PACKAGE);
  machine.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
  machine.cores = count(topology, HWLOC_OBJ_CORE);
  machine.threads = count(topology, HWLOC_OBJ_PU);
  machine.memory_bytes = static_cast<index_t>(root->total_memory);
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
    hwloc_obj_t first = hwloc_get_obj_by_type(topology, type, 0);
    if (first != nullptr)
      machine.caches.push_back({static_cast<int>(first->attr->cache.depth), count(topology, type),
                                static_cast<index_t>(first->attr->cache.size)});
  }
  detail::describe_gpus(machine);
  return machine;
}

}  // namespace tesela
