#pragma once

#include <tesela/runtime/internal/device_copies.hpp>
#include <tesela/runtime/internal/messages.hpp>

#include <sys/types.h>
#include <vector>

// Ranks of one host that can read each other's memory. Internal to the runtime.

namespace tesela::detail {

class LocalPeers {
 public:
  /// Finds the ranks that can exchange tiles with this one through host memory or GPU memory (TESELA_LOCAL_COPIES: 0
  /// disables both, "host" the GPUs). All ranks must call it.
  void find(Messages&, DeviceCopies&);
  void close() noexcept;

  bool any() const;
  bool has(int rank) const { return of(rank).pipe >= 0; }
  bool has_devices(int rank) const { return of(rank).devices; }

  /// Writes a note to a rank's pipe: whole notes of up to 4096 bytes arrive, in order.
  void write_note(int rank, const void* note, std::size_t bytes) const { write_to(of(rank).pipe, note, bytes); }
  void write_note_to_self(const void* note, std::size_t bytes) const { write_to(own_pipe_[1], note, bytes); }
  /// Reads the next note; returns false if its length differs.
  bool hear(void* note, std::size_t bytes) const;

  /// Copies from another rank's host memory.
  bool read(int rank, const Runs& to, const std::byte* from, std::size_t stride) const;

 private:
  struct Peer {
    pid_t pid = 0;
    int pipe = -1;  ///< the peer's reading end; -1: out of reach
    bool devices = false;
  };
  const Peer& of(int rank) const { return peers_[static_cast<std::size_t>(rank)]; }
  static void write_to(int pipe, const void* note, std::size_t bytes);

  std::vector<Peer> peers_;
  int own_pipe_[2] = {-1, -1};
};

}  // namespace tesela::detail
