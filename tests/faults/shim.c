// Injects faults into the process that loads this library (LD_PRELOAD): the n-th call of a kind fails, or all calls
// from the n-th on, or they transfer fewer bytes than requested.
//
// System calls are caught by seccomp, not by the names of libc's functions: some libraries make them directly
// (rustix, and thus tempfile), and so does libc's allocator. The kernel sends SIGSYS for them; the handler counts
// the call and makes it or lets it fail. Creation of threads and allocations are caught by name.
//
// MERGANSER_FAULT is `KIND:N:ERRNO:MODE` in numbers. MERGANSER_FAULT_RECORD is a file with room for the record.
// Requires Linux and glibc, on x86-64 or aarch64.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// As in shim.rs.
enum kind {
  OPEN, CREATE, READ, WRITE, SYNC, RENAME, RESIZE, STATUS, DIRECTORY, HANDLE, MAP, MEMORY, THREAD,
  ALLOCATION, KINDS
};
enum mode { ONCE, FROM_THEN_ON, LESS };

struct record {
  _Atomic uint64_t ready;  // 1 once calls are caught, 2 if calls cannot be caught
  _Atomic uint64_t struck;
  _Atomic uint64_t calls[KINDS];
  char path[512];  // the file of the first fault, if it had one
};

static struct record* record;
static long fault[4] = {-1, 0, 0, 0};
static _Atomic int begun, threads;

long shim_call(long number, const long arguments[6]);
extern const char shim_called[];
// The only code whose system calls the kernel does not trap.
#if defined(__x86_64__)
__asm__(
    ".text\n.globl shim_call\n.hidden shim_call\n.hidden shim_called\n.balign 64\nshim_call:\n"
    "mov %rdi, %rax\nmov %rsi, %r11\nmov 0(%r11), %rdi\nmov 8(%r11), %rsi\nmov 16(%r11), %rdx\n"
    "mov 24(%r11), %r10\nmov 32(%r11), %r8\nmov 40(%r11), %r9\nsyscall\nshim_called:\nret\n");

enum { ARCHITECTURE = AUDIT_ARCH_X86_64 };

static void arguments_of(const mcontext_t* at, long a[6]) {
  static const int REGISTERS[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
  for (int i = 0; i < 6; ++i) a[i] = at->gregs[REGISTERS[i]];
}

static void give(mcontext_t* at, long result) { at->gregs[REG_RAX] = result; }
#elif defined(__aarch64__)
__asm__(
    ".text\n.globl shim_call\n.hidden shim_call\n.hidden shim_called\n.balign 64\nshim_call:\n"
    "mov x8, x0\nmov x9, x1\nldp x0, x1, [x9]\nldp x2, x3, [x9, 16]\nldp x4, x5, [x9, 32]\n"
    "svc 0\nshim_called:\nret\n");

enum { ARCHITECTURE = AUDIT_ARCH_AARCH64 };
// Calls that this processor's Linux does not have: no call has these numbers.
enum { SYS_open = -100, SYS_stat, SYS_lstat, SYS_mkdir, SYS_readlink, SYS_rename, SYS_link };

static void arguments_of(const mcontext_t* at, long a[6]) {
  for (int i = 0; i < 6; ++i) a[i] = (long)at->regs[i];
}

static void give(mcontext_t* at, long result) { at->regs[0] = (unsigned long)result; }
#else
#error "unknown processor"
#endif

/// Counts a call; returns whether it fails (2 for the first failure).
static int strikes(enum kind kind) {
  if (!atomic_load(&begun)) return 0;
  const long number = (long)atomic_fetch_add(&record->calls[kind], 1) + 1;
  if (fault[0] != (long)kind) return 0;
  const int now = fault[3] == ONCE ? number == fault[1] : number >= fault[1];
  return now && atomic_fetch_add(&record->struck, 1) == 0 ? 2 : now;
}

static void note_path(const char* path) {
  for (size_t i = 0; i + 1 < sizeof record->path && path[i]; ++i) record->path[i] = path[i];
}

static void note_handle(long handle) {
  char name[40] = "/proc/self/fd/", digits[20];
  size_t at = 14, count = 0;
  for (unsigned long rest = (unsigned long)handle; count == 0 || rest; rest /= 10)
    digits[count++] = (char)('0' + rest % 10);
  while (count) name[at++] = digits[--count];
  // Not with libc: a trapped call within the handler would be fatal.
  const long arguments[6] = {AT_FDCWD, (long)name, (long)record->path, sizeof record->path - 1};
  const long length = shim_call(SYS_readlinkat, arguments);
  if (length > 0) record->path[length] = 0;
}

static int kind_of_open(long flags) {
  // Directories are a kind of their own: not even std repeats an interrupted open of one.
  if (flags & O_DIRECTORY) return DIRECTORY;
  return flags & (O_WRONLY | O_RDWR) ? CREATE : OPEN;
}

static int kind_of(long number, const long* a) {
  switch (number) {
    case SYS_open: return kind_of_open(a[1]);
    case SYS_openat: return kind_of_open(a[2]);
    case SYS_read: case SYS_pread64: case SYS_readv: case SYS_preadv: case SYS_preadv2: return READ;
    // stderr is excluded: messages are not results.
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_pwritev2:
      return a[0] == 2 ? -1 : WRITE;
    case SYS_copy_file_range: case SYS_sendfile: return WRITE;
    case SYS_fsync: case SYS_fdatasync: case SYS_sync_file_range: return SYNC;
    case SYS_rename: case SYS_renameat: case SYS_renameat2: case SYS_link: case SYS_linkat:
      return RENAME;
    case SYS_ftruncate: case SYS_fallocate: case SYS_lseek: return RESIZE;
    case SYS_stat: case SYS_lstat: case SYS_fstat: case SYS_newfstatat: case SYS_statx:
    case SYS_readlink: case SYS_readlinkat: return STATUS;
    case SYS_mkdir: case SYS_mkdirat: case SYS_getdents64: return DIRECTORY;
    case SYS_fcntl: return a[1] == F_DUPFD_CLOEXEC || a[1] == F_DUPFD ? HANDLE : -1;
    case SYS_fchmod: case SYS_fadvise64: return HANDLE;
    case SYS_mmap: return (int)a[4] >= 0 && !(a[3] & MAP_ANONYMOUS) ? MAP : MEMORY;
    case SYS_brk: return a[0] ? MEMORY : -1;
    case SYS_mremap: return MEMORY;
    case SYS_mprotect: return a[2] & PROT_WRITE ? MEMORY : -1;
    default: return -1;
  }
}

static void note(long number, const long* a) {
  switch (number) {
    case SYS_open: case SYS_stat: case SYS_lstat: case SYS_mkdir: case SYS_readlink:
      return note_path((const char*)a[0]);
    case SYS_rename: case SYS_link: return note_path((const char*)a[1]);
    case SYS_openat: case SYS_newfstatat: case SYS_mkdirat: case SYS_readlinkat: case SYS_statx:
      if (a[1] && *(const char*)a[1]) return note_path((const char*)a[1]);
      return note_handle(a[0]);
    case SYS_renameat: case SYS_renameat2: case SYS_linkat: return note_path((const char*)a[3]);
    case SYS_mmap:
      if ((int)a[4] >= 0) note_handle((int)a[4]);
      return;
    case SYS_brk: case SYS_mremap: case SYS_mprotect: return;
    default: return note_handle(a[0]);
  }
}

/// Reduces the number of bytes that the call transfers.
static void lessen(long number, long* a, long most) {
  switch (number) {
    case SYS_read: case SYS_pread64: case SYS_write: case SYS_pwrite64:
      if (a[2] > most) a[2] = most;
      return;
    case SYS_sendfile: if (a[3] > most) a[3] = most; return;
    case SYS_copy_file_range: if (a[4] > most) a[4] = most; return;
    default: a[2] = a[2] > 1 ? 1 : a[2];  // only the first of several buffers
  }
}

static void caught(int signal, siginfo_t* info, void* context) {
  (void)signal;
  mcontext_t* at = &((ucontext_t*)context)->uc_mcontext;
  const long number = info->si_syscall;
  long a[6];
  arguments_of(at, a);
  // The program first queries this limit; earlier calls belong to libc and std.
  if (number == SYS_prlimit64 && a[1] == RLIMIT_AS) atomic_store(&begun, 1);
  const int kind = kind_of(number, a);
  const int now = kind < 0 ? 0 : strikes((enum kind)kind);
  if (now == 2) note(number, a);
  if (now && fault[3] == LESS) lessen(number, a, fault[2]);
  if (now && fault[3] != LESS) {
    const long none[6] = {0};
    give(at, number == SYS_brk ? shim_call(SYS_brk, none) : -fault[2]);
  } else {
    give(at, shim_call(number, a));
  }
}

static const int CAUGHT[] = {
    SYS_open, SYS_openat, SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_preadv2, SYS_write,
    SYS_pwrite64, SYS_writev, SYS_pwritev, SYS_pwritev2, SYS_copy_file_range, SYS_sendfile,
    SYS_fsync, SYS_fdatasync, SYS_sync_file_range, SYS_rename, SYS_renameat, SYS_renameat2,
    SYS_link, SYS_linkat, SYS_ftruncate, SYS_fallocate, SYS_lseek, SYS_stat, SYS_lstat, SYS_fstat,
    SYS_newfstatat, SYS_statx, SYS_readlink, SYS_readlinkat, SYS_mkdir, SYS_mkdirat,
    SYS_getdents64, SYS_fcntl, SYS_fchmod, SYS_fadvise64, SYS_mmap, SYS_brk, SYS_mremap,
    SYS_mprotect, SYS_prlimit64};
enum { CALLS = sizeof CAUGHT / sizeof *CAUGHT };

/// Makes the kernel send SIGSYS for these calls, except in `shim_call`.
static int catch_calls(void) {
  struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_RESTART};
  if (sigaction(SIGSYS, &action, NULL)) return -1;
  const uint64_t place = (uint64_t)(uintptr_t)shim_called;
  struct sock_filter filter[9 + CALLS] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 0, CALLS + 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)place, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(place >> 32), CALLS + 1, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
  int at = 7;
  for (int i = 0; i < CALLS; ++i) {
    const struct sock_filter jump =
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)CAUGHT[i], (uint8_t)(CALLS - i), 0);
    filter[at++] = jump;
  }
  filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  const struct sock_fprog program = {.len = (unsigned short)at, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int (*create_thread)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

__attribute__((constructor)) static void start(void) {
  const char* path = getenv("MERGANSER_FAULT_RECORD");
  const char* text = getenv("MERGANSER_FAULT");
  create_thread = dlsym(RTLD_NEXT, "pthread_create");
  const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0 || !create_thread) return;
  void* memory = mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return;
  record = memory;
  for (int i = 0; text && i < 4; ++i) {
    char* end;
    fault[i] = strtol(text, &end, 10);
    text = *end == ':' ? end + 1 : NULL;
  }
  atomic_store(&record->ready, catch_calls() == 0 ? 1 : 2);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  atomic_store(&threads, 1);
  if (strikes(THREAD)) return (int)fault[2];
  return create_thread(thread, attributes, run, argument);
}

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static int no_memory(void) {
  // Arguments are parsed before a second thread exists; this allocates thousands of times.
  if (!atomic_load(&threads) || !strikes(ALLOCATION)) return 0;
  errno = ENOMEM;
  return 1;
}
void* malloc(size_t size) { return no_memory() ? NULL : __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return no_memory() ? NULL : __libc_calloc(count, size); }
void* realloc(void* old, size_t size) { return no_memory() ? NULL : __libc_realloc(old, size); }
void* memalign(size_t align, size_t size) { return no_memory() ? NULL : __libc_memalign(align, size); }
void* aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
int posix_memalign(void** out, size_t align, size_t size) {
  void* memory = memalign(align, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}
