/* Loaded into a process before its libraries: the disk is full, or a flush fails, as a shared file says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Whether the disk is full; how many flushes are still to fail. */
struct faults { volatile long long full, flushes; };
static struct faults *faults;

__attribute__((constructor)) static void open_faults(void) {
    int file = open(getenv("TESTKIT_FAULTS"), O_RDWR);
    void *page = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) abort();
    close(file);
    faults = page;
    /* Programs that this process starts are not meant. */
    unsetenv("LD_PRELOAD");
}

static int flush_fails(void) {
    if (!faults || faults->flushes <= 0) return 0;
    faults->flushes -= 1;
    errno = EIO;
    return 1;
}

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int fsync(int file) {
    REAL(fsync);
    return flush_fails() ? -1 : real(file);
}

int fdatasync(int file) {
    REAL(fdatasync);
    return flush_fails() ? -1 : real(file);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t at) {
    REAL(pwrite64);
    if (faults && faults->full) { errno = ENOSPC; return -1; }
    return real(file, bytes, count, at);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t at) {
    return pwrite64(file, bytes, count, at);
}
