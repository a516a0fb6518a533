/* A plugin of qemu-user that counts the instructions a program executes, on all threads.
 *
 * The declarations are those of version 1 of QEMU's plugin interface (QEMU 4.2 and newer), because Debian has no
 * package with `qemu-plugin.h`.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
typedef void (*block_translated)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*block_starts)(unsigned int vcpu, void *data);
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, block_translated);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, block_starts, enum qemu_plugin_cb_flags, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

/* One counter for each thread, on a cache line of its own: threads do not share them, so they need no atomics. */
enum { THREADS = 256 };
static struct { _Alignas(64) uint64_t count; } threads[THREADS];

static void start(unsigned int vcpu, void *instructions) {
    threads[vcpu % THREADS].count += (uintptr_t)instructions;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
    (void)id;
    void *instructions = (void *)(uintptr_t)qemu_plugin_tb_n_insns(block);
    qemu_plugin_register_vcpu_tb_exec_cb(block, start, QEMU_PLUGIN_CB_NO_REGS, instructions);
}

static void finish(qemu_plugin_id_t id, void *data) {
    (void)id;
    (void)data;
    uint64_t sum = 0;
    for (size_t thread = 0; thread < THREADS; thread++) {
        sum += threads[thread].count;
    }
    fprintf(stderr, "instructions: %" PRIu64 "\n", sum);
}

/* The second argument describes the emulated machine, which is not needed here. */
__attribute__((visibility("default"))) int qemu_plugin_install(
    qemu_plugin_id_t id, const void *machine, int count, char **arguments) {
    (void)machine;
    (void)count;
    (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finish, NULL);
    return 0;
}
