#define _GNU_SOURCE
#include "beans_runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/membarrier.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#endif

BEANS_THREAD_LOCAL const void *beans_thread_resolution = 0;
BEANS_THREAD_LOCAL uint32_t beans_thread_number = 0;
BEANS_THREAD_LOCAL const char *beans_thread_stack_limit = 0;

uint32_t beans_number_thread(void) {
  static uint32_t last = 0;
  uint32_t number;
  do number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  while (!number);
  return beans_thread_number = number;
}

/// The lowest address of the stack of the calling thread, and its size in bytes; unchanged where they are unknown.
static void find_stack(void **lowest, size_t *size) {
#ifdef __linux__
  pthread_attr_t attributes;
  if (!pthread_getattr_np(pthread_self(), &attributes)) {
    pthread_attr_getstack(&attributes, lowest, size);
    pthread_attr_destroy(&attributes);
  }
#else
  *size = pthread_get_stacksize_np(pthread_self());
  // The system knows the highest address, from which the stack grows downwards.
  *lowest = (char *)pthread_get_stackaddr_np(pthread_self()) - *size;
#endif
}

const char *beans_find_stack_limit(void) {
  void *lowest = 0;
  size_t size = 0;
  find_stack(&lowest, &size);
  // A quarter, at most 256 KiB, remains for the calls of factories.
  size_t reserve = size / 4 < 262144 ? size / 4 : 262144;
  return beans_thread_stack_limit = (const char *)lowest + reserve + 1;
}

static _Bool beans_barrier_exists = 0;

#ifdef __linux__
__attribute__((constructor)) static void register_for_barriers(void) {
  beans_barrier_exists = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#endif

/// Makes every running thread of the process execute a memory barrier, so that accesses that these threads have only
/// fenced from their compiler are in order; does nothing where the system has no such barrier.
static void beans_run_barrier(void) {
#ifdef __linux__
  if (beans_barrier_exists) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}

// The record of threads without one of their own. No thread writes to it or searches for its address.
static beans_hazards no_hazards = {.noted = {&no_hazards}};
BEANS_THREAD_LOCAL beans_hazards *beans_thread_hazards = &no_hazards;

static beans_hazards *all_hazards = 0;
static pthread_key_t hazards_key;
static pthread_once_t hazards_once = PTHREAD_ONCE_INIT;

static void hand_on_hazards(void *hazards) {
  beans_thread_hazards = &no_hazards;
  __atomic_store_n(&((beans_hazards *)hazards)->is_taken, 0, __ATOMIC_RELEASE);
}

static void make_hazards_key(void) { pthread_key_create(&hazards_key, hand_on_hazards); }

static void take_hazards(void) {
  pthread_once(&hazards_once, make_hazards_key);
  beans_hazards *hazards = __atomic_load_n(&all_hazards, __ATOMIC_ACQUIRE);
  for (; hazards; hazards = hazards->next) {
    uint32_t is_free = 0;
    if (__atomic_compare_exchange_n(&hazards->is_taken, &is_free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break;
  }
  if (!hazards) {
    hazards = calloc(1, sizeof(beans_hazards));
    if (!hazards) abort();
    hazards->is_taken = 1;
    hazards->next = __atomic_load_n(&all_hazards, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all_hazards, &hazards->next, hazards, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
  }
  pthread_setspecific(hazards_key, hazards);
  beans_thread_hazards = hazards;
}

const void **beans_find_hazard(void) {
  // Without the barrier, a note would not be seen in time.
  if (!beans_barrier_exists) return 0;
  if (beans_thread_hazards == &no_hazards) take_hazards();
  for (uint32_t index = 0; index < BEANS_HAZARDS; index++)
    if (!beans_thread_hazards->noted[index]) return &beans_thread_hazards->noted[index];
  return 0;
}

const void *beans_hazard_of_this_thread(uint32_t index) {
  return beans_thread_hazards == &no_hazards ? 0 : beans_thread_hazards->noted[index];
}

_Bool beans_hazard_is_noted(const void *owner) {
  beans_run_barrier();
  for (beans_hazards *hazards = __atomic_load_n(&all_hazards, __ATOMIC_ACQUIRE); hazards; hazards = hazards->next)
    for (uint32_t index = 0; index < BEANS_HAZARDS; index++)
      if (__atomic_load_n(&hazards->noted[index], __ATOMIC_ACQUIRE) == owner) return 1;
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

// MARK: signals

static pthread_mutex_t signal_lock = PTHREAD_MUTEX_INITIALIZER;
// Guarded by the lock, except that the handler reads `writer`, which does not change while the handler is installed.
static struct {
  uint32_t count;
  /// The descriptor that is readable once the signal has arrived, and the one that the handler writes to.
  int event, writer;
  struct sigaction former;
} taken_signals[NSIG];

static void note_signal(int number) {
  int saved = errno;
  uint64_t one = 1;
  // A full counter, or pipe, is readable already.
  if (write(taken_signals[number].writer, &one, sizeof one)) {}
  errno = saved;
}

/// Returns a descriptor that is readable after a write to `writer`; -1 for none.
static int open_event(int *writer) {
#ifdef __linux__
  return *writer = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
#else
  int ends[2];
  if (pipe(ends)) return -1;
  for (int end = 0; end < 2; end++) {
    fcntl(ends[end], F_SETFL, O_NONBLOCK);
    fcntl(ends[end], F_SETFD, FD_CLOEXEC);
  }
  *writer = ends[1];
  return ends[0];
#endif
}

int32_t beans_signal_take(int32_t number) {
  if (number <= 0 || number >= NSIG) return -1;
  pthread_mutex_lock(&signal_lock);
  if (taken_signals[number].event == 0) taken_signals[number].event = open_event(&taken_signals[number].writer);
  if (taken_signals[number].event > 0 && taken_signals[number].count++ == 0) {
    uint64_t earlier;
    while (read(taken_signals[number].event, &earlier, sizeof earlier) > 0) {}
    struct sigaction note = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    sigaction(number, &note, &taken_signals[number].former);
  }
  int event = taken_signals[number].event;
  pthread_mutex_unlock(&signal_lock);
  return event;
}

void beans_signal_give_back(int32_t number) {
  if (number <= 0 || number >= NSIG) return;
  pthread_mutex_lock(&signal_lock);
  if (taken_signals[number].count > 0 && --taken_signals[number].count == 0) {
    sigaction(number, &taken_signals[number].former, 0);
  }
  pthread_mutex_unlock(&signal_lock);
}
