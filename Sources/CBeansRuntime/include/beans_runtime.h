#ifndef BEANS_RUNTIME_H
#define BEANS_RUNTIME_H

#include <sched.h>
#include <stdint.h>

// Every library depends on this module, so that a build on another platform stops here, with a clear message, and not
// with "no such module 'Glibc'" in another file. On macOS, where no build has been tried, the modules that need libuv stop in
// `CLibuv`, and the others continue.
#if !((defined(__linux__) && defined(__GLIBC__)) || defined(__APPLE__)) || !(defined(__x86_64__) || defined(__aarch64__))
#error swift-beans supports Linux with glibc on x86_64 and arm64. It supports neither macOS, Windows nor musl (the static Linux SDK): see the section 'Platforms' of its README.
#endif

#include "beans_conformances.h"
#include "beans_reflection.h"

// Operations of the container for which Swift has no spelling: thread-local words, counting references in steps, a
// memory barrier on all threads, and notes of the objects that a thread uses.

#ifdef __APPLE__
#define BEANS_THREAD_LOCAL _Thread_local
#else
#define BEANS_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
#endif

// MARK: threads

extern BEANS_THREAD_LOCAL const void *beans_thread_resolution;

/// The innermost resolution context of this thread, or null.
static inline const void *beans_resolution(void) { return beans_thread_resolution; }
static inline void beans_set_resolution(const void *resolution) { beans_thread_resolution = resolution; }

extern BEANS_THREAD_LOCAL uint32_t beans_thread_number;
uint32_t beans_number_thread(void);

/// A number that tells living threads apart, given out once for each thread; never 0, fits 32 bits.
static inline uintptr_t beans_thread(void) {
  uint32_t number = beans_thread_number;
  return number ? number : beans_number_thread();
}

/// The address below which a thread has little stack left; asked of the system once for each thread.
extern BEANS_THREAD_LOCAL const char *beans_thread_stack_limit;
const char *beans_find_stack_limit(void);

/// Whether the calling thread is about to run out of stack.
static inline _Bool beans_stack_is_low(void) {
  const char *limit = beans_thread_stack_limit;
  if (!limit) limit = beans_find_stack_limit();
  return (const char *)__builtin_frame_address(0) < limit;
}

/// Lets another thread run, if one waits for a processor.
static inline void beans_yield(void) { sched_yield(); }

// MARK: references

// Exported by the Swift runtime, whose own headers are not installed with the toolchain.
extern void *swift_retain_n(void *object, uint32_t n);

/// Adds so many counts to an object in one atomic step.
static inline void beans_retain_n(void *object, uint32_t n) { swift_retain_n(object, n); }

// MARK: barriers

/// Keeps the compiler from moving reads and writes across; no instruction.
static inline void beans_compiler_fence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// MARK: hazard pointers

/// The objects that one thread uses without a reference of its own: a few addresses that other threads may read, or 0.
/// A record outlives its thread and is passed to a later one, so readers never meet a freed record.
#define BEANS_HAZARDS 7
typedef struct beans_hazards {
  const void *noted[BEANS_HAZARDS];
  uint32_t is_taken;
  struct beans_hazards *next;
} beans_hazards;

/// Never null: a thread without a record has one whose first place is never free.
extern BEANS_THREAD_LOCAL beans_hazards *beans_thread_hazards;

/// A free place of the calling thread's record, which it may have to be given; null where there is none.
const void **beans_find_hazard(void);

/// Notes that the calling thread uses something of `owner`, if it has nothing else in use; else null.
static inline const void **beans_hazard_note_first(const void *owner) {
  const void **place = beans_thread_hazards->noted;
  if (*place) return 0;
  __atomic_store_n(place, owner, __ATOMIC_RELAXED);
  beans_compiler_fence();
  return place;
}

/// Notes that the calling thread uses something of `owner`; answers where, or null where there is no place left.
static inline const void **beans_hazard_note(const void *owner) {
  const void **place = beans_hazard_note_first(owner);
  if (place) return place;
  place = beans_find_hazard();
  if (!place) return 0;
  __atomic_store_n(place, owner, __ATOMIC_RELAXED);
  beans_compiler_fence();
  return place;
}

/// Crosses a note out.
static inline void beans_hazard_clear(const void **place) {
  beans_compiler_fence();
  __atomic_store_n(place, 0, __ATOMIC_RELEASE);
  beans_compiler_fence();
}

/// Whether any thread uses something of `owner`. Runs the barrier.
_Bool beans_hazard_is_noted(const void *owner);

/// A note of the calling thread, or null.
const void *beans_hazard_of_this_thread(uint32_t index);

// MARK: signals

/// Notes a signal from now on, instead of its effect. Returns a file descriptor that is readable once the signal has arrived,
/// for all callers; -1 for no signal. The descriptor is never closed, and is not to be read.
int32_t beans_signal_take(int32_t number);

/// Restores the effect that a signal had before the first of the calls of `beans_signal_take` that are left.
void beans_signal_give_back(int32_t number);

// MARK: ThreadSanitizer

/// Report the order that a lock enforces to ThreadSanitizer, if the program runs under it.
void beans_lock_acquired(const void *lock);
void beans_lock_releasing(const void *lock);

#endif
