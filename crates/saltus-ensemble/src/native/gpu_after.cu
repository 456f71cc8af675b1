
/* The rows of all trajectories are in `state`, one after the other. Counts the most steps that a thread has made. */
extern "C" __global__ void __launch_bounds__(128)
saltus_kernel(double *state, double *log, unsigned long long count, double tolerance, long long most, int flags,
              unsigned long long *longest) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i >= count) return;
    if (!(state[R_ACTIVE * count + i] > 0.0) || state[R_SIGNAL * count + i] != 0.0) return;
    double s[ROWS];
    UNROLL for (int row = 0; row < ROWS; row++) s[row] = state[row * count + i];
    long long made = saltus_advance(s, log + i * (LOG * RECORD), tolerance, most, flags);
    UNROLL for (int row = 0; row < ROWS; row++) state[row * count + i] = s[row];
    atomicMax(longest, (unsigned long long)made);
}
