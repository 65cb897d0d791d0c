/* Arenas of CPython's allocator, cut from chunks that begin at huge pages. */
#if defined(__linux__)
#include <sys/mman.h>
#include <stdint.h>

#define SIMNET_HUGE_PAGE ((size_t) 2 << 20)
#define SIMNET_CHUNK ((size_t) 32 << 20)
#define SIMNET_MOST_CHUNKS 4096
#define SIMNET_KEPT ((size_t) 256 << 20)

static struct {
    PyObjectArenaAllocator before;
    size_t arena;                      /* bytes of one */
    char *next, *end;                  /* what is left of the last chunk */
    void *unused;                      /* freed arenas, each with the address of the next */
    size_t unused_bytes;
    int chunks;
    char *chunk[SIMNET_MOST_CHUNKS];
} simnet_pages;

/* A chunk that begins at a huge page; nothing if there is none. */
static int simnet_take_chunk(void) {
    if (simnet_pages.chunks == SIMNET_MOST_CHUNKS) return 0;
    char *got = mmap(NULL, SIMNET_CHUNK + SIMNET_HUGE_PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) return 0;
    size_t ahead = (size_t) (-(uintptr_t) got & (SIMNET_HUGE_PAGE - 1));
    if (ahead) munmap(got, ahead);
    if (ahead < SIMNET_HUGE_PAGE) munmap(got + ahead + SIMNET_CHUNK, SIMNET_HUGE_PAGE - ahead);
#if defined(MADV_HUGEPAGE)
    (void) madvise(got + ahead, SIMNET_CHUNK, MADV_HUGEPAGE);
#endif
    simnet_pages.chunk[simnet_pages.chunks++] = got + ahead;
    simnet_pages.next = got + ahead;
    simnet_pages.end = simnet_pages.next + SIMNET_CHUNK;
    return 1;
}

static void *simnet_take_arena(void *context, size_t bytes) {
    if (!simnet_pages.arena && SIMNET_CHUNK % bytes == 0) simnet_pages.arena = bytes;
    if (bytes == simnet_pages.arena) {
        void *arena = simnet_pages.unused;
        if (arena) {
            simnet_pages.unused = *(void **) arena;
            simnet_pages.unused_bytes -= bytes;
            return arena;
        }
        if (simnet_pages.next < simnet_pages.end || simnet_take_chunk()) {
            arena = simnet_pages.next;
            simnet_pages.next += bytes;
            return arena;
        }
    }
    return simnet_pages.before.alloc(context, bytes);
}

static void simnet_leave_arena(void *context, void *arena, size_t bytes) {
    for (int i = 0; i < simnet_pages.chunks; i++) {
        if ((uintptr_t) arena - (uintptr_t) simnet_pages.chunk[i] < SIMNET_CHUNK) {
            simnet_pages.unused_bytes += bytes;
            if (simnet_pages.unused_bytes > SIMNET_KEPT)
                (void) madvise(arena, bytes, MADV_DONTNEED);
            *(void **) arena = simnet_pages.unused;
            simnet_pages.unused = arena;
            return;
        }
    }
    simnet_pages.before.free(context, arena, bytes);
}

static inline int install(void) {
    if (!simnet_pages.before.alloc) {
        PyObject_GetArenaAllocator(&simnet_pages.before);
        PyObjectArenaAllocator ours = {
            simnet_pages.before.ctx, simnet_take_arena, simnet_leave_arena
        };
        PyObject_SetArenaAllocator(&ours);
    }
    return 1;
}
#else
static inline int install(void) { return 0; }
#endif
