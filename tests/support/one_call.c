/* Preloaded into a process under test: something happens to it at one chosen system call. STET_ONE_CALL is KIND:N:WHAT, the
   Nth call (from 1) of KIND "sync" or "write" (files whose path begins with STET_ONE_CALL_UNDER), "send" or "receive" (TCP
   sockets). WHAT is "before" or "after": the process dies there, as if killed; or "eio", "enospc", "reset": that one call fails.
   The file named by STET_ONE_CALL_CAME is made when the call comes, so that the test knows that it did. */
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
  const char* under = getenv("STET_ONE_CALL_UNDER");
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0 || under == NULL) return 0;
  path[length] = 0;
  /* What a lock file says is for people to read: nothing depends on it. */
  if (length > 5 && strcmp(path + length - 5, "-lock") == 0) return 0;
  return strncmp(path, under, strlen(under)) == 0;
}

static int tcp(int fd) {
  int domain = 0;
  socklen_t size = sizeof domain;
  return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && (domain == AF_INET || domain == AF_INET6);
}

enum { NOTHING = 0, DIE_BEFORE = -1, DIE_AFTER = -2 };  /* otherwise the errno that the call fails with */

static int fate(const char* kind, int fd, int on_socket) {
  const char* at = getenv("STET_ONE_CALL");
  const char* mark = getenv("STET_ONE_CALL_CAME");
  int saved = errno, number = 0, out = NOTHING;
  char wanted[16], what[16];
  if (at != NULL && mark != NULL && sscanf(at, "%15[a-z]:%d:%15s", wanted, &number, what) == 3 && strcmp(kind, wanted) == 0 &&
      (on_socket ? tcp(fd) : below(fd)) && atomic_fetch_add(&calls, 1) + 1 == number) {
    out = strcmp(what, "before") == 0   ? DIE_BEFORE
          : strcmp(what, "after") == 0  ? DIE_AFTER
          : strcmp(what, "eio") == 0    ? EIO
          : strcmp(what, "enospc") == 0 ? ENOSPC
                                        : ECONNRESET;
    close(open(mark, O_WRONLY | O_CREAT, 0600));
  }
  errno = saved;
  return out;
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

#define CALL(type, name, kind, on_socket, parameters, arguments) \
  type name parameters { \
    static type(*real) parameters; \
    if (real == NULL) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    const int doomed = fate(kind, fd, on_socket); \
    if (doomed == DIE_BEFORE) die(); \
    if (doomed > 0) { \
      if (on_socket) shutdown(fd, SHUT_RDWR); /* what was reset stays so */ \
      errno = doomed; \
      return -1; \
    } \
    const type result = real arguments; \
    if (doomed == DIE_AFTER) die(); \
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
