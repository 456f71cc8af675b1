
/* What is shared with the processor lies in `shared`, one trajectory after the other; all else stays here, in `own`, in rows of `count`. Records go to
 * `packed`, those of one trajectory together. Counts the most steps that a thread has made, and the records. */
extern "C" __global__ void __launch_bounds__(128, BLOCKS)
saltus_kernel(double *shared, double *own, double *log, double *packed, unsigned long long count,
              unsigned long long used, double tolerance, long long most, int flags, unsigned long long *counts) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i >= used) return;
    double *line = shared + i * SHARED;
    if (!(line[R_ACTIVE] > 0.0) || line[R_SIGNAL] != 0.0) return;
    double s[ROWS];
    UNROLL for (int row = 0; row < SHARED; row++) s[row] = line[row];
    UNROLL for (int row = SHARED; row < ROWS; row++) s[row] = own[(row - SHARED) * count + i];
    log += i * (unsigned long long)(SLOTS * RECORD);
    long long made = saltus_advance(s, log, tolerance, most, flags);
    unsigned long long logged = (unsigned long long)s[R_LOGGED], records = logged;
    /* (The last states at sections, when they are asked for.) */
    bool lasts = (flags & LASTS) && s[R_SIGNAL] != 0.0 && s[R_SIGNAL] != FULL;
    UNROLL for (int a = 0; a < EVENTS; a++)
        if (lasts) records += (unsigned long long)(s[R_CROSSED + a] < LASTING ? s[R_CROSSED + a] : LASTING);
    if (records > 0) {
        unsigned long long first = atomicAdd(counts + 1, records);
        s[R_RECORDS] = (double)first;
        double *to = packed + first * RECORD;
        for (int k = 0; k < logged * RECORD; k++) *to++ = log[k];
        UNROLL for (int a = 0; a < EVENTS; a++) {
            unsigned long long crossed = lasts ? (unsigned long long)s[R_CROSSED + a] : 0;
            for (unsigned long long n = crossed < LASTING ? 0 : crossed - LASTING; n < crossed; n++)
                for (int k = 0; k < RECORD; k++) *to++ = log[(LOG + a * LASTING + n % LASTING) * RECORD + k];
        }
    }
    UNROLL for (int row = 0; row < SHARED; row++) line[row] = s[row];
    UNROLL for (int row = SHARED; row < ROWS; row++) own[(row - SHARED) * count + i] = s[row];
    atomicMax(counts, (unsigned long long)made);
}
