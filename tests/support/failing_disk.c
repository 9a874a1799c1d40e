/* Preloaded into a process under test: while the file named by STET_FAILING_DISK exists, its first word says which
   calls on files below the directory STET_FAILING_UNDER fail. "sync": fsync and fdatasync with EIO; "write": writes with
   EIO; "full": writes and allocations with ENOSPC; "slow-sync": syncs take 300 ms longer. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int says(const char* word) {
  const char* control = getenv("STET_FAILING_DISK");
  char buffer[32] = {0};
  if (control == NULL) return 0;
  int fd = open(control, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = read(fd, buffer, sizeof buffer - 1);
  close(fd);
  return got > 0 && strncmp(buffer, word, strlen(word)) == 0;
}

static int ours(int fd) {
  char link[64], path[4096];
  const char* under = getenv("STET_FAILING_UNDER");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0 || under == NULL) return 0;
  path[length] = 0;
  return strncmp(path, under, strlen(under)) == 0;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (real == NULL) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FAIL(code) \
  do { \
    errno = code; \
    return -1; \
  } while (0)

#define SYNC(name) \
  int name(int fd) { \
    REAL(int, name, int); \
    int saved = errno, hit = ours(fd); \
    if (hit && says("sync")) FAIL(EIO); \
    if (hit && says("slow-sync")) usleep(300 * 1000); \
    errno = saved; \
    return real(fd); \
  }
SYNC(fsync)
SYNC(fdatasync)

#define WRITE(name, ...) \
  REAL(ssize_t, name, __VA_ARGS__); \
  int saved = errno, hit = ours(fd); \
  if (hit && says("write")) FAIL(EIO); \
  if (hit && says("full")) FAIL(ENOSPC); \
  errno = saved

ssize_t write(int fd, const void* data, size_t size) {
  WRITE(write, int, const void*, size_t);
  return real(fd, data, size);
}
ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  WRITE(pwrite, int, const void*, size_t, off_t);
  return real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  WRITE(pwrite64, int, const void*, size_t, off64_t);
  return real(fd, data, size, at);
}
ssize_t pwritev(int fd, const struct iovec* data, int count, off_t at) {
  WRITE(pwritev, int, const struct iovec*, int, off_t);
  return real(fd, data, count, at);
}
int posix_fallocate(int fd, off_t at, off_t size) {
  REAL(int, posix_fallocate, int, off_t, off_t);
  if (ours(fd) && says("full")) return ENOSPC;
  return real(fd, at, size);
}
