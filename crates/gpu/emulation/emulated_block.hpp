// The implementation of block.cuh on the host: a launch runs its blocks one after the other; the threads of a
// block are fibers that run from collective to collective, each round in another order. Linux only
// (ucontext). One launch at a time, since shared variables are static.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "cuda_runtime.h"

#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define MGPU_SHARED static
#define MGPU_LAUNCH(kernel, blocks, threads, stream, ...)                            \
  (static_cast<void>(stream), mgpu::emulation::machine::get().launch((blocks), (threads), \
                                                                     [&] { kernel(__VA_ARGS__); }))

namespace mgpu {
namespace emulation {

class machine {
 public:
  static machine& get() {
    static machine only;
    return only;
  }

  void launch(uint32_t blocks, uint32_t threads, const std::function<void()>& kernel) {
    if (const cudaError_t fault = faults::get().next(); fault != cudaSuccess) {
      // The error is kept until it is queried, whatever is launched after it.
      last_error() = fault;
      return;
    }
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    kernel_ = &kernel;
    threads_ = threads;
    blocks_ = blocks;
    while (fibers_.size() < threads) fibers_.emplace_back();
    for (auto& values : values_) values.assign(threads, 0);
    for (block_ = 0; block_ < blocks; ++block_) run_block();
  }

  uint32_t thread() const { return current_; }
  uint32_t threads() const { return threads_; }
  uint32_t block() const { return block_; }
  uint32_t blocks() const { return blocks_; }

  /// Shares one value a thread: returns the values of all threads after all have called. The result is valid until
  /// this thread's next collective: a thread is at most one ahead of another, hence two sets.
  const std::vector<uint64_t>& meet(uint64_t value) {
    fiber& me = fibers_[current_];
    std::vector<uint64_t>& values = values_[me.meetings++ % 2];
    values[current_] = value;
    leave(me);
    return values;
  }

 private:
  /// One thread of a block. The fiber is reused for the thread of this number in every block and kernel.
  struct fiber {
    std::vector<char> stack = std::vector<char>(128 << 10);
    jmp_buf state;
    bool begun = false, done = false;
    uint64_t meetings = 0;
  };

  /// The entry point of a fiber: runs the current kernel again and again.
  static void enter() {
    machine& all = get();
    fiber& me = all.fibers_[all.current_];
    for (;;) {
      (*all.kernel_)();
      me.done = true;
      all.leave(me);
    }
  }

  /// Switches from a fiber to the scheduler. swapcontext would do a system call for the signal mask, which
  /// took half of a kernel's time.
  __attribute__((noinline)) void leave(fiber& me) {
    if (_setjmp(me.state) == 0) _longjmp(scheduler_, 1);
  }

  /// Switches from the scheduler to a fiber, until the fiber leaves.
  __attribute__((noinline)) void go_on(fiber& one) {
    if (_setjmp(scheduler_) != 0) return;
    if (one.begun) _longjmp(one.state, 1);
    one.begun = true;
    ucontext_t first{};
    getcontext(&first);
    first.uc_stack.ss_sp = one.stack.data();
    first.uc_stack.ss_size = one.stack.size();
    makecontext(&first, enter, 0);
    setcontext(&first);
  }

  void run_block() {
    for (uint32_t i = 0; i < threads_; ++i) {
      fibers_[i].done = false;
      fibers_[i].meetings = 0;
    }
    uint32_t left = threads_;
    while (left > 0) {
      seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
      // An odd step visits all threads once if their number is a power of two.
      const uint32_t start = static_cast<uint32_t>(seed_ >> 33) % threads_;
      const uint32_t step = threads_ % 2 == 0 ? static_cast<uint32_t>(seed_ >> 20) | 1 : 1;
      const bool coprime = (threads_ & (threads_ - 1)) == 0;
      uint32_t ended = 0;
      for (uint32_t i = 0; i < threads_; ++i) {
        current_ = (start + (coprime ? i * step : i)) % threads_;
        if (fibers_[current_].done) continue;
        go_on(fibers_[current_]);
        ended += fibers_[current_].done;
      }
      if (ended != 0 && ended != left) {
        std::fprintf(stderr, "emulation: some threads ended while others wait for them\n");
        std::abort();
      }
      left -= ended;
    }
  }

  std::mutex mutex_;
  const std::function<void()>* kernel_ = nullptr;
  uint32_t threads_ = 0, blocks_ = 0, block_ = 0, current_ = 0;
  uint64_t seed_ = 1;
  /// The fibers; a deque, because their addresses must not change.
  std::deque<fiber> fibers_;
  std::vector<uint64_t> values_[2];
  jmp_buf scheduler_;
};

}  // namespace emulation

template <int Threads>
class block {
 public:
  static constexpr uint32_t threads() { return Threads; }
  uint32_t thread() const { return all_.thread(); }
  uint32_t index() const { return all_.block(); }
  uint32_t count() const { return all_.blocks(); }
  void sync() { all_.meet(0); }
  uint64_t clock() const { return 0; }
  uint32_t ballot(bool value) {
    const auto& values = all_.meet(value);
    const uint32_t first = thread() / 32 * 32;
    uint32_t bits = 0;
    for (uint32_t i = 0; i < 32; ++i) bits |= static_cast<uint32_t>(values[first + i]) << i;
    return bits;
  }
  uint32_t shuffle(uint32_t value, uint32_t lane) {
    return static_cast<uint32_t>(all_.meet(value)[thread() / 32 * 32 + lane]);
  }
  template <class T>
  T add(T* address, T value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  }
  template <class T>
  void set(T* address, T bits) {
    __atomic_fetch_or(address, bits, __ATOMIC_RELAXED);
  }
  uint64_t load(const uint64_t* address) const { return *address; }
  uint32_t sum_before(uint32_t value, uint32_t& sum) {
    const auto& values = all_.meet(value);
    uint64_t before = 0, all = 0;
    for (uint32_t i = 0; i < Threads; ++i) {
      before += i < thread() ? values[i] : 0;
      all += values[i];
    }
    sum = static_cast<uint32_t>(all);
    return static_cast<uint32_t>(before);
  }

 private:
  emulation::machine& all_ = emulation::machine::get();
};

}  // namespace mgpu
