#define _GNU_SOURCE
#include "foreign_thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

// Exported by the Swift runtime for all clients.
extern void *swift_retain(void *object);
extern void swift_release(void *object);

static pthread_t thread;
static atomic_bool is_running;
/// The object that the thread may use, and the one it uses: it reads the first again after it has written the second.
static _Atomic(void *) watched;
static _Atomic(void *) used;
static atomic_ulong uses;

static void *run(void *ignored) {
  (void)ignored;
  while (atomic_load(&is_running)) {
    void *object = atomic_load(&watched);
    if (object == NULL) {
      sched_yield();
      continue;
    }
    atomic_store(&used, object);
    for (unsigned turn = 1; atomic_load(&watched) == object; turn++) {
      swift_retain(object);
      swift_release(object);
      atomic_fetch_add_explicit(&uses, 1, memory_order_relaxed);
      // If both threads share a processor, the other one has to get its turn.
      if (turn % 128 == 0) sched_yield();
    }
    atomic_store(&used, NULL);
  }
  return NULL;
}

/// Gives the thread a processor other than the caller's, if there is one: on the same one, they never meet.
static void stay_away(void) {
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) < 2) return;
  CPU_CLR(sched_getcpu(), &processors);
  pthread_setaffinity_np(thread, sizeof processors, &processors);
}

void foreign_thread_start(void) {
  atomic_store(&is_running, true);
  if (pthread_create(&thread, NULL, run, NULL) != 0) abort();
  stay_away();
}

void foreign_thread_stop(void) {
  atomic_store(&is_running, false);
  pthread_join(thread, NULL);
}

/// Gives the other thread a moment: it is there soon, if it has a processor.
static void pause_in(unsigned *patience) {
  if (++*patience > 200) sched_yield();
}

void foreign_thread_watch(void *object) {
  // A few uses more or less each time: the caller goes on at ever another moment of the thread's work.
  static unsigned turn;
  unsigned long enough = atomic_load(&uses) + turn++ % 16;
  unsigned patience = 0;
  atomic_store(&watched, object);
  while (atomic_load(&used) != object || atomic_load(&uses) < enough) pause_in(&patience);
}

void foreign_thread_forget(void *object) {
  unsigned patience = 0;
  atomic_store(&watched, NULL);
  while (atomic_load(&used) == object) pause_in(&patience);
}

unsigned long foreign_thread_uses(void) { return atomic_load_explicit(&uses, memory_order_relaxed); }
