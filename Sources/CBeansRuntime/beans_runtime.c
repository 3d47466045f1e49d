#define _GNU_SOURCE
#include "beans_runtime.h"
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local void *beans_thread_resolution = 0;

_Thread_local uint32_t beans_thread_number = 0;

uint32_t beans_number_thread(void) {
  static uint32_t last = 0;
  uint32_t number;
  do number = __atomic_add_fetch(&last, 4, __ATOMIC_RELAXED);
  while (!number);
  return beans_thread_number = number;
}

// Exported by the Swift runtime, whose own headers are not installed with the toolchain.
extern const void *swift_conformsToProtocol(const void *type, const void *protocol);

const void *beans_conformance(const void *type, const void *protocol) {
  return swift_conformsToProtocol(type, protocol);
}

_Thread_local uintptr_t beans_thread_stack_limit = 0;

uintptr_t beans_find_stack_limit(void) {
  pthread_attr_t attributes;
  void *lowest = 0;
  size_t size = 0;
  if (!pthread_getattr_np(pthread_self(), &attributes)) {
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
  }
  // A quarter, at most 256 KiB, is left to what factories call.
  size_t reserve = size / 4 < 262144 ? size / 4 : 262144;
  return beans_thread_stack_limit = (uintptr_t)lowest + reserve + 1;
}

_Bool beans_has_barrier_on_all_threads(void) {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void beans_barrier_on_all_threads(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BEANS_UNDER_THREAD_SANITIZER
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#endif
#endif

void beans_lock_acquired(const void *lock) {
#ifdef BEANS_UNDER_THREAD_SANITIZER
  __tsan_acquire((void *)lock);
#else
  (void)lock;
#endif
}

void beans_lock_releasing(const void *lock) {
#ifdef BEANS_UNDER_THREAD_SANITIZER
  __tsan_release((void *)lock);
#else
  (void)lock;
#endif
}
