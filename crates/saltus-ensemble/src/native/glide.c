/* Linear flight: from grid point to grid point by its propagator, as long as no gap can close in between (see `lanes/glide`), and through
 * plain impacts (see `lanes/meet`). Returns the number of intervals and impacts. After so many of its own a trajectory leaves for now, so
 * that those beside it that need something else do not wait for long: `still` says which. */
OUTLINE int glide(real *s, double *log, double tolerance, int flags, mask go, mask *still) {
    mask flies = go & NOT(S(R_HELD) >= 0.0) & (S(R_NEW) == 0.0) & (S(R_ARRIVED) == 0.0) & (S(R_LINEAR) > 0.0);
    UNROLL for (int a = 0; a < M; a++) flies &= S(R_ZEROS + a) <= 1.0;
    *still = NONE;
    if (!ANY(flies)) return 0;
    real interval = S(R_LINEAR), now = S(R_T), end = SEL(now < S(R_FROM), smaller(S(R_STOP), S(R_FROM)), S(R_STOP));
    real z[SIZE], next[SIZE], gap[M], rise[M], then[M], fall[M], doubt[M], extent[M];
    mask left[M], moved = NONE;
    UNROLL for (int i = 0; i < D; i++) {
        z[i] = S(R_Q + i);
        z[D + i] = S(R_V + i);
    }
    z[2 * D] = ALL(1.0);
    UNROLL for (int a = 0; a < M; a++) {
        left[a] = S(R_ZEROS + a) > 0.0;
        extent[a] = S(R_EXTENT + a);
    }
/*@constants@*/
    int turns = 0;
    const real per = 3.0 / interval;
    /* (Times that are added up would drift: intervals are counted from where they began.) */
    real since = now, intervals = ZERO, fits = (end - since) * per * (1.0 / 3.0) - 1e-9;
    real own_turns = ZERO, widest = S(R_WIDEST), law = S(R_LAW), violation = S(R_VIOLATION), impacts = S(R_IMPACTS);
    real bounced = S(R_BOUNCED), restitution = S(R_RESTITUTION), first_kept = S(R_FROM), logged = S(R_LOGGED);
/*@begin@*/
    for (;;) {
        /* (A few intervals at a time: those that have come to an impact do not wait for long flights.) */
        mask tired = own_turns >= PATIENT, open = flies & NOT(tired), flew = NONE;
        *still |= flies & tired;
        flies &= NOT(tired);
        real before = intervals;
        PAIRED for (int turn = 0; turn < BURST; turn++) {
            real count = intervals + 1.0;
            open &= count <= fits;
            if (!ANY(open)) break;
/*@step@*/
            UNROLL for (int a = 0; a < GAPS; a++) {
                real third = then[a] - fall[a], d = doubt[a];
                mask clear = (gap[a] > d) & (gap[a] + rise[a] > d) & (third > d) & (then[a] > d);
                /* (A gap that has just closed: without its root at the beginning.) */
                if (ANY(left[a])) clear = (NOT(left[a]) & clear) | (left[a] & (rise[a] > 0.8 * d) & (third > 1.6 * d) & (then[a] > 2.4 * d));
                open &= clear;
            }
            if (!ANY(open)) break;
            turns++;
            flew |= open;
            intervals = SEL(open, count, intervals);
            UNROLL for (int i = 0; i < SIZE; i++) z[i] = SEL(open, next[i], z[i]);
            UNROLL for (int a = 0; a < GAPS; a++) {
                gap[a] = SEL(open, then[a], gap[a]);
                rise[a] = SEL(open, fall[a], rise[a]);
                left[a] &= NOT(open);
                extent[a] = SEL(open, larger(extent[a], gap[a]), extent[a]);
            }
            if (flags & TRACKS) {
                real at = since + intervals * interval, speed = ZERO;
                mask counts = open & (at >= S(R_FROM));
                UNROLL for (int i = 0; i < D; i++) {
                    S(R_LARGEST + i) = SEL(counts, larger(size_of(z[i]), S(R_LARGEST + i)), S(R_LARGEST + i));
                    S(R_LARGEST + D + i) = SEL(counts, larger(size_of(z[D + i]), S(R_LARGEST + D + i)), S(R_LARGEST + D + i));
                    if (i < DEGREES) speed = larger(speed, size_of(z[D + i]));
                }
                S(R_FASTEST) = SEL(counts, larger(speed, S(R_FASTEST)), S(R_FASTEST));
                S(R_MOVED) = SEL(counts & NOT(speed <= QUIET * S(R_FASTEST)), at, S(R_MOVED));
                S(R_SEEN) = SEL(counts, at, S(R_SEEN));
            }
        }
        moved |= flew;
        own_turns += intervals - before;
        now = SEL(flew, since + intervals * interval, now);
        /* (What flies on for an interval of the grid does not chatter.) */
        bounced = SEL(flew, ALL(-1.0), bounced);

        /* The interval that is left: one gap that closes once, or none before the end. Where that is in doubt, half of it may be clear. */
        mask plain = flies & NOT(open) & (logged < LOG - 5.0) & (now < end), halves = plain;
        flies &= open;
        if (ANY(plain)) {
/*@step@*/
            real part = (end - now) * per * (1.0 / 3.0), which = ALL(-1.0), unsure = ZERO, c0 = ZERO, c1 = ZERO, c2 = ZERO, c3 = ZERO;
            UNROLL for (int a = 0; a < GAPS; a++) {
                real b0 = SEL(left[a], ZERO, gap[a]), b1 = b0 + rise[a], b2 = then[a] - fall[a], b3 = then[a];
                real unknown = SEL(left[a], 2.4 * doubt[a], doubt[a]);
                real first = SEL(left[a], 3.0 * b1, b0), second = SEL(left[a], first, b1), middle = SEL(left[a], 1.5 * b2, b2);
                mask clear = smaller(smaller(first, second), smaller(middle, b3)) > unknown;
                mask once = (first > unknown) & (b3 < -unknown) & (left[a] | (second > unknown) | (middle < -unknown)) & (which < 0.0);
                plain &= clear | once;
                real half = SEL(left[a], 0.5 * (first + middle), 0.5 * (first + second));
                real quarter = SEL(left[a], 0.25 * (first + 2.0 * middle + b3), 0.25 * (first + 2.0 * second + middle));
                real eighth = SEL(left[a], quarter, 0.125 * (first + 3.0 * second + 3.0 * middle + b3));
                halves &= smaller(smaller(first, half), smaller(quarter, eighth)) > unknown;
                c0 = SEL(once, first, c0);
                c1 = SEL(once, SEL(left[a], 3.0 * b2 - 6.0 * b1, 3.0 * (b1 - b0)), c1);
                c2 = SEL(once, SEL(left[a], b3 - 3.0 * b2 + 3.0 * b1, 3.0 * (b2 - 2.0 * b1 + b0)), c2);
                c3 = SEL(once, SEL(left[a], ZERO, b3 - 3.0 * b2 + 3.0 * b1 - b0), c3);
                unsure = SEL(once, unknown, unsure);
                which = SEL(once, ALL((double)a), which);
            }
            /* (A guess will do.) */
            real unit = quick_inverse(larger(larger(size_of(c0), size_of(c1)), larger(size_of(c2), size_of(c3))));
            guess f0 = GUESS(c0 * unit), f1 = GUESS(c1 * unit), f2 = GUESS(c2 * unit), f3 = GUESS(c3 * unit);
            guess low = GUESS(ZERO), high = GUESS(ALL(1.0)), root = QUOTIENT(f0, -(f1 + f2 + f3));
            ROLLED for (int turn = 0; turn < 4; turn++) {
                guess value = ((f3 * root + f2) * root + f1) * root + f0, slope = (GUESS(3.0) * f3 * root + GUESS(2.0) * f2) * root + f1;
                low = SEL(value > GUESS(0.0), root, low);
                high = SEL(value > GUESS(0.0), high, root);
                guess newton = root - QUOTIENT(value, slope);
                root = SEL((newton >= low) & (newton <= high), newton, GUESS(0.5) * (low + high));
            }
            real u = SEL(which < 0.0, ZERO, UNGUESS(root));
            /* The slope cannot turn over where the gap may vanish. */
            real falls = -((3.0 * c3 * u + 2.0 * c2) * u + c1), bend = 2.0 * size_of(c2) + 6.0 * size_of(c3) + unsure;
            mask after = u > part + MARGIN, sure = (falls > 0.0) & (falls * falls > 8.0 * bend * unsure);
            plain &= (which < 0.0) | (sure & (after | (u < part - MARGIN)));
            which = SEL(after, ALL(-1.0), which);
            u = SEL(which < 0.0, part, u);
            plain &= (u >= 0.0) & (u < 1.0);
            halves &= NOT(plain) & (part > 0.5);
            plain |= halves;
            which = SEL(halves, ALL(-1.0), which);
            u = SEL(halves, ALL(0.5), u);

            /* The series of the gap, and where it vanishes. */
            mask closes = which >= 0.0;
/*@chosen@*/
            /* (From the nearer end of the interval: a short series.) */
            mask late = u > 0.5;
            real begun = SEL(late, interval, ZERO), s1 = SEL(late, u - 1.0, u) * interval, from = s1, by = ZERO;
            real near[SIZE], term[SIZE], poly[TERMS + 1], series[D][TERMS + 2];
            UNROLL for (int i = 0; i < SIZE; i++) {
                near[i] = SEL(late, next[i], z[i]);
                term[i] = near[i];
            }
            UNROLL for (int k = 0; k <= TERMS; k++) {
                real own;
                if (k == 0) {
/*@own_first@*/
                } else {
/*@own@*/
                }
                poly[k] = own;
                UNROLL for (int i = 0; i < D; i++) series[i][k] = term[i];
                const double factor = over[k + 1];
/*@term@*/
            }
            UNROLL for (int i = 0; i < D; i++) series[i][TERMS + 1] = term[i];
            /* (A correction this small leaves an error of its square, and of a few digits less. No trajectory depends on those beside it.) */
            mask seeks = plain & closes;
            ROLLED for (int round = 0; round < 4 && ANY(seeks); round++) {
                real value = poly[TERMS], slope = ZERO;
                UNROLL for (int k = TERMS - 1; k >= 0; k--) {
                    slope = slope * s1 + value;
                    value = value * s1 + poly[k];
                }
                by = SEL(seeks, value * quick_inverse(slope), by);
                s1 = SEL(seeks, s1 - by, s1);
                seeks &= size_of(by) > 2e-8 * interval;
            }
            plain &= (size_of(s1 - from) <= 0.25 * u * interval) & (size_of(by) <= 2e-8 * interval);
            real after_start = begun + s1;

            /* The state there. */
            real there[SIZE], power = ALL(1.0), square = s1;
            UNROLL for (int k = TERMS; k > 0; k /= 2) {
                if (k % 2) power *= square;
                square *= square;
            }
            UNROLL for (int i = 0; i < D; i++) {
                real value = series[i][TERMS + 1], slope = ZERO, last = series[i][TERMS + 1] * power;
                UNROLL for (int k = TERMS; k >= 0; k--) {
                    slope = slope * s1 + value;
                    value = value * s1 + series[i][k];
                }
                there[i] = value;
                there[D + i] = slope;
                real far = larger(larger(size_of(z[i]), size_of(value)), interval * larger(size_of(z[D + i]), size_of(slope)));
                plain &= (size_of(last) * ((TERMS + 1) * interval) <= 1e-13 * far) & (far < 1e150);
            }
            there[2 * D] = ALL(1.0);
/*@phases@*/

            /* The law. Other gaps must not be as good as closed, and the impact must not be a graze. */
            real rate, size, closed = ZERO, owns[M];
/*@rate@*/
            real speed = -rate * per, impulse = (1.0 + e) * speed * given;
            mask hard = (e >= 0.0) & (e <= 1.0) & (speed > 1e-7 * per * size) & (e * speed > STILL * per * size) & (impulse < 1e300);
            plain &= NOT(closes) | hard;
            UNROLL for (int a = 0; a < GAPS; a++) {
                mask hit = which == (double)a;
                real own = ZERO;
/*@at@*/
                owns[a] = own;
                plain &= NOT(closes) | hit | (own > 10.0 * tolerance * larger(extent[a], size_of(own)));
                closed = SEL(hit, own, closed);
            }
            mask hits = plain & closes, goes_on = plain & (closes | halves);
            if (ANY(goes_on)) {
/*@jump@*/
                UNROLL for (int a = 0; a < GAPS; a++) {
                    mask hit = hits & (which == (double)a);
                    extent[a] = SEL(hit, larger(extent[a], 0.25 * speed * after_start), extent[a]);
                    gap[a] = SEL(goes_on, owns[a], gap[a]);
                    real rises = ZERO;
/*@after@*/
                    rise[a] = SEL(goes_on, rises, rise[a]);
                }
/*@rate@*/
                real off = size_of(rate * per - e * speed) * quick_inverse(size * per);
                law = SEL(hits, larger(off, law), law);
                violation = SEL(hits, larger(-closed, violation), violation);
                bounced = SEL(goes_on, which, bounced);
                restitution = SEL(hits, e, restitution);
            }
            now = SEL(plain, SEL(goes_on, now + after_start, end), now);
            since = SEL(plain, now, since);
            intervals = SEL(plain, ZERO, intervals);
            fits = (end - since) * per * (1.0 / 3.0) - 1e-9;
            moved |= plain;
            UNROLL for (int i = 0; i < SIZE; i++) z[i] = SEL(plain, there[i], z[i]);
            UNROLL for (int a = 0; a < GAPS; a++) left[a] = (plain & closes & (which == (double)a)) | (NOT(plain) & left[a]);
            mask counts = hits & (now >= first_kept);
            impacts = SEL(counts, impacts + 1.0, impacts);
            if (flags & HITS) {
                S(R_T) = SEL(hits, now, S(R_T));
                note(log, s, counts, which, speed, impulse, &speed, 0);
                logged = S(R_LOGGED);
            }
            mask ends = plain & NOT(goes_on), done = NONE;
            if (!(flags & (TRACKS | STROBES))) done = ends & (end == S(R_END));
            S(R_SIGNAL) = SEL(done, ALL(DONE), S(R_SIGNAL));
            S(R_ARRIVED) = SEL(ends & NOT(done) & ((end == S(R_STOP)) | (flags & TRACKS ? NOT(NONE) : NONE)), ALL(1.0), S(R_ARRIVED));
            flies |= goes_on;
            turns++;
            own_turns = SEL(goes_on, own_turns + 1.0, own_turns);
        }
        if (!ANY(flies)) break;
    }
    S(R_LAW) = law;
    S(R_VIOLATION) = violation;
    S(R_IMPACTS) = impacts;
    S(R_BOUNCED) = bounced;
    S(R_RESTITUTION) = restitution;
    S(R_T) = SEL(moved, now, S(R_T));
    S(R_SMOOTH) = SEL(moved, ZERO, S(R_SMOOTH));
    S(R_IDLE) = SEL(moved, ZERO, S(R_IDLE));
    UNROLL for (int i = 0; i < D; i++) {
        S(R_Q + i) = SEL(moved, z[i], S(R_Q + i));
        S(R_V + i) = SEL(moved, z[D + i], S(R_V + i));
    }
    UNROLL for (int a = 0; a < GAPS; a++) {
        S(R_ZEROS + a) = SEL(moved, SEL(left[a], ALL(1.0), ZERO), S(R_ZEROS + a));
        S(R_EXTENT + a) = SEL(moved, extent[a], S(R_EXTENT + a));
        widest = SEL(moved, larger(extent[a], widest), widest);
    }
    S(R_WIDEST) = widest;
    return turns;
}
