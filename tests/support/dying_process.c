/* Preloaded into a process under test: ends it, as if killed, at one chosen system call. STET_DIE_AT is KIND:N:WHEN, the Nth
   call (from 1) of KIND "sync" or "write" (files below STET_DIE_UNDER), "send" or "receive" (TCP sockets), WHEN "before" or
   "after" it. When the call comes, the file named by STET_DIED is made first, so that the test knows that it came. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static int below(int fd) {
  char link[64], path[4096];
  const char* under = getenv("STET_DIE_UNDER");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0 || under == NULL) return 0;
  path[length] = 0;
  return strncmp(path, under, strlen(under)) == 0;
}

static int tcp(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && (domain == AF_INET || domain == AF_INET6);
}

/* 0: not this call; 1: die before it; 2: die after it. */
static int fate(const char* kind, int fd, int on_socket) {
  const char* at = getenv("STET_DIE_AT");
  int saved = errno, number = 0, out = 0;
  char wanted[16], when[16];
  if (at != NULL && sscanf(at, "%15[a-z]:%d:%15s", wanted, &number, when) == 3 && strcmp(kind, wanted) == 0 &&
      (on_socket ? tcp(fd) : below(fd)) && atomic_fetch_add(&calls, 1) + 1 == number)
    out = strcmp(when, "before") == 0 ? 1 : 2;
  errno = saved;
  return out;
}

static void die(void) {
  const char* mark = getenv("STET_DIED");
  if (mark != NULL) close(open(mark, O_WRONLY | O_CREAT, 0600));
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

#define CALL(type, name, kind, on_socket, parameters, arguments) \
  type name parameters { \
    static type(*real) parameters; \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    const int doomed = fate(kind, fd, on_socket); \
    if (doomed == 1) die(); \
    const type result = real arguments; \
    if (doomed == 2) die(); \
    return result; \
  }

CALL(int, fsync, "sync", 0, (int fd), (fd))
CALL(int, fdatasync, "sync", 0, (int fd), (fd))
CALL(ssize_t, pwrite, "write", 0, (int fd, const void* data, size_t size, off_t at), (fd, data, size, at))
CALL(ssize_t, pwrite64, "write", 0, (int fd, const void* data, size_t size, off64_t at), (fd, data, size, at))
CALL(ssize_t, send, "send", 1, (int fd, const void* data, size_t size, int flags), (fd, data, size, flags))
CALL(ssize_t, sendmsg, "send", 1, (int fd, const struct msghdr* message, int flags), (fd, message, flags))
CALL(ssize_t, recv, "receive", 1, (int fd, void* data, size_t size, int flags), (fd, data, size, flags))
CALL(ssize_t, recvmsg, "receive", 1, (int fd, struct msghdr* message, int flags), (fd, message, flags))
