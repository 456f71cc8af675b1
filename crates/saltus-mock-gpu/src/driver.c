/* NVIDIA's driver (libcuda) for a machine without a GPU: kernels run on the processor, one thread after the other.
 *
 * It keeps the promises of the real one and no more. What is queued on a stream happens when somebody waits for it, not before. Memory of the
 * GPU cannot be read by the processor, begins with no sensible numbers, and ends exactly where it ends. After a kernel has failed, everything fails.
 *
 * What the machine is like is said in SALTUS_MOCK_GPU, in words `name=number` (see SETTINGS). */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT = 201,
    UNCORRECTABLE = 214, UNSUPPORTED_PTX = 222, NOT_FOUND = 500, NOT_READY = 600, LAUNCH_FAILED = 719
};
typedef int Result;
typedef uint64_t Pointer;

/* ---- what the machine is like ---- */

#define SETTINGS \
    SETTING(devices, 1) \
    /* Which of them do not work, bit by bit. */ \
    SETTING(broken, 0) \
    SETTING(memory, 1L << 34) \
    /* What the first launch of a kernel sets aside. */ \
    SETTING(local, 1L << 20) \
    /* Compute capability 9.0. */ \
    SETTING(capability, 90) \
    /* CUDA 12.4. */ \
    SETTING(version, 12040) \
    /* How many launches succeed; all, if negative. */ \
    SETTING(launches, -1) \
    /* Whether it takes PTX. */ \
    SETTING(ptx, 1)
#define SETTING(name, value) value,
static const long defaults[] = {SETTINGS};
static long values[sizeof defaults / sizeof *defaults];
#undef SETTING
#define SETTING(name, value) #name,
static const char *const names[] = {SETTINGS};
#undef SETTING
#define SETTING(name, value) of_##name,
enum { SETTINGS COUNT };
#undef SETTING
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t read_once = PTHREAD_ONCE_INIT;

static void read_settings(void) {
    const char *text = getenv("SALTUS_MOCK_GPU");
    for (int k = 0; k < COUNT; k++) {
        char word[64];
        snprintf(word, sizeof word, "%s=", names[k]);
        const char *found = text ? strstr(text, word) : NULL;
        values[k] = found ? strtol(found + strlen(word), NULL, 10) : defaults[k];
    }
}
static long *place(int k) {
    pthread_once(&read_once, read_settings);
    return &values[k];
}
#define GET(name) __atomic_load_n(place(of_##name), __ATOMIC_SEQ_CST)
#define PUT(name, value) __atomic_store_n(place(of_##name), value, __ATOMIC_SEQ_CST)

static Result failure; /* what everything answers since a kernel failed */
/* For tests in the same process: another setting, all as it was, and where compiled kernels are kept. */
int saltus_mock_gpu_set(const char *name, long value) {
    for (int k = 0; k < COUNT; k++)
        if (!strcmp(names[k], name)) return __atomic_store_n(place(k), value, __ATOMIC_SEQ_CST), 1;
    return 0;
}
void saltus_mock_gpu_repair(void) {
    for (int k = 0; k < COUNT; k++) __atomic_store_n(place(k), defaults[k], __ATOMIC_SEQ_CST);
    __atomic_store_n(&failure, SUCCESS, __ATOMIC_SEQ_CST);
}
static char *keep;
void saltus_mock_gpu_keep(const char *folder) { keep = strdup(folder); }
#define CHECK()                                                     \
    do {                                                            \
        Result broken = __atomic_load_n(&failure, __ATOMIC_SEQ_CST); \
        if (broken) return broken;                                  \
    } while (0)

static void fatal(const char *what) {
    fprintf(stderr, "mock GPU: %s\n", what);
    abort();
}

/* ---- errors ---- */

static const struct { Result code; const char *name, *text; } errors[] = {
    {SUCCESS, "CUDA_SUCCESS", "no error"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE", "uncorrectable ECC error encountered"},
    {UNSUPPORTED_PTX, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "the provided PTX was compiled with an unsupported toolchain."},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};
Result cuGetErrorString(Result code, const char **text) {
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
        if (errors[k].code == code) return *text = errors[k].text, SUCCESS;
    return *text = NULL, INVALID_VALUE;
}
Result cuGetErrorName(Result code, const char **text) {
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++)
        if (errors[k].code == code) return *text = errors[k].name, SUCCESS;
    return *text = NULL, INVALID_VALUE;
}

/* ---- devices and contexts ---- */

static int contexts[64];
static __thread void *current;

Result cuInit(unsigned flags) { return flags ? INVALID_VALUE : GET(devices) > 0 ? SUCCESS : NO_DEVICE; }
Result cuDriverGetVersion(int *version) { return *version = (int)GET(version), SUCCESS; }
Result cuDeviceGetCount(int *count) { return *count = (int)GET(devices), SUCCESS; }
Result cuDeviceGet(int *device, int ordinal) {
    if (ordinal < 0 || ordinal >= GET(devices)) return INVALID_DEVICE;
    return *device = ordinal, SUCCESS;
}
Result cuDeviceGetName(char *name, int length, int device) { return snprintf(name, (size_t)length, "Mock GPU %d", device), SUCCESS; }
Result cuDeviceTotalMem_v2(size_t *bytes, int device) { return (void)device, *bytes = (size_t)GET(memory), SUCCESS; }
Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    (void)device;
    switch (attribute) {
    case 75: *value = (int)GET(capability) / 10; break; /* compute capability */
    case 76: *value = (int)GET(capability) % 10; break;
    case 115: *value = 1; break; /* memory pools */
    default: return INVALID_VALUE;
    }
    return SUCCESS;
}
Result cuDevicePrimaryCtxRetain(void **context, int device) {
    if (GET(broken) >> device & 1) return UNCORRECTABLE;
    CHECK();
    return *context = &contexts[device], SUCCESS;
}
Result cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, SUCCESS; }
Result cuCtxGetCurrent(void **context) { return *context = current, SUCCESS; }
Result cuCtxSetCurrent(void *context) { return current = context, SUCCESS; }
#define IN_CONTEXT()                          \
    do {                                      \
        if (!current) return INVALID_CONTEXT; \
        CHECK();                              \
    } while (0)

/* ---- memory ---- */

/* An address of the GPU is one of the processor with a bit more: who reads it there by mistake ends. */
#define FAR_BIT (1ULL << 62)
#define GUARD 64
typedef struct Block {
    struct Block *next;
    char *from;
    size_t size;
    bool is_host;
} Block;
static Block *blocks;
static size_t taken;

static char *near_to(Pointer at) { return (char *)(at & ~FAR_BIT); }

static Block *block_of(const void *at, size_t size, bool is_host) {
    for (Block *block = blocks; block; block = block->next) {
        bool begins = (const char *)at >= block->from;
        if (block->is_host == is_host && begins && (const char *)at + size <= block->from + block->size) return block;
    }
    return NULL;
}
static Result take(size_t size, bool is_host, void **at) {
    Block *block = malloc(sizeof *block);
    char *from = NULL;
    if (!block || posix_memalign((void **)&from, 256, size + GUARD)) fatal("this machine has no memory");
    memset(from, 0xff, size); /* (no number) */
    memset(from + size, 0xa5, GUARD);
    pthread_mutex_lock(&lock);
    if (!is_host && taken + size > (size_t)GET(memory)) {
        pthread_mutex_unlock(&lock);
        free(from);
        free(block);
        return OUT_OF_MEMORY;
    }
    taken += is_host ? 0 : size;
    *block = (Block){blocks, from, size, is_host};
    blocks = block;
    pthread_mutex_unlock(&lock);
    *at = from;
    return SUCCESS;
}
static Result give(void *at, bool is_host) {
    pthread_mutex_lock(&lock);
    Block **place = &blocks;
    while (*place && ((*place)->from != at || (*place)->is_host != is_host)) place = &(*place)->next;
    Block *block = *place;
    if (!block) fatal("what is freed was never allocated, or was freed before");
    *place = block->next;
    taken -= is_host ? 0 : block->size;
    pthread_mutex_unlock(&lock);
    for (int k = 0; k < GUARD; k++)
        if (block->from[block->size + (size_t)k] != (char)0xa5) fatal("something was written behind the end of an allocation");
    free(block->from);
    free(block);
    return SUCCESS;
}
static bool is_within(Pointer at, size_t size) {
    if (!(at & FAR_BIT)) return false;
    pthread_mutex_lock(&lock);
    bool found = block_of(near_to(at), size, false) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}
static bool is_pinned(const void *at, size_t size) {
    pthread_mutex_lock(&lock);
    bool found = block_of(at, size, true) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---- streams: what is to happen, in its order ---- */

typedef struct Event Event;
typedef struct Stream Stream;
typedef void Launch(unsigned grid, unsigned block, void **arguments);
typedef struct Module { void *library; } Module;
typedef struct Function { Module *module; Launch *launch; bool has_run; } Function;
typedef struct Task {
    struct Task *next;
    enum { SET, COPY, RUN, RECORD, AWAIT, FREE } kind;
    char *to;
    const char *from;
    size_t size;
    int byte;
    bool is_own; /* whether `from` is a copy that is freed */
    Event *event;
    Function *function;
    unsigned grid, block;
    char values[10][8];
} Task;
struct Stream {
    pthread_mutex_t busy; /* while its tasks are done */
    Task *first, **last;
};
struct Event {
    Stream *stream; /* where it was recorded last */
    long waiting;   /* records that are still to come */
    struct timespec at;
    bool was_recorded;
};

static void drain(Stream *stream);

static void settle(Event *event) {
    Stream *stream = __atomic_load_n(&event->stream, __ATOMIC_SEQ_CST);
    if (stream && __atomic_load_n(&event->waiting, __ATOMIC_SEQ_CST) > 0) drain(stream);
}

static void run(Task *task) {
    Function *function = task->function;
    void *arguments[10];
    for (int k = 0; k < 10; k++) arguments[k] = task->values[k];
    for (int k = 0; k < 10; k++)
        if (k < 4 || k == 9) *(Pointer *)task->values[k] &= ~FAR_BIT;
    /* (A launch for no trajectory is one, but not one of those that are counted.) */
    bool counts = *(uint64_t *)task->values[5] > 0;
    if (counts && GET(launches) >= 0 && __atomic_fetch_sub(place(of_launches), 1, __ATOMIC_SEQ_CST) <= 0) {
        PUT(launches, 0);
        __atomic_store_n(&failure, LAUNCH_FAILED, __ATOMIC_SEQ_CST);
        return;
    }
    function->launch(task->grid, task->block, arguments);
}

static void perform(Task *task) {
    bool works = !__atomic_load_n(&failure, __ATOMIC_SEQ_CST);
    switch (task->kind) {
    case SET: if (works) memset(task->to, task->byte, task->size); break;
    case COPY:
        if (works) memcpy(task->to, task->from, task->size);
        if (task->is_own) free((char *)task->from);
        break;
    case RUN: if (works) run(task); break;
    case RECORD:
        clock_gettime(CLOCK_MONOTONIC, &task->event->at);
        task->event->was_recorded = true;
        __atomic_fetch_sub(&task->event->waiting, 1, __ATOMIC_SEQ_CST);
        break;
    case AWAIT: settle(task->event); break;
    case FREE: give(task->to, false); break;
    }
    free(task);
}

static void drain(Stream *stream) {
    pthread_mutex_lock(&stream->busy);
    for (;;) {
        pthread_mutex_lock(&lock);
        Task *task = stream->first;
        if (task && !(stream->first = task->next)) stream->last = &stream->first;
        pthread_mutex_unlock(&lock);
        if (!task) break;
        perform(task);
    }
    pthread_mutex_unlock(&stream->busy);
}
static void append(Stream *stream, Task made) {
    Task *task = malloc(sizeof *task);
    if (!task) fatal("this machine has no memory");
    *task = made;
    task->next = NULL;
    pthread_mutex_lock(&lock);
    *stream->last = task;
    stream->last = &task->next;
    pthread_mutex_unlock(&lock);
}

static Stream *new_stream(void) {
    Stream *stream = calloc(1, sizeof *stream);
    if (!stream) fatal("this machine has no memory");
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&stream->busy, &kind);
    stream->last = &stream->first;
    return stream;
}
static Stream *default_stream;
static pthread_once_t default_once = PTHREAD_ONCE_INIT;
static void make_default(void) { default_stream = new_stream(); }
static Stream *named(Stream *stream) {
    pthread_once(&default_once, make_default);
    return stream ? stream : default_stream;
}

Result cuStreamCreate(Stream **stream, unsigned flags) {
    (void)flags;
    IN_CONTEXT();
    return *stream = new_stream(), SUCCESS;
}
Result cuStreamDestroy_v2(Stream *stream) {
    drain(stream);
    /* (An event may still name it.) */
    return SUCCESS;
}
Result cuStreamSynchronize(Stream *stream) {
    drain(named(stream));
    CHECK();
    return SUCCESS;
}
Result cuCtxSynchronize(void) { return cuStreamSynchronize(NULL); }

Result cuEventCreate(Event **event, unsigned flags) {
    (void)flags;
    IN_CONTEXT();
    *event = calloc(1, sizeof **event);
    return *event ? SUCCESS : OUT_OF_MEMORY;
}
Result cuEventRecord(Event *event, Stream *stream) {
    CHECK();
    __atomic_store_n(&event->stream, named(stream), __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&event->waiting, 1, __ATOMIC_SEQ_CST);
    append(named(stream), (Task){.kind = RECORD, .event = event});
    return SUCCESS;
}
Result cuStreamWaitEvent(Stream *stream, Event *event, unsigned flags) {
    (void)flags;
    CHECK();
    if (event->stream && event->stream != named(stream)) append(named(stream), (Task){.kind = AWAIT, .event = event});
    return SUCCESS;
}
Result cuEventSynchronize(Event *event) {
    settle(event);
    CHECK();
    return SUCCESS;
}
Result cuEventQuery(Event *event) {
    CHECK();
    return __atomic_load_n(&event->waiting, __ATOMIC_SEQ_CST) > 0 ? NOT_READY : SUCCESS;
}
Result cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
    CHECK();
    if (from->waiting > 0 || to->waiting > 0) return NOT_READY;
    if (!from->was_recorded || !to->was_recorded) return INVALID_VALUE;
    double seconds = (double)(to->at.tv_sec - from->at.tv_sec) + 1e-9 * (double)(to->at.tv_nsec - from->at.tv_nsec);
    return *milliseconds = (float)(1e3 * seconds), SUCCESS;
}
Result cuEventDestroy_v2(Event *event) {
    settle(event);
    free(event);
    return SUCCESS;
}

/* ---- memory, in the order of streams ---- */

Result cuMemAlloc_v2(Pointer *at, size_t size) {
    IN_CONTEXT();
    void *from;
    Result made = size ? take(size, false, &from) : INVALID_VALUE;
    if (!made) *at = (Pointer)from | FAR_BIT;
    return made;
}
Result cuMemAllocAsync(Pointer *at, size_t size, Stream *stream) { return (void)stream, cuMemAlloc_v2(at, size); }
Result cuMemFreeAsync(Pointer at, Stream *stream) { return append(named(stream), (Task){.kind = FREE, .to = near_to(at)}), SUCCESS; }
Result cuMemFree_v2(Pointer at) { return give(near_to(at), false); }
Result cuMemHostAlloc(void **at, size_t size, unsigned flags) {
    (void)flags;
    IN_CONTEXT();
    return size ? take(size, true, at) : INVALID_VALUE;
}
Result cuMemFreeHost(void *at) { return give(at, true); }
Result cuMemsetD8Async(Pointer to, unsigned char byte, size_t size, Stream *stream) {
    CHECK();
    if (!is_within(to, size)) return INVALID_VALUE;
    return append(named(stream), (Task){.kind = SET, .to = near_to(to), .byte = byte, .size = size}), SUCCESS;
}
Result cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t size, Stream *stream) {
    CHECK();
    if (!is_within(to, size)) return INVALID_VALUE;
    bool is_own = !is_pinned(from, size);
    if (is_own) {
        /* (The driver takes a copy of what could be gone by then.) */
        void *copy = malloc(size);
        if (!copy) fatal("this machine has no memory");
        from = memcpy(copy, from, size);
    }
    append(named(stream), (Task){.kind = COPY, .to = near_to(to), .from = from, .size = size, .is_own = is_own});
    return SUCCESS;
}
Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t size, Stream *stream) {
    CHECK();
    if (!is_within(from, size)) return INVALID_VALUE;
    append(named(stream), (Task){.kind = COPY, .to = to, .from = near_to(from), .size = size});
    /* (To memory that is not locked it goes at once.) */
    return is_pinned(to, size) ? SUCCESS : cuStreamSynchronize(stream);
}

/* ---- modules: source of the stand-in compiler (nvrtc.c), compiled by the machine's own ---- */

#define HEAD "// PTX of a mock GPU: C\n"
#define CUBIN "// CUBIN of a mock GPU: C\n"

static const char *command(void) {
    const char *cc = getenv("CC");
    return cc && *cc ? cc : "cc";
}

Result cuModuleLoadData(Module **module, const void *image) {
    IN_CONTEXT();
    const char *text = image;
    bool is_ptx = !strncmp(text, HEAD, strlen(HEAD));
    if (!is_ptx && strncmp(text, CUBIN, strlen(CUBIN))) return INVALID_IMAGE;
    if (is_ptx && !GET(ptx)) return UNSUPPORTED_PTX;
    /* Compiled once, and kept beside the source. */
    uint64_t hash = 14695981039346656037ULL;
    for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211ULL;
    const char *folder = keep ? keep : getenv("SALTUS_MOCK_GPU_KEEP");
    char made[2048], draft[2112], order[8192 + 4096];
    snprintf(made, sizeof made, "%s/%016llx.so", folder ? folder : "/tmp", (unsigned long long)hash);
    static int count;
    int turn = __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
    if (access(made, R_OK)) {
        snprintf(draft, sizeof draft, "%s.%d.%d.c", made, (int)getpid(), turn);
        FILE *file = fopen(draft, "w");
        if (!file || fputs(text, file) < 0 || fclose(file)) return INVALID_IMAGE;
        snprintf(order, sizeof order,
                 "%s -std=gnu11 -O2 -march=native -fPIC -shared -fno-math-errno -fno-trapping-math -w -o '%s.so' '%s' -lm && mv '%s.so' '%s'", command(),
                 draft, draft, draft, made);
        int failed = system(order);
        unlink(draft);
        if (failed) return INVALID_IMAGE;
    }
    void *library = dlopen(made, RTLD_NOW | RTLD_LOCAL);
    if (!library) return INVALID_IMAGE;
    *module = malloc(sizeof **module);
    (*module)->library = library;
    return SUCCESS;
}
/* (Functions of a module may still be known to somebody.) */
Result cuModuleUnload(Module *module) { return (void)module, SUCCESS; }
Result cuModuleGetFunction(Function **function, Module *module, const char *name) {
    CHECK();
    char own[256];
    snprintf(own, sizeof own, "mock_%s", name);
    Launch *launch = (Launch *)dlsym(module->library, own);
    if (!launch) return NOT_FOUND;
    *function = calloc(1, sizeof **function);
    **function = (Function){module, launch, false};
    return SUCCESS;
}
/* (The kernels of this project have ten arguments of up to eight bytes, the first four and the last of which are addresses.) */
Result cuLaunchKernel(Function *function, unsigned x, unsigned y, unsigned z, unsigned block, unsigned block_y, unsigned block_z, unsigned shared,
                      Stream *stream, void **arguments, void **extra) {
    (void)shared, (void)extra;
    IN_CONTEXT();
    if (!x || y != 1 || z != 1 || !block || block > 1024 || block_y != 1 || block_z != 1) return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    if (!function->has_run) {
        if (taken + (size_t)GET(local) > (size_t)GET(memory)) {
            pthread_mutex_unlock(&lock);
            return OUT_OF_MEMORY;
        }
        taken += (size_t)GET(local);
        function->has_run = true;
    }
    pthread_mutex_unlock(&lock);
    Task task = {.kind = RUN, .function = function, .grid = x, .block = block};
    for (int k = 0; k < 10; k++) memcpy(task.values[k], arguments[k], k == 8 ? 4 : 8);
    for (int k = 0; k < 10; k++)
        if ((k < 4 || k == 9) && !is_within(*(Pointer *)task.values[k], 1)) return INVALID_VALUE;
    append(named(stream), task);
    return SUCCESS;
}
