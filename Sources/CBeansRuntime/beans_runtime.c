#define _GNU_SOURCE
#include "beans_runtime.h"
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

BEANS_THREAD_LOCAL void *beans_thread_resolution = 0;

BEANS_THREAD_LOCAL uint32_t beans_thread_number = 0;

uint32_t beans_number_thread(void) {
  static uint32_t last = 0;
  uint32_t number;
  do number = __atomic_add_fetch(&last, 4, __ATOMIC_RELAXED);
  while (!number);
  return beans_thread_number = number;
}

BEANS_THREAD_LOCAL uintptr_t beans_thread_stack_limit = 0;

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

_Bool beans_has_barrier = 0;

__attribute__((constructor)) static void register_for_barriers(void) {
  beans_has_barrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void beans_barrier_on_all_threads(void) { syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

// Of threads that have none: nobody writes to it, or looks for its address.
static beans_lends no_lends = {.lent = {&no_lends}};

BEANS_THREAD_LOCAL beans_lends *beans_thread_lends = &no_lends;

static beans_lends *all_lends = 0;
static pthread_key_t lends_key;
static pthread_once_t lends_once = PTHREAD_ONCE_INIT;

static void hand_on_lends(void *lends) {
  beans_thread_lends = &no_lends;
  __atomic_store_n(&((beans_lends *)lends)->is_taken, 0, __ATOMIC_RELEASE);
}

static void make_lends_key(void) { pthread_key_create(&lends_key, hand_on_lends); }

static void take_lends(void) {
  pthread_once(&lends_once, make_lends_key);
  beans_lends *lends = __atomic_load_n(&all_lends, __ATOMIC_ACQUIRE);
  for (; lends; lends = lends->next) {
    uint32_t is_free = 0;
    if (__atomic_compare_exchange_n(&lends->is_taken, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break;
  }
  if (!lends) {
    lends = calloc(1, sizeof(beans_lends));
    if (!lends) abort();
    lends->is_taken = 1;
    lends->next = __atomic_load_n(&all_lends, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all_lends, &lends->next, lends, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
  }
  pthread_setspecific(lends_key, lends);
  beans_thread_lends = lends;
}

const void **beans_find_lend(void) {
  if (beans_thread_lends == &no_lends) take_lends();
  for (uint32_t index = 0; index < BEANS_LENDS; index++)
    if (!beans_thread_lends->lent[index]) return &beans_thread_lends->lent[index];
  return 0;
}

const void *beans_lend_owner(uint32_t index) {
  return beans_thread_lends == &no_lends ? 0 : beans_thread_lends->lent[index];
}

uint32_t beans_lend_count(void) {
  uint32_t count = 0;
  for (uint32_t index = 0; index < BEANS_LENDS; index++) count += beans_lend_owner(index) != 0;
  return count;
}

_Bool beans_is_lent(const void *owner) {
  beans_barrier_on_all_threads();
  for (beans_lends *lends = __atomic_load_n(&all_lends, __ATOMIC_ACQUIRE); lends; lends = lends->next)
    for (uint32_t index = 0; index < BEANS_LENDS; index++)
      if (__atomic_load_n(&lends->lent[index], __ATOMIC_ACQUIRE) == owner) return 1;
  return 0;
}

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
