#include <tesela/runtime/internal/topology_parts.hpp>
#include <tesela/runtime/machine/topology.hpp>

#include <hwloc.h>

#include <algorithm>
#include <memory>

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

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// Returns hwloc's topology of the machine; null if hwloc fails.
Topology load() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw std::bad_alloc();
  Topology owner(topology, &hwloc_topology_destroy);
  if (hwloc_topology_load(topology) != 0) owner.reset();
  return owner;
}

}  // namespace

int detail::usable_cores() {
  const Topology owner = load();
  const int cores = owner ? count(owner.get(), HWLOC_OBJ_CORE) : 0;
  if (cores == 0) return 0;
  const int per_core = std::max(1, count(owner.get(), HWLOC_OBJ_PU) / cores);
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> bound(hwloc_bitmap_alloc(), &hwloc_bitmap_free);
  if (!bound || hwloc_get_cpubind(owner.get(), bound.get(), HWLOC_CPUBIND_THREAD) != 0) return cores;
  hwloc_bitmap_and(bound.get(), bound.get(), hwloc_topology_get_topology_cpuset(owner.get()));
  return hwloc_bitmap_weight(bound.get()) / per_core;
}

std::vector<std::vector<int>> detail::cores_of_host() {
  const Topology owner = load();
  std::vector<std::vector<int>> cores;
  for (int k = 0; owner && k < count(owner.get(), HWLOC_OBJ_CORE); ++k) {
    const hwloc_const_bitmap_t units =
        hwloc_get_obj_by_type(owner.get(), HWLOC_OBJ_CORE, static_cast<unsigned>(k))->cpuset;
    cores.emplace_back();
    for (int unit = hwloc_bitmap_first(units); unit >= 0; unit = hwloc_bitmap_next(units, unit))
      cores.back().push_back(unit);
  }
  return cores;
}

Machine describe_machine() {
  const Topology owner = load();
  if (!owner) return {};
  hwloc_topology_t topology = owner.get();

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
