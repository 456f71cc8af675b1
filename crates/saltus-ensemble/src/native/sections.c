
/* Sections: where an expression changes its sign. A crossing does not end the step that it is in: it is found there, with the state at it. Each
 * section has a side, 1 or -1, the sign of its expression so far; 0 where that is not known yet. At a crossing the value is zero but for
 * rounding and tells nothing: the side does. What is small is measured by `span`, a step as the motion allows it, however short this one is. */

/* Whether an impact has taken a section to the other side: by the jump, and by more than rounding. */
FUNCTION mask has_jumped(const real *p, real side, real ended, real rounding) {
    real jump = size_of(p[0] - ended);
    return (-side * p[0] > 1e-13 * jump) & (jump > rounding);
}

/* How late, or early, an impact is where a step ends: the gap there is not zero to the last digit. */
FUNCTION real lateness(const real *gap, real h) {
    real value = ZERO, slope = ZERO, size = ZERO;
    UNROLL for (int k = N; k >= 0; k--) {
        slope = slope * h + value;
        value = value * h + gap[k];
        size = size * h + size_of(gap[k]);
    }
    return 2.0 * (size_of(value) + 4.0 * EPSILON * size) / size_of(slope);
}

/* What is nothing at the end of a step: what is rounding in time (`blur`) moves it. A section that vanishes at an impact may do so a little before it, or
 * after, and is known there to the last terms of its series. */
FUNCTION real at_end(const real *p, real h, real noise, real blur, real late) {
    real slope = ZERO, last = ZERO;
    UNROLL for (int k = N; k > 0; k--) {
        slope = slope * h + (double)k * p[k];
        last = h * (k + 1 >= N ? last + size_of(p[k]) : last);
    }
    mask is_late = (late > 0.0) & (late < h);
    return noise + size_of(slope) * (blur + SEL(is_late, late, ZERO)) + SEL(is_late, last, ZERO);
}

/* The value where the step ends, in an impact, and what is nothing in it. (No step begins with it: what an impact takes all of has no other trace.) */
FUNCTION void note_value(const real *p, mask m, real h, real blur, real late, real *ended, real *rounding, real *reach) {
    real value = p[N], size = size_of(p[N]);
    UNROLL for (int k = N - 1; k >= 0; k--) {
        value = value * h + p[k];
        size = size * h + size_of(p[k]);
    }
    *ended = SEL(m, value, *ended);
    *reach = SEL(m, larger(size_of(value), *reach), *reach);
    *rounding = SEL(m, at_end(p, h, 1e-13 * size, blur, late), *rounding);
}

/* The sign that a motion on a section takes: that of the first term that is more than noise. (Where an impact takes all of a rate, what is left of that
 * is rounding, and the next term tells.) */
FUNCTION real first_sign(const real *p, real span, real noise) {
    real sign = ZERO, power = span;
    UNROLL for (int k = 1; k <= N; k++) {
        sign = SEL((sign == 0.0) & (size_of(p[k] * power) > noise), SEL(p[k] < 0.0, ALL(-1.0), ALL(1.0)), sign);
        power *= span;
    }
    return sign;
}

/* How a section begins: the value there, what is nothing in it, and the side. Shortens the step until there is at most one crossing in it. Says
 * which trajectories cross where the step begins. */
FUNCTION mask watch(const real *p, mask looks, double tolerance, real span, real reach, real still, real blur, real late, real *side, real *first, real *noise, real *h, real *event) {
    *first = p[0];
    *noise = ZERO;
    looks &= *h > 0.0;
    if (!ANY(looks)) return NONE;
    real b[N + 1], power = *h, size = size_of(p[0]), rest = ZERO, whole = size_of(p[N]);
    b[0] = p[0];
    UNROLL for (int k = 1; k <= N; k++) {
        b[k] = p[k] * power;
        if (k <= LOW) size += size_of(b[k]); else rest += size_of(b[k]);
        power *= *h;
    }
    size += rest;
    UNROLL for (int k = N - 1; k >= 0; k--) whole = whole * span + size_of(p[k]);
    *noise = larger(1e-13 * whole, still) + size_of(p[1]) * blur;
    mask unknown = looks & (*side == 0.0);
    if (ANY(unknown)) {
        /* (A motion that starts on a section does not cross it there.) */
        real goes = SEL(size_of(p[0]) > *noise, SEL(p[0] < 0.0, ALL(-1.0), ALL(1.0)), first_sign(p, span, *noise));
        *side = SEL(unknown, goes, *side);
    }
    looks &= *side != 0.0;
    /* A value that contradicts the side by no more than is known, on its way back, is that of a crossing that was counted, or is to come. (What
     * is known of it is measured by how far the motion goes, however little of that is left where bounces become short.) */
    real value = *side * p[0];
    mask returns = looks & (value < 0.0) & (-value <= larger(100.0 * tolerance * larger(whole, reach), *noise));
    if (ANY(returns)) returns &= *side * first_sign(p, span, *noise) > 0.0;
    mask at_once = looks & NOT(returns) & (value < -*noise);
    *side = SEL(at_once, -*side, *side);
    *first = SEL(returns, ZERO, p[0]);
    b[0] = *first;
    mask open = looks & NOT((*side * *first > 0.0) & (size_of(*first) > (1.0 + 1e-9) * (size - size_of(p[0]))));
    if (!ANY(open)) return at_once;
    /* The first terms in Bernstein form, and all others from below: where that is above zero, nothing crosses. */
    real form[LOW + 1];
    UNROLL for (int k = 0; k <= LOW; k++) form[k] = *side * b[k] * over_low_binomial[k];
    UNROLL for (int r = 1; r <= LOW; r++)
        UNROLL for (int k = LOW; k >= r; k--) form[k] += form[k - 1];
    real least = form[0];
    UNROLL for (int k = 1; k <= LOW; k++) least = smaller(form[k], least);
    open &= NOT(least > rest) | NOT(size < 1e300);
    if (!ANY(open)) return at_once;
    /* All of them: signs that change once have one root between them. (One that begins with nothing changes its sign where it is something.) */
    real floor = 4.0 * EPSILON * size, part = ALL(1.0);
    floor = SEL(SEL(returns, size_of(p[1] * span), size_of(p[0])) <= *noise, larger(*noise, floor), floor);
    UNROLL for (int k = 1; k <= N; k++) b[k] *= over_binomial[k];
    UNROLL for (int r = 1; r <= N; r++)
        UNROLL for (int k = N; k >= r; k--) b[k] += b[k - 1];
    real nothing = larger(at_end(p, *h, *noise, blur, SEL(*event >= (double)HIT, late, ZERO)), floor);
    mask unclear = open & NOT(size < 1e300);
    open &= NOT(unclear);
    for (int halving = 0;; halving++) {
        real sign = *side, changes = ZERO;
        UNROLL for (int k = 0; k <= N; k++) {
            mask turns = sign * b[k] < -floor;
            sign = SEL(turns, -sign, sign);
            changes = SEL(turns, changes + 1.0, changes);
        }
        /* (What ends in nothing, after it was below that, may have come back. Where it ends is summed up in another way to look for its root.) */
        mask dips = NONE;
        UNROLL for (int k = 0; k < N; k++) dips |= *side * b[k] < -nothing;
        open &= (changes > 1.0) | ((changes == 1.0) & dips & NOT(*side * b[N] < -2.0 * nothing));
        if (!ANY(open)) break;
        /* (The zero of a square is this flat where its values are above rounding.) */
        if (halving == 25) {
            unclear |= open;
            break;
        }
        part = SEL(open, 0.5 * part, part);
        UNROLL for (int r = 1; r <= N; r++)
            UNROLL for (int k = N; k >= r; k--) b[k] = 0.5 * (b[k] + b[k - 1]);
    }
    *event = SEL(part < 1.0, ZERO, *event);
    *h = SEL(unclear, ZERO, part * *h);
    *event = SEL(unclear, ALL(UNCLEAR), *event);
    return at_once & NOT(unclear);
}

/* Whether a section is crossed within a step in which it is crossed once at most, and where. */
FUNCTION mask seek(const real *p, mask looks, real side, real first, real noise, real h, real *root) {
    real end = p[N];
    UNROLL for (int k = N - 1; k > 0; k--) end = end * h + p[k];
    end = end * h + first;
    mask crosses = looks & (h > 0.0) & (side != 0.0) & (side * end < -noise), going = crosses;
    *root = h;
    if (!ANY(crosses)) return crosses;
    real part = smaller(larger(first / (first - end), ALL(1e-3)), ALL(1.0 - 1e-3)), s = SEL(crosses, part * h, h), low = ZERO, high = h;
    for (int turn = 0; turn < 60 && ANY(going); turn++) {
        real x = s * s, even = ZERO, odd = ZERO, even_slope = ZERO, odd_slope = ZERO;
        UNROLL for (int k = N / 2; k >= 0; k--) {
            even_slope = even_slope * x + even;
            even = even * x + (k == 0 ? first : p[2 * k]);
            odd_slope = odd_slope * x + odd;
            odd = 2 * k + 1 <= N ? odd * x + p[2 * k + 1 <= N ? 2 * k + 1 : 0] : odd;
        }
        real sum = even + s * odd, slope = odd + 2.0 * s * (even_slope + s * odd_slope);
        mask before = side * sum > 0.0;
        low = SEL(going & before, s, low);
        high = SEL(going & NOT(before), s, high);
        real newton = s - sum / slope;
        mask inside = (newton > low) & (newton < high);
        /* (A correction this small leaves an error of its square.) */
        mask near = size_of(newton - s) <= 1e-9 * h;
        real next = SEL(near, smaller(larger(newton, low), high), SEL(inside, newton, 0.5 * (low + high)));
        s = SEL(going & NOT(sum == 0.0), next, s);
        going &= NOT(near | (sum == 0.0));
    }
    *root = s;
    return crosses;
}

/* The state where a step begins, and at a place of it, by the series of the motion. */
FUNCTION void state_here(const real q[D][N + 1], const real v[D][N + 1], real state[2 * D]) {
    UNROLL for (int i = 0; i < D; i++) {
        state[i] = q[i][0];
        state[D + i] = v[i][0];
    }
}

FUNCTION void state_at(const real q[D][N + 1], const real v[D][N + 1], real at, real state[2 * D]) {
    UNROLL for (int i = 0; i < D; i++) {
        state[i] = i < DEGREES ? value_at(q[i], N, at) : q[i][0];
        state[D + i] = value_at(v[i], N, at);
    }
}

/* Records a state at a section: after all other records, or, where only the last ones are wanted, in the place of the oldest of its own section. */
FUNCTION void note_section(double *log, real *s, int flags, mask m, int section, real t, const real state[2 * D]) {
    EACH(l, m) {
        long long crossed = (long long)AT(S(R_CROSSED + section), l), n = (long long)AT(S(R_LOGGED), l);
        if (flags & LASTS) n = LOG + section * LASTING + crossed % LASTING;
        else AT(S(R_LOGGED), l) = n + 1;
        AT(S(R_CROSSED + section), l) = crossed + 1;
        double *record = log + (l * SLOTS + n) * RECORD;
        record[0] = -2.0 - section;
        record[1] = AT(t, l);
        record[2] = AT(S(R_IMPACTS), l);
        record[3] = 0.0;
        UNROLL for (int i = 0; i < 2 * D; i++) record[4 + i] = AT(state[i], l);
    }
}
