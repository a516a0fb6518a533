// The host's context for cooperative routines (context.cuh): every lane is a fiber, every access to
// shared memory and every collective a point at which a seeded scheduler goes on with any lane that
// can run. One seed is one interleaving, repeatable. Host only; Linux (ucontext).
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace mgpu {

/// Runs tiles of lanes to their end, interleaved. Not for threads: one at a time.
class interleaver {
 public:
  class context;

  interleaver(int tiles, int lanes, uint64_t seed) : lanes_(lanes), random_(seed) {
    tiles_.resize(tiles);
    fibers_.resize(static_cast<size_t>(tiles) * lanes);
    for (auto& tile : tiles_) tile.values.resize(lanes);
  }

  /// Calls `routine(ctx, tile)` on every lane. False: a deadlock, some lanes of a tile are in a
  /// collective that the others do not come to, or no end after `max_steps` steps.
  bool run(const std::function<void(context&, int)>& routine, uint64_t max_steps = 1u << 22);

 private:
  struct fiber {
    ucontext_t state{};
    std::vector<char> stack;
    bool done = false;
    bool waiting = false;  // in a collective that is not complete
  };
  struct tile_state {
    std::vector<uint64_t> values;  // what each lane brought to the collective
    int arrived = 0;
    int left = 0;
  };

  static void enter(unsigned high, unsigned low);
  void yield(size_t me) { swapcontext(&fibers_[me].state, &scheduler_); }

  int lanes_;
  std::mt19937_64 random_;
  std::vector<tile_state> tiles_;
  std::vector<fiber> fibers_;
  ucontext_t scheduler_{};
  std::function<void(size_t)> body_;
  size_t current_ = 0;
};

/// One lane's view. Values are at most 64 bits wide.
class interleaver::context {
 public:
  context(interleaver& all, size_t me) : all_(all), me_(me) {}

  int lane() const { return static_cast<int>(me_ % all_.lanes_); }
  int lanes() const { return all_.lanes_; }
  template <class T>
  T load(const T* address) {
    pause();
    return *address;
  }
  template <class T>
  T cas(T* address, T expected, T desired) {
    pause();
    const T found = *address;
    if (found == expected) *address = desired;
    return found;
  }
  uint32_t ballot(bool value) {
    uint32_t bits = 0;
    meet(value, [&](const std::vector<uint64_t>& values) {
      for (size_t i = 0; i < values.size(); ++i) bits |= static_cast<uint32_t>(values[i]) << i;
    });
    return bits;
  }
  template <class T>
  T shfl(T value, int lane) {
    T got{};
    meet(static_cast<uint64_t>(value),
         [&](const std::vector<uint64_t>& values) { got = static_cast<T>(values[lane]); });
    return got;
  }
  void sync() {
    meet(0, [](const std::vector<uint64_t>&) {});
  }
  /// Lets the scheduler go on with any lane.
  void pause() { all_.yield(me_); }

 private:
  /// A collective: everyone's value is there before anyone reads, and everyone has read before the
  /// next one's values come.
  template <class Read>
  void meet(uint64_t value, Read read) {
    const size_t first = me_ - lane();
    tile_state& tile = all_.tiles_[first / all_.lanes_];
    pause();
    tile.values[lane()] = value;
    if (++tile.arrived == all_.lanes_) {
      for (int i = 0; i < all_.lanes_; ++i) all_.fibers_[first + i].waiting = false;
    } else {
      all_.fibers_[me_].waiting = true;
      pause();
    }
    read(tile.values);
    if (++tile.left == all_.lanes_) {
      tile.arrived = tile.left = 0;
      for (int i = 0; i < all_.lanes_; ++i) all_.fibers_[first + i].waiting = false;
    } else {
      all_.fibers_[me_].waiting = true;
      pause();
    }
  }

  interleaver& all_;
  size_t me_;
};

inline void interleaver::enter(unsigned high, unsigned low) {
  // makecontext passes ints only.
  auto* self = reinterpret_cast<interleaver*>(static_cast<uintptr_t>(high) << 32 | low);
  const size_t me = self->current_;
  self->body_(me);
  self->fibers_[me].done = true;
  self->yield(me);
}

inline bool interleaver::run(const std::function<void(context&, int)>& routine,
                             uint64_t max_steps) {
  body_ = [&](size_t me) {
    context lane(*this, me);
    routine(lane, static_cast<int>(me / lanes_));
  };
  const uintptr_t self = reinterpret_cast<uintptr_t>(this);
  for (auto& fiber : fibers_) {
    fiber.stack.resize(64 << 10);
    fiber.done = fiber.waiting = false;
    getcontext(&fiber.state);
    fiber.state.uc_stack.ss_sp = fiber.stack.data();
    fiber.state.uc_stack.ss_size = fiber.stack.size();
    makecontext(&fiber.state, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  }
  std::vector<size_t> ready;
  for (uint64_t step = 0; step < max_steps; ++step) {
    ready.clear();
    size_t done = 0;
    for (size_t i = 0; i < fibers_.size(); ++i) {
      done += fibers_[i].done;
      if (!fibers_[i].done && !fibers_[i].waiting) ready.push_back(i);
    }
    if (done == fibers_.size()) return true;
    if (ready.empty()) return false;
    current_ = ready[random_() % ready.size()];
    swapcontext(&scheduler_, &fibers_[current_].state);
  }
  return false;
}

}  // namespace mgpu
