/* NVIDIA's run-time compiler (libnvrtc) for the mock GPU: CUDA source becomes C for the machine's own compiler, with a loop over threads
 * around the kernel. */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, OUT_OF_MEMORY = 1, INVALID_INPUT = 3, INVALID_OPTION = 5, COMPILATION = 6 };
typedef struct Program {
    char *source, *made, *log;
    int is_binary;
} *Program;

static long said(const char *name, long otherwise) {
    const char *text = getenv("SALTUS_MOCK_GPU");
    char word[64];
    snprintf(word, sizeof word, "%s=", name);
    const char *found = text ? strstr(text, word) : NULL;
    return found ? strtol(found + strlen(word), NULL, 10) : otherwise;
}

static const int architectures[] = {50, 70, 80, 90, 100, 120};
#define COUNT ((int)(sizeof architectures / sizeof *architectures))

int nvrtcVersion(int *major, int *minor) { return *major = 12, *minor = 4, SUCCESS; }
int nvrtcGetNumSupportedArchs(int *count) { return *count = COUNT, SUCCESS; }
int nvrtcGetSupportedArchs(int *all) { return memcpy(all, architectures, sizeof architectures), SUCCESS; }
const char *nvrtcGetErrorString(int code) { return code == INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION" : "NVRTC_ERROR"; }

int nvrtcCreateProgram(Program *program, const char *source, const char *name, int headers, const char *const *texts, const char *const *names) {
    (void)name, (void)headers, (void)texts, (void)names;
    *program = calloc(1, sizeof **program);
    if (!*program) return OUT_OF_MEMORY;
    (*program)->source = strdup(source);
    (*program)->log = strdup("");
    return SUCCESS;
}
int nvrtcDestroyProgram(Program *program) {
    free((*program)->source);
    free((*program)->made);
    free((*program)->log);
    free(*program);
    return *program = NULL, SUCCESS;
}

static const char before[] =
    "#define _GNU_SOURCE\n#include <math.h>\n#include <stdbool.h>\n"
    "#define __device__\n#define __global__\n#define __constant__\n#define __forceinline__ inline\n#define __noinline__\n#define __launch_bounds__(...)\n"
    "static __thread struct { unsigned x; } blockIdx, blockDim, threadIdx;\n"
    "static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long more) { unsigned long long was = *at; *at += more; return was; }\n"
    "static inline void atomicMax(unsigned long long *at, unsigned long long other) { if (other > *at) *at = other; }\n";
/* (The last block first: nothing may depend on their order.) */
static const char after[] =
    "\nvoid mock_saltus_kernel(unsigned grid, unsigned block, void **a) {\n"
    "    blockDim.x = block;\n"
    "    for (unsigned b = grid; b-- > 0;)\n"
    "        for (unsigned t = 0; t < block; t++) {\n"
    "            blockIdx.x = b, threadIdx.x = t;\n"
    "            saltus_kernel(*(double **)a[0], *(double **)a[1], *(double **)a[2], *(double **)a[3], *(unsigned long long *)a[4],\n"
    "                          *(unsigned long long *)a[5], *(double *)a[6], *(long long *)a[7], *(int *)a[8], *(unsigned long long **)a[9]);\n"
    "        }\n"
    "}\n";

int nvrtcCompileProgram(Program program, int count, const char *const *options) {
    int architecture = 0;
    for (int k = 0; k < count; k++) {
        const char *text = strstr(options[k], "--gpu-architecture=");
        if (!text) continue;
        text += strlen("--gpu-architecture=");
        program->is_binary = !strncmp(text, "sm_", 3);
        architecture = atoi(strchr(text, '_') + 1);
    }
    int is_known = 0;
    for (int k = 0; k < COUNT; k++) is_known |= architectures[k] == architecture;
    if (!is_known) return INVALID_OPTION;
    free(program->log);
    program->log = strdup("");
    if (!said("compiles", 1)) {
        program->log = strdup("default_program(7): error: identifier \"nonsense\" is undefined\n\n1 error detected\n");
        return COMPILATION;
    }
    const char *head = program->is_binary ? "// CUBIN of a mock GPU: C\n" : "// PTX of a mock GPU: C\n";
    char *made = malloc(strlen(head) + sizeof before + strlen(program->source) + sizeof after);
    if (!made) return OUT_OF_MEMORY;
    sprintf(made, "%s%s%s%s", head, before, program->source, after);
    /* C has no other language to be told of. */
    for (char *at = made; (at = strstr(at, "extern \"C\""));) memset(at, ' ', strlen("extern \"C\""));
    free(program->made);
    program->made = made;
    return SUCCESS;
}
static int size_of(Program program, int is_binary, size_t *size) {
    int is_there = program->made && program->is_binary == is_binary;
    *size = is_there ? strlen(program->made) + 1 : 0;
    return is_there || is_binary ? SUCCESS : INVALID_INPUT;
}
int nvrtcGetPTXSize(Program program, size_t *size) { return size_of(program, 0, size); }
int nvrtcGetPTX(Program program, char *to) { return strcpy(to, program->made), SUCCESS; }
int nvrtcGetCUBINSize(Program program, size_t *size) { return size_of(program, 1, size); }
int nvrtcGetCUBIN(Program program, char *to) { return strcpy(to, program->made), SUCCESS; }
int nvrtcGetProgramLogSize(Program program, size_t *size) { return *size = strlen(program->log) + 1, SUCCESS; }
int nvrtcGetProgramLog(Program program, char *to) { return strcpy(to, program->log), SUCCESS; }
