/* The constants of linear flight, once for each trajectory (see `lanes/linear`): z' = G z for z = (q, v, 1, cos, sin, ...). */

/* x -> x G for a row x; with the sizes of all terms where `sizes`. */
FUNCTION void derivative(const real acceleration[D][SIZE], const real *turn, const real *x, real *out, int sizes) {
    for (int j = 0; j < SIZE; j++) out[j] = ZERO;
    for (int i = 0; i < D; i++) {
        out[D + i] += sizes ? size_of(x[i]) : x[i];
        for (int j = 0; j < SIZE; j++) {
            real own = x[D + i] * acceleration[i][j];
            out[j] += sizes ? size_of(own) : own;
        }
    }
    for (int k = 0; k < HARMONICS; k++) {
        real c = turn[k] * x[2 * D + 2 + 2 * k], s = -turn[k] * x[2 * D + 1 + 2 * k];
        out[2 * D + 1 + 2 * k] += sizes ? size_of(c) : c;
        out[2 * D + 2 + 2 * k] += sizes ? size_of(s) : s;
    }
}

/* A row after a time h: x exp(G h), in place. */
OUTLINE void after(const real acceleration[D][SIZE], const real *turn, real *x, real h, int sizes) {
    real term[SIZE], next[SIZE];
    for (int j = 0; j < SIZE; j++) term[j] = x[j];
    mask open = NOT(NONE);
    for (int k = 1; k < 60 && ANY(open); k++) {
        derivative(acceleration, turn, term, next, sizes);
        mask counts = NONE;
        for (int j = 0; j < SIZE; j++) {
            term[j] = next[j] * (h / (double)k);
            x[j] = SEL(open, x[j] + term[j], x[j]);
            counts |= size_of(term[j]) > 1e-18 * size_of(x[j]);
        }
        open &= counts;
    }
}

/* What bounds the distance of a gap from its cubic over an interval h, and its rounding. */
OUTLINE void bound(const real acceleration[D][SIZE], const real *turn, const real *gap, real h, real *x) {
    real next[SIZE], fourth = h * h * h * h * (1.0 / 384.0);
    for (int j = 0; j < SIZE; j++) x[j] = gap[j];
    for (int k = 0; k < 4; k++) {
        derivative(acceleration, turn, x, next, 0);
        for (int j = 0; j < SIZE; j++) x[j] = next[j];
    }
    for (int j = 0; j < SIZE; j++) x[j] = size_of(x[j]);
    after(acceleration, turn, x, h, 1);
    for (int j = 0; j < SIZE; j++) x[j] = x[j] * fourth + ROUNDING * size_of(gap[j]);
}

/* The spectral radius of M^-1 K or M^-1 C, about. */
OUTLINE real radius(const real acceleration[D][SIZE], int from) {
    real a[D * D], b[D * D], log = ZERO;
    mask none = NONE;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) a[i * D + j] = acceleration[i][from + j];
    for (int turn = 0; turn < 6; turn++) {
        real size = ZERO;
        for (int k = 0; k < D * D; k++) size = larger(size_of(a[k]), size);
        none |= NOT(size > 0.0);
        size = SEL(none, ALL(1.0), size);
        log += f_log(size);
        if (turn == 5) break;
        log *= 2.0;
        for (int k = 0; k < D * D; k++) a[k] /= size;
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                b[i * D + j] = ZERO;
                for (int l = 0; l < D; l++) b[i * D + j] += a[i * D + l] * a[l * D + j];
            }
        for (int k = 0; k < D * D; k++) a[k] = b[k];
    }
    return SEL(none, ZERO, f_exp(log * (1.0 / 32.0)));
}

/* A harmonic after a phase of at most half of INTERVAL. */
FUNCTION void turned(real cosine, real sine, real phase, real *c, real *s) {
    real x = phase * phase, even = ZERO, odd = ZERO;
    UNROLL for (int k = TERMS / 2; k >= 0; k--) {
        even = 1.0 - x * even * over_squares[2 * k + 1];
        odd = 1.0 - x * odd * over_squares[2 * k + 2];
    }
    odd *= phase;
    *c = cosine * even - sine * odd;
    *s = sine * even + cosine * odd;
}

/* Solves M x = r in place, with Cholesky's factor. */
FUNCTION void divide(const real *factor, real *x) {
    for (int i = 0; i < D; i++) {
        for (int k = 0; k < i; k++) x[i] -= factor[i * D + k] * x[k];
        x[i] /= factor[i * D + i];
    }
    for (int i = D - 1; i >= 0; i--) {
        for (int k = i + 1; k < D; k++) x[i] -= factor[k * D + i] * x[k];
        x[i] /= factor[i * D + i];
    }
}

/* All of them, for the trajectories that are new. Where flight has no grid the interval is zero. */
OUTLINE void prepare(real *s, mask fresh) {
    real mass[D * D], acceleration[D][SIZE], gaps[M][SIZE], turn[HARMONICS + 1], phase[HARMONICS + 1], restitution[M];
    real pull[M][D], compliance[M], column[D], x[SIZE], number[NUMBERS];
/*@coefficients@*/
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            real sum = mass[i * D + j];
            for (int k = 0; k < j; k++) sum -= mass[i * D + k] * mass[j * D + k];
            mass[i * D + j] = i == j ? f_sqrt(sum) : sum / mass[j * D + j];
        }
    for (int j = 0; j < SIZE; j++) {
        for (int i = 0; i < D; i++) column[i] = acceleration[i][j];
        divide(mass, column);
        for (int i = 0; i < D; i++) acceleration[i][j] = column[i];
    }
    for (int a = 0; a < GAPS; a++) {
        for (int i = 0; i < D; i++) pull[a][i] = gaps[a][i];
        divide(mass, pull[a]);
        compliance[a] = ZERO;
        for (int i = 0; i < D; i++) compliance[a] += gaps[a][i] * pull[a][i];
    }
    real pace = larger(f_sqrt(radius(acceleration, 0)), radius(acceleration, D));
    for (int k = 0; k < HARMONICS; k++) pace = larger(size_of(turn[k]), pace);
    real h = INTERVAL / pace;
    number[0] = h;
/*@numbers@*/
    mask sound = h > 0.0;
    for (int k = 0; k < NUMBERS; k++) sound &= size_of(number[k]) < 1e300;
    number[0] = SEL(sound, h, ZERO);
    for (int k = 0; k < NUMBERS; k++) S(R_LINEAR + k) = SEL(fresh, number[k], S(R_LINEAR + k));
}

