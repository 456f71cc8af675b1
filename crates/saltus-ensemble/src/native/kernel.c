/* Trajectories of a model with impacts, from event to event: Taylor series of the motion, first crossings of its gaps, the impact law,
 * contact, accumulations to their limit. One call advances W trajectories until one of them needs what is not decided here.
 *
 * `real` is a vector of W numbers, one per trajectory, and `mask` a vector of truths; with one trajectory per thread both are plain.
 * Rows of the state S(...) and what depends on the model are defined by the text in front of this one. */

#ifndef SALTUS_ONE
typedef double real __attribute__((vector_size(8 * W)));
typedef long long mask __attribute__((vector_size(8 * W)));
typedef mask whole;
#define SEL(m, a, b) ((real)(((m) & (mask)(a)) | (~(m) & (mask)(b))))
#define NOT(m) (~(m))
#define BITS(x) ((mask)(x))
#define FROM_BITS(b) ((real)(b))
#define TO_REAL(b) __builtin_convertvector(b, real)
#define TO_WHOLE(x) __builtin_convertvector(x, mask)
#define AT(x, l) ((x)[l])
#define EACH(l, m) for (int l = 0; l < W; l++) if ((m)[l])
#define ALL(c) ((c) - (real){})
#define NONE ((mask){})
#define EVERY NOT(NONE)
#define LEAVE_UNLESS(m)
static inline int any(mask m) {
    long long found = 0;
    for (int l = 0; l < W; l++) found |= m[l];
    return found != 0;
}
#define ANY(m) any(m)
typedef real guess;
#define GUESS(x) (x)
#define UNGUESS(x) (x)
#define GUESS_SIZE(x) size_of(x)
#define QUOTIENT(a, b) ((a) / (b))
#define ONE_BY_ONE(name) \
    static inline real f_##name(real x) { \
        real y; \
        for (int l = 0; l < W; l++) y[l] = name(x[l]); \
        return y; \
    }
#else
typedef double real;
typedef bool mask;
typedef long long whole;
#define SEL(m, a, b) ((m) ? (a) : (b))
#define NOT(m) (!(m))
#ifdef __CUDACC__
#define BITS(x) __double_as_longlong(x)
#define FROM_BITS(b) __longlong_as_double(b)
#else
static inline long long BITS(double x) { union { double x; long long b; } u = {x}; return u.b; }
static inline double FROM_BITS(long long b) { union { long long b; double x; } u = {b}; return u.x; }
#endif
#define TO_REAL(b) ((double)(b))
#define TO_WHOLE(x) ((long long)(x))
#define AT(x, l) (x)
#define EACH(l, m) for (int l = 0; l < 1 && (m); l++)
#define ALL(c) ((double)(c))
#define NONE false
#define EVERY true
#define ANY(m) (m)
/* (So it is known in what follows that the only trajectory goes on.) */
#define LEAVE_UNLESS(m) if (!(m)) break;
/* (A number to a few digits: a GPU is faster with these.) */
typedef float guess;
#define GUESS(x) ((float)(x))
#define UNGUESS(x) ((double)(x))
#define GUESS_SIZE(x) fabsf(x)
#ifdef __CUDACC__
#define QUOTIENT(a, b) __fdividef(a, b)
#else
#define QUOTIENT(a, b) ((a) / (b))
#endif
#define ONE_BY_ONE(name) \
    FUNCTION real f_##name(real x) { return name(x); }
#endif
#define ZERO ALL(0.0)
#define EPSILON 2.220446049250313e-16

ONE_BY_ONE(exp)
ONE_BY_ONE(log)
ONE_BY_ONE(tan)
ONE_BY_ONE(asin)
ONE_BY_ONE(acos)
ONE_BY_ONE(atan)
ONE_BY_ONE(sinh)
ONE_BY_ONE(cosh)
ONE_BY_ONE(tanh)
ONE_BY_ONE(sqrt)
ONE_BY_ONE(sin)
ONE_BY_ONE(cos)

FUNCTION real f_pow(real x, double p) {
    real y;
    EACH(l, NOT(NONE)) AT(y, l) = pow(AT(x, l), p);
    return y;
}

FUNCTION real f_atan2(real a, real b) {
    real y;
    EACH(l, NOT(NONE)) AT(y, l) = atan2(AT(a, l), AT(b, l));
    return y;
}

/* (Without a comparison: a processor clears the sign, a GPU has sizes for nothing.) */
#ifdef SALTUS_ONE
FUNCTION real size_of(real x) { return fabs(x); }
#else
FUNCTION real size_of(real x) { return FROM_BITS(BITS(x) & 0x7fffffffffffffffLL); }
#endif
FUNCTION real larger(real a, real b) { return SEL(a > b, a, b); }
FUNCTION real smaller(real a, real b) { return SEL(a < b, a, b); }

/* Adding and subtracting 1.5·2^52 rounds to a whole number. */
#define SHIFT 6755399441055744.0

#ifndef SALTUS_ONE
static inline void sine_and_cosine(real x, real *sine, real *cosine) {
    if (ANY(NOT(size_of(x) <= 1e6))) {
        *sine = f_sin(x);
        *cosine = f_cos(x);
        return;
    }
    /* The nearest multiple of pi/2, taken away in three parts of 33 bits and a tail; polynomials of fdlibm. */
    real shifted = x * 0.63661977236758134308 + SHIFT, n = shifted - SHIFT;
    real a = x - n * 1.57079632673412561417e+00;
    real m = n * 6.07710050630396597660e-11, b = a - m, lost_b = (a - b) - m;
    real o = n * 2.02226624871116645580e-21, r = b - o, lost_r = (b - r) - o;
    real tail = (lost_b + lost_r) - n * 8.47842766036889956997e-32, z = r * r, w = z * z;
    real p = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06)
        + z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10);
    real v = z * r, s = r - ((z * (0.5 * tail - v * p) - tail) + v * 1.66666666666666324348e-01);
    p = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05))
        + w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11));
    real half = 0.5 * z, first = 1.0 - half, c = first + (((1.0 - first) - half) + (z * p - r * tail));
    whole quadrant = BITS(shifted);
    mask odd = (quadrant & 1) != 0;
    *sine = FROM_BITS(BITS(SEL(odd, c, s)) ^ ((quadrant & 2) << 62));
    *cosine = FROM_BITS(BITS(SEL(odd, s, c)) ^ (((quadrant + 1) & 2) << 62));
}

#else
FUNCTION void sine_and_cosine(real x, real *sine, real *cosine) { sincos(x, sine, cosine); }
#endif

/*@series@*/
/* Where a few digits are enough: 1/x, and x^(-1/n) for x > 0, for which n is above 8. On a GPU single precision costs little. */
#ifdef SALTUS_ONE
#ifdef __CUDACC__
FUNCTION real quick_inverse(real x) {
    real y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    return y;
}
#define FLOAT_OF_BITS(b) __int_as_float(b)
#define quick_log2f __log2f
#else
FUNCTION real quick_inverse(real x) { return 1.0 / x; }
static inline float FLOAT_OF_BITS(int b) { union { int b; float x; } u = {b}; return u.x; }
#define quick_log2f log2f
#endif
FUNCTION float quick_log2(real x) {
    int high = (int)(BITS(x) >> 32);
    return (float)(((high >> 20) & 2047) - 1023) + quick_log2f(FLOAT_OF_BITS(((high & 0xfffff) << 3) | 0x3f800000));
}
FUNCTION real inverse_root(real x, double n) { return (double)exp2f(quick_log2(x) * (float)(-1.0 / n)); }
/* How long a step may be for its last terms, and whether they are known. (Zero has a logarithm here.) */
FUNCTION real longest_step(const real *worst, mask *known) {
    float last = quick_log2(worst[0]), second = quick_log2(worst[1]), third = quick_log2(worst[2]);
    *known = fmaxf(last, fmaxf(second, third)) < 996.0f;
    return (double)exp2f(fminf(last * (float)(-1.0 / N), fminf(second * (float)(-1.0 / (N - 1)), third * (float)(-1.0 / (N - 2)))));
}
#else
FUNCTION real quick_inverse(real x) { return 1.0 / x; }
FUNCTION real inverse_root(real x, double n) {
    whole bits = BITS(x);
    real exponent = TO_REAL((bits >> 52) & 2047) - 1023.0;
    real m = FROM_BITS((bits & 0x000fffffffffffffLL) | 0x3ff0000000000000LL) - 1.0;
    real log = m + m * (1.0 - m) * (0.4387 - 0.2545 * m + 0.0965 * m * m);
    real y = -(exponent + log) * (1.0 / n);
    y = smaller(larger(y, ALL(-1000.0)), ALL(1000.0));
    real whole = (y + SHIFT) - SHIFT;
    whole = SEL(whole > y, whole - 1.0, whole);
    real part = y - whole;
    real power = 1.0 + part - part * (1.0 - part) * (0.3062 + 0.0775 * part);
    return FROM_BITS((TO_WHOLE(whole) + 1023) << 52) * power;
}
FUNCTION real longest_step(const real *worst, mask *known) {
    real fits = ALL(1e300);
    *known = NOT(NONE);
    UNROLL for (int k = 0; k < 3; k++) {
        *known &= worst[k] < 1e300;
        fits = smaller(inverse_root(larger(worst[k], ALL(1e-300)), N - k), fits);
    }
    return fits;
}
#endif

/* The larger of what was and the last terms of a series, relative to what is allowed of it. (Two of them may vanish where they are no measure
 * of the others.) */
FUNCTION void measure(const real *c, int n, real *scale, real last, double allowed, int is_first, real *worst) {
    real own = larger(larger(size_of(c[0]), size_of(c[1]) * last), size_of(c[2]) * last * last);
    real size = larger(0.5 * *scale, own);
    *scale = size;
    real over = quick_inverse(larger(allowed * size, ALL(1e-290)));
    real a = size_of(c[n]) * over, b = size_of(c[n - 1]) * over * 0.125, d = size_of(c[n - 2]) * over * (1.0 / 64.0);
    worst[0] = is_first ? a : SEL(a <= worst[0], worst[0], a);
    worst[1] = is_first ? b : SEL(b <= worst[1], worst[1], b);
    worst[2] = is_first ? d : SEL(d <= worst[2], worst[2], d);
}

/* Whether a series has more than its first terms, and whether one of them lies above a line from the first ones to what is allowed of the last, for a
 * step. (Where there are no first terms there is nothing to measure by.) */
FUNCTION mask majorise(const real *c, int n, real h, double steeper, mask *steep) {
    real scale = larger(larger(size_of(c[0]), size_of(c[1]) * h), size_of(c[2]) * h * h);
    real ratio = steeper * h, power = ratio * ratio;
    mask terms = NONE;
    UNROLL for (int k = 3; k <= n; k++) {
        power *= ratio;
        *steep |= (scale > 0.0) & NOT(size_of(c[k]) * power <= scale);
        terms |= size_of(c[k]) > 0.0;
    }
    return terms;
}

FUNCTION real value_at(const real *c, int n, real s) {
    real sum = c[n];
    UNROLL for (int k = n - 1; k >= 0; k--) sum = sum * s + c[k];
    return sum;
}

/* Where the polynomial p turns negative first within the step: shortens the step and notes what ends it. The first `zeros` coefficients
 * are zero: they are left out of p, for good. */
OUTLINE void examine(real *p, mask looks, real zeros, real code, real *h, real *event) {
    looks &= *h > 0.0;
    if (!ANY(looks)) return;
    for (int shift = 1; shift <= 3 && ANY(looks & (zeros >= (double)shift)); shift++) {
        mask moves = zeros >= (double)shift;
        UNROLL for (int k = 0; k < N; k++) p[k] = SEL(moves, p[k + 1], p[k]);
        p[N] = SEL(moves, ZERO, p[N]);
    }
    real b[N + 1], power = ALL(1.0), size = ZERO, least = ZERO;
    UNROLL for (int k = 0; k <= N; k++) {
        b[k] = p[k] * power;
        size += size_of(b[k]);
        least += k == 0 ? b[k] : smaller(b[k], ZERO);
        power *= *h;
    }
    mask open = looks & NOT((least > 0.0) & (size < 1e300));
    if (!ANY(open)) return;
    /* All of them in Bernstein form. */
    real floor = 4.0 * EPSILON * size;
    UNROLL for (int k = 1; k <= N; k++) b[k] *= over_binomial[k];
    UNROLL for (int r = 1; r <= N; r++)
        UNROLL for (int k = N; k >= r; k--) b[k] += b[k - 1];
    mask between = NONE;
    real part = ALL(1.0), s = ZERO, high = ZERO, clear = ALL(1.0);
    mask unclear = NONE;
    for (int halving = 0; ANY(open); halving++) {
        /* Whether all are finite, none is below zero, none that is above follows one that is below. */
        mask finite = NOT(NONE), below = NONE, returns = NONE;
        UNROLL for (int k = 0; k <= N; k++) {
            finite &= size_of(b[k]) < 1e308;
            below |= b[k] < -floor;
            returns |= below & (b[k] > floor);
        }
        mask at_once = open & (b[0] < -floor);
        between |= at_once;
        open &= NOT(at_once);
        mask lost = open & NOT(finite);
        unclear |= lost;
        open &= NOT(lost);
        mask passes = open & NOT(below);
        clear = SEL(passes, part, clear);
        open &= NOT(passes);
        mask once = open & NOT(returns) & (b[N] < -floor);
        if (ANY(once)) {
            real guess = b[0] / (b[0] - b[N]);
            guess = smaller(larger(guess, ALL(1e-3)), ALL(1.0 - 1e-3));
            s = SEL(once, part * guess * *h, s);
            high = SEL(once, part * *h, high);
            between |= once;
            open &= NOT(once);
        }
        if (!ANY(open)) break;
        if (halving == 11) {
            unclear |= open;
            break;
        }
        /* The left half (de Casteljau). */
        UNROLL for (int r = 1; r <= N; r++)
            UNROLL for (int k = N; k >= r; k--) b[k] += b[k - 1];
        double share = 1.0;
        UNROLL for (int k = 0; k <= N; k++, share *= 0.5) b[k] *= share;
        part *= 0.5;
    }
    mask shortened = looks & (clear < 1.0);
    *event = SEL(shortened, ZERO, *event);
    *h = SEL(shortened, clear * *h, *h);
    *event = SEL(unclear, ALL(UNCLEAR), *event);
    *h = SEL(unclear, ZERO, *h);
    if (!ANY(between)) return;
    /* Newton's method between bounds. */
    real low = ZERO;
    mask going = between & (low < high);
    for (int turn = 0; turn < 60 && ANY(going); turn++) {
        /* Even and odd powers apart: two chains at once. */
        real x = s * s, even = ZERO, odd = ZERO, even_slope = ZERO, odd_slope = ZERO;
        UNROLL for (int k = N / 2; k >= 0; k--) {
            even_slope = even_slope * x + even;
            even = even * x + p[2 * k];
            odd_slope = odd_slope * x + odd;
            odd = 2 * k + 1 <= N ? odd * x + p[2 * k + 1 <= N ? 2 * k + 1 : 0] : odd;
        }
        real sum = even + s * odd, slope = odd + 2.0 * s * (even_slope + s * odd_slope);
        mask positive = sum > 0.0;
        low = SEL(going & positive, s, low);
        high = SEL(going & NOT(positive), s, high);
        real newton = s - sum / slope;
        mask inside = (newton > low) & (newton < high);
        real next = SEL(inside, newton, 0.5 * (low + high));
        mask done = (sum == 0.0) | (size_of(newton - s) <= EPSILON * s) | (next == s);
        going &= NOT(done);
        s = SEL(going, next, s);
    }
    *h = SEL(between, s, *h);
    *event = SEL(between, code, *event);
}

/* The same, where the first terms tell: nothing crosses, or it crosses once, whatever the others are. What is not that plain is examined. */
FUNCTION void cross(const real *p, mask looks, real zeros, real code, real *h, real *event) {
    looks &= *h > 0.0;
    if (!ANY(looks)) return;
    /* The first terms in Bernstein form, without a root at the beginning, and a bound of all others. */
    mask left = zeros > 0.0, hard = looks & (zeros > 1.0);
    real c[LOW + 1], b[LOW + 1], power = ALL(1.0), rest = size_of(p[N]);
    UNROLL for (int k = N - 1; k > LOW + 1; k--) rest = rest * *h + size_of(p[k]);
    rest = SEL(left, rest, rest * *h + size_of(p[LOW + 1]));
    UNROLL for (int k = 0; k <= LOW; k++) {
        c[k] = SEL(left, p[k + 1], p[k]) * power;
        b[k] = c[k] * over_low_binomial[k];
        power *= *h;
    }
    rest *= power;
    UNROLL for (int r = 1; r <= LOW; r++)
        UNROLL for (int k = LOW; k >= r; k--) b[k] += b[k - 1];
    real least = b[0];
    UNROLL for (int k = 1; k <= LOW; k++) least = smaller(b[k], least);
    mask open = looks & (hard | NOT((least > rest) & (least < 1e300)));
    if (!ANY(open)) return;
    /* With all others against it or for it, the polynomial changes its sign once: there is no crossing but between the two. */
    mask low = NONE, under = NONE, returns = NONE;
    real size = ZERO;
    UNROLL for (int k = 0; k <= LOW; k++) {
        mask above = b[k] > rest, below = b[k] < -rest;
        returns |= (low & above) | (under & NOT(below));
        low |= NOT(above);
        under |= below;
        size += size_of(c[k]);
    }
    mask once = open & NOT(hard | returns) & (b[0] > rest) & (b[LOW] < -rest) & (size < 1e290);
    if (ANY(once)) {
        /* A guess. */
        real over = quick_inverse(size);
        guess f[LOW + 1], first = GUESS(b[0] * over), last = GUESS(b[LOW] * over), unsure = GUESS(rest * over);
        UNROLL for (int k = 0; k <= LOW; k++) f[k] = GUESS(c[k] * over);
        guess left_end = GUESS(ZERO), right_end = GUESS(ALL(1.0)), u = QUOTIENT(first, first - last), falls = left_end, bend = left_end;
        ROLLED for (int turn = 0; turn < 5; turn++) {
            guess value = f[LOW], slope = GUESS(ZERO);
            UNROLL for (int k = LOW - 1; k >= 0; k--) {
                slope = slope * u + value;
                value = value * u + f[k];
            }
            left_end = SEL(value > GUESS(0.0), u, left_end);
            right_end = SEL(value > GUESS(0.0), right_end, u);
            guess newton = u - QUOTIENT(value, slope);
            u = SEL((newton >= left_end) & (newton <= right_end), newton, GUESS(0.5) * (left_end + right_end));
            falls = -slope;
        }
        /* Where it may cross it must fall, and go on falling. */
        UNROLL for (int k = 2; k <= LOW; k++) bend += GUESS((double)(k * (k - 1))) * GUESS_SIZE(f[k]);
        once &= (falls > GUESS(1e-3)) & (falls > GUESS(4.0 * N) * unsure) & (falls * falls > GUESS(8.0) * bend * unsure);
        /* Newton's method. (A correction this small leaves an error of its square.) */
        mask seeks = once;
        real s = UNGUESS(u) * *h, from = s, near = 1e-11 * *h, by = ZERO, start = SEL(left, ZERO, p[0]);
        ROLLED for (int turn = 0; turn < 6 && ANY(seeks); turn++) {
            /* Even and odd powers apart: two chains at once. */
            real x = s * s, even = ZERO, odd = ZERO, even_slope = ZERO, odd_slope = ZERO;
            UNROLL for (int k = N / 2; k >= 0; k--) {
                even_slope = even_slope * x + even;
                even = even * x + (k == 0 ? start : p[2 * k]);
                odd_slope = odd_slope * x + odd;
                odd = 2 * k + 1 <= N ? odd * x + p[2 * k + 1 <= N ? 2 * k + 1 : 0] : odd;
            }
            real sum = even + s * odd, slope = odd + 2.0 * s * (even_slope + s * odd_slope);
            by = SEL(seeks, sum / slope, by);
            s = SEL(seeks, s - by, s);
            seeks &= size_of(by) > near;
        }
        once &= NOT(seeks) & (size_of(by) <= near) & (size_of(s - from) <= 0.01 * *h) & (s > 0.0) & (s < *h);
        *h = SEL(once, s, *h);
        *event = SEL(once, code, *event);
        open &= NOT(once);
    }
    if (!ANY(open)) return;
    real own[N + 1];
    UNROLL for (int k = 0; k <= N; k++) own[k] = p[k];
    examine(own, open, zeros, code, h, event);
}

/* A denominator may fall to this part within a step. */
FUNCTION void keep_clear(const real *c, real shortest, real *h, real *event) {
    mask negative = c[0] < 0.0;
    for (int halving = 0; halving < 50; halving++) {
        real fall = ZERO;
        UNROLL for (int k = N; k > 0; k--) fall = (fall + larger(SEL(negative, c[k], -c[k]), ZERO)) * *h;
        mask near = (*h > 0.0) & NOT((1.0 - 1e-4) * size_of(c[0]) - fall > 0.0);
        if (!ANY(near)) return;
        *h = SEL(near, 0.5 * *h, *h);
        *event = SEL(near, ZERO, *event);
        mask lost = near & NOT(*h > shortest);
        *h = SEL(lost, ZERO, *h);
        *event = SEL(lost, ALL(UNCLEAR), *event);
    }
}
