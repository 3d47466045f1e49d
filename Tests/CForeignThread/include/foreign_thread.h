#ifndef FOREIGN_THREAD_H
#define FOREIGN_THREAD_H

/// Starts the library's thread. Nothing is watched yet.
void foreign_thread_start(void);

/// Ends the thread and waits for it. Nothing may be watched any more.
void foreign_thread_stop(void);

/// Hands over the address of a Swift object, which the caller keeps alive until it has been forgotten: from now on the
/// thread retains and releases it again and again. Returns when the thread has begun. One object at a time.
void foreign_thread_watch(void *object);

/// Takes the object back. Returns when the thread no longer uses it.
void foreign_thread_forget(void *object);

/// Returns how often the thread has retained and released an object so far.
unsigned long foreign_thread_uses(void);

#endif
