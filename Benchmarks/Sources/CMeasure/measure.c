#include "measure.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

// The C library's own entry points, which it exports for this purpose.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static _Atomic int counting;
static _Atomic uint64_t blocks;

static inline void count(void) {
  if (__builtin_expect(atomic_load_explicit(&counting, memory_order_relaxed), 0))
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  count();
  return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
  count();
  void *found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *block = found;
  return 0;
}

void measure_start_counting(void) {
  atomic_store(&blocks, 0);
  atomic_store(&counting, 1);
}

uint64_t measure_stop_counting(void) {
  atomic_store(&counting, 0);
  return atomic_load(&blocks);
}

uint64_t measure_live_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void measure_use(const void *pointer) { __asm__ volatile("" : : "r"(pointer) : "memory"); }
