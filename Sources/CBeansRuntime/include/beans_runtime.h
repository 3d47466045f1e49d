#ifndef BEANS_RUNTIME_H
#define BEANS_RUNTIME_H

#include <stdint.h>

#include "beans_reflection.h"

// Exported by the Swift runtime, whose own headers are not installed with the toolchain.
extern void *swift_nonatomic_retain(void *object);

// The few things the container needs that Swift has no spelling for: one thread-local pointer, and a question to the
// Swift runtime. Everything else is Swift.

extern _Thread_local void *beans_thread_resolution;

/// The innermost resolution running on this thread, or null.
static inline void *beans_resolution(void) { return beans_thread_resolution; }

static inline void beans_set_resolution(void *resolution) { beans_thread_resolution = resolution; }

/// A word that tells living threads apart; its two lowest bits are 0.
static inline uintptr_t beans_thread(void) { return (uintptr_t)&beans_thread_resolution; }

/// The witness table of a type for a protocol (metadata and descriptor), or null.
const void *beans_conformance(const void *type, const void *protocol);

/// Retains an object that no other thread can see yet.
static inline void beans_retain_unshared(const void *object) { swift_nonatomic_retain((void *)object); }

/// Tell ThreadSanitizer what a lock orders, where the program runs under it; do nothing elsewhere.
void beans_lock_acquired(const void *lock);
void beans_lock_releasing(const void *lock);

/// The address below which a thread has little stack left; asked of the system once per thread.
extern _Thread_local uintptr_t beans_thread_stack_limit;
uintptr_t beans_find_stack_limit(void);

/// Whether the calling thread is about to run out of stack.
static inline _Bool beans_stack_is_low(void) {
  uintptr_t limit = beans_thread_stack_limit;
  if (!limit) limit = beans_find_stack_limit();
  return (uintptr_t)__builtin_frame_address(0) < limit;
}

#endif
