/* Loaded into a process before its libraries: adds seconds from a shared file to the time of day. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static int (*system_time)(clockid_t, struct timespec *);
static const volatile long long *ahead_s;

__attribute__((constructor)) static void open_clock(void) {
    system_time = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int file = open(getenv("TESTKIT_CLOCK"), O_RDONLY);
    void *page = mmap(NULL, sizeof *ahead_s, PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) abort();
    ahead_s = page;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!ahead_s) open_clock();
    int failed = system_time(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += *ahead_s;
    return failed;
}
