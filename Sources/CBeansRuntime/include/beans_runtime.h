#ifndef BEANS_RUNTIME_H
#define BEANS_RUNTIME_H

#include <stdint.h>

#include "beans_conformances.h"
#include "beans_reflection.h"

// Exported by the Swift runtime, whose own headers are not installed with the toolchain.
extern void *swift_nonatomic_retain(void *object);
extern void swift_release(void *object);

// The few things the container needs that Swift has no spelling for: one thread-local pointer, and questions to the
// Swift runtime. Everything else is Swift.

/// Reached without a call, which would make the compiler put registers away. A library that is loaded by hand may have
/// little of this.
#define BEANS_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))

extern BEANS_THREAD_LOCAL void *beans_thread_resolution;

/// The innermost resolution running on this thread, or null.
static inline void *beans_resolution(void) { return beans_thread_resolution; }

static inline void beans_set_resolution(void *resolution) { beans_thread_resolution = resolution; }

extern BEANS_THREAD_LOCAL uint32_t beans_thread_number;
uint32_t beans_number_thread(void);

/// A number that tells living threads apart, given out once per thread; its two lowest bits are 0. Fits 32 bits.
static inline uintptr_t beans_thread(void) {
  uint32_t number = beans_thread_number;
  return number ? number : beans_number_thread();
}

/// Retains an object that no other thread can see yet.
static inline void beans_retain_unshared(const void *object) { swift_nonatomic_retain((void *)object); }

/// The counts of an object as the Swift runtime makes it: one strong reference, none that is weak or unowned. They stand
/// behind the pointer to its class.
#define BEANS_SINGLE_REFERENCE 3
/// What one more strong reference adds to them.
#define BEANS_REFERENCE (1ull << 33)
/// What they are from the release of the last strong reference on, while `deinit` runs.
#define BEANS_LAST_RELEASED 0x100000003ull

/// Whether nobody but the caller has any way to the object.
static inline _Bool beans_is_single_reference(const void *object) {
  return __atomic_load_n((const uint64_t *)object + 1, __ATOMIC_RELAXED) == BEANS_SINGLE_REFERENCE;
}

/// The counts of an object that has been retained ahead once more than one with these; 0 for none so far.
static inline uint64_t beans_counts_with_one_more(uint64_t counts) {
  return (counts ? counts : BEANS_SINGLE_REFERENCE) + BEANS_REFERENCE;
}

/// Retains an object ahead, so often that it has these counts, if nobody but the caller has any way to it; not for 0.
/// Such a way is a reference that is counted, of any kind: an address that its `init` gives away uncounted must not
/// become one on another thread yet.
static inline _Bool beans_retain_ahead(const void *object, uint64_t counts) {
  if (counts == 0 || !beans_is_single_reference(object)) return 0;
  __atomic_store_n((uint64_t *)object + 1, counts, __ATOMIC_RELAXED);
  return 1;
}

/// What a class does to destroy an object; it stands before what the pointer to the class points at.
typedef void (*beans_destroy)(__attribute__((swift_context)) const void *object) __attribute__((swiftcall));

/// Releases an object. Where nobody else has any way to it, as the Swift runtime would, but without a locked instruction
/// and without being asked again what has been found out here.
static inline void beans_release(const void *object) {
  if (!beans_is_single_reference(object)) return swift_release((void *)object);
  // What others did to the object before they let go of it comes first.
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  __atomic_store_n((uint64_t *)object + 1, BEANS_LAST_RELEASED, __ATOMIC_RELAXED);
  (*(beans_destroy *const *)object)[-2](object);
}

/// Asks for what stands at an address, which is going to be read soon. Any address will do.
static inline void beans_fetch(const void *address) { __builtin_prefetch(address); }

/// Keeps the compiler from moving reads and writes across; costs nothing when it runs.
static inline void beans_compiler_fence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

/// Whether the system can run a memory barrier on all threads of this process at once; asked before `main`.
static inline _Bool beans_has_barrier_on_all_threads(void) {
  extern _Bool beans_has_barrier;
  return beans_has_barrier;
}
/// Runs it: about a microsecond. What other threads have only fenced from their compiler is in order then.
void beans_barrier_on_all_threads(void);
/// The other side of it; where there is no such barrier, a barrier of its own.
static inline void beans_barrier_on_this_thread(void) {
  if (beans_has_barrier_on_all_threads())
    beans_compiler_fence();
  else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// What one thread has in use without having counted itself in: a few addresses that other threads may read, 0 where
/// there is none. Records outlive their threads and are handed on, so that readers never meet a freed one.
#define BEANS_LENDS 7
typedef struct beans_lends {
  const void *lent[BEANS_LENDS];
  uint32_t is_taken;
  struct beans_lends *next;
} beans_lends;

/// Never null: a thread without a record has one whose first place is never free.
extern BEANS_THREAD_LOCAL beans_lends *beans_thread_lends;
/// A free place of the calling thread's record, which it may have to be given; null where there is none.
const void **beans_find_lend(void);

/// Notes that the calling thread uses something of `owner`; answers where, or null where there is no place left.
static inline const void **beans_lend(const void *owner) {
  // Nearly always, a thread uses one thing at a time.
  const void **lend = beans_thread_lends->lent;
  if (*lend) {
    lend = beans_find_lend();
    if (!lend) return 0;
  }
  __atomic_store_n(lend, owner, __ATOMIC_RELAXED);
  beans_compiler_fence();
  return lend;
}

/// The same for a thread that has nothing in use; null for others.
static inline const void **beans_lend_first(const void *owner) {
  const void **lend = beans_thread_lends->lent;
  if (*lend) return 0;
  __atomic_store_n(lend, owner, __ATOMIC_RELAXED);
  beans_compiler_fence();
  return lend;
}

/// Crosses a note out.
static inline void beans_return(const void **lend) {
  __atomic_store_n(lend, 0, __ATOMIC_RELEASE);
  beans_compiler_fence();
}

/// Whether any thread uses something of `owner`. Runs the barrier.
_Bool beans_is_lent(const void *owner);

/// The notes of the calling thread: whose something it uses, or null, for each place of its record.
const void *beans_lend_owner(uint32_t index);
/// How many there are.
uint32_t beans_lend_count(void);

/// Tell ThreadSanitizer what a lock orders, where the program runs under it; do nothing elsewhere.
void beans_lock_acquired(const void *lock);
void beans_lock_releasing(const void *lock);

/// The address below which a thread has little stack left; asked of the system once per thread.
extern BEANS_THREAD_LOCAL uintptr_t beans_thread_stack_limit;
uintptr_t beans_find_stack_limit(void);

/// Whether the calling thread is about to run out of stack.
static inline _Bool beans_stack_is_low(void) {
  uintptr_t limit = beans_thread_stack_limit;
  if (!limit) limit = beans_find_stack_limit();
  return (uintptr_t)__builtin_frame_address(0) < limit;
}

#endif
