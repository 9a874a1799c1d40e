/* Preloaded into a process: its wall clock is STET_WRONG_CLOCK seconds ahead. Its monotonic clock is right. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long ahead(void) {
  const char* text = getenv("STET_WRONG_CLOCK");
  return text == NULL ? 0 : atol(text);
}

int clock_gettime(clockid_t clock, struct timespec* at) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(clock, at);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += ahead();
  return result;
}

int gettimeofday(struct timeval* restrict at, void* restrict zone) {
  static int (*real)(struct timeval*, void*);
  if (real == NULL) real = (int (*)(struct timeval*, void*))dlsym(RTLD_NEXT, "gettimeofday");
  const int result = real(at, zone);
  if (result == 0) at->tv_sec += ahead();
  return result;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
