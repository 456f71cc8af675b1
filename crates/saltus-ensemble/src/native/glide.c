        /* Linear flight: from grid point to grid point by its propagator, as long as no gap can close in between (see `lanes/glide`), and
         * through plain impacts (see `lanes/meet`). */
        mask flies = go & NOT(is_held) & (S(R_NEW) == 0.0) & (S(R_ARRIVED) == 0.0) & (S(R_LINEAR) > 0.0);
        UNROLL for (int a = 0; a < M; a++) flies &= S(R_ZEROS + a) <= 1.0;
        if (ANY(flies)) {
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
            for (;;) {
/*@begin@*/
                mask open = flies, flew = NONE;
                for (; turns < 16384; turns++) {
                    open &= now + interval <= end;
                    if (!ANY(open)) break;
/*@step@*/
                    UNROLL for (int a = 0; a < GAPS; a++) {
                        real first = gap[a], second = first + rise[a], third = then[a] - fall[a];
                        real least = SEL(left[a], 3.0 * rise[a], smaller(first, second)), middle = SEL(left[a], 1.5 * third, third);
                        real unknown = SEL(left[a], 2.4 * doubt[a], doubt[a]);
                        open &= (smaller(smaller(least, middle), then[a]) > unknown) & (unknown < 1e150);
                    }
                    if (!ANY(open)) break;
                    flew |= open;
                    now = SEL(open, now + interval, now);
                    UNROLL for (int i = 0; i < SIZE; i++) z[i] = SEL(open, next[i], z[i]);
                    UNROLL for (int a = 0; a < GAPS; a++) {
                        gap[a] = SEL(open, then[a], gap[a]);
                        rise[a] = SEL(open, fall[a], rise[a]);
                        left[a] &= NOT(open);
                        extent[a] = SEL(open, larger(extent[a], gap[a]), extent[a]);
                        S(R_WIDEST) = SEL(open, larger(gap[a], S(R_WIDEST)), S(R_WIDEST));
                    }
                    if (flags & TRACKS) {
                        mask counts = open & (now >= S(R_FROM));
                        real speed = ZERO;
                        UNROLL for (int i = 0; i < D; i++) {
                            S(R_LARGEST + i) = SEL(counts, larger(size_of(z[i]), S(R_LARGEST + i)), S(R_LARGEST + i));
                            S(R_LARGEST + D + i) = SEL(counts, larger(size_of(z[D + i]), S(R_LARGEST + D + i)), S(R_LARGEST + D + i));
                            if (i < DEGREES) speed = larger(speed, size_of(z[D + i]));
                        }
                        S(R_FASTEST) = SEL(counts, larger(speed, S(R_FASTEST)), S(R_FASTEST));
                        S(R_MOVED) = SEL(counts & NOT(speed <= QUIET * S(R_FASTEST)), now, S(R_MOVED));
                        S(R_SEEN) = SEL(counts, now, S(R_SEEN));
                    }
                }
                moved |= flew;
                /* (What flies on for an interval of the grid does not chatter.) */
                S(R_BOUNCED) = SEL(flew, ALL(-1.0), S(R_BOUNCED));

                /* The interval that is left: one gap that closes once, or none before the end. */
                mask plain = flies & (S(R_LOGGED) < LOG - 5.0) & (now < end);
                if (turns >= 16384 || !ANY(plain)) break;
/*@step@*/
                real part = (end - now) / interval, which = ALL(-1.0), unsure = ZERO, c0 = ZERO, c1 = ZERO, c2 = ZERO, c3 = ZERO;
                UNROLL for (int a = 0; a < GAPS; a++) {
                    real b0 = SEL(left[a], ZERO, gap[a]), b1 = b0 + rise[a], b2 = then[a] - fall[a], b3 = then[a];
                    real unknown = SEL(left[a], 2.4 * doubt[a], doubt[a]);
                    real first = SEL(left[a], 3.0 * b1, b0), second = SEL(left[a], first, b1), middle = SEL(left[a], 1.5 * b2, b2);
                    mask clear = smaller(smaller(first, second), smaller(middle, b3)) > unknown;
                    mask once = (first > unknown) & (b3 < -unknown) & (left[a] | (second > unknown) | (middle < -unknown)) & (which < 0.0);
                    plain &= clear | once;
                    c0 = SEL(once, first, c0);
                    c1 = SEL(once, SEL(left[a], 3.0 * b2 - 6.0 * b1, 3.0 * (b1 - b0)), c1);
                    c2 = SEL(once, SEL(left[a], b3 - 3.0 * b2 + 3.0 * b1, 3.0 * (b2 - 2.0 * b1 + b0)), c2);
                    c3 = SEL(once, SEL(left[a], ZERO, b3 - 3.0 * b2 + 3.0 * b1 - b0), c3);
                    unsure = SEL(once, unknown, unsure);
                    which = SEL(once, ALL((double)a), which);
                }
                real low = ZERO, high = ALL(1.0), u = SEL(which < 0.0, ZERO, c0 / -(c1 + c2 + c3));
                for (int turn = 0; turn < 5; turn++) {
                    real value = ((c3 * u + c2) * u + c1) * u + c0, slope = (3.0 * c3 * u + 2.0 * c2) * u + c1;
                    low = SEL(value > 0.0, u, low);
                    high = SEL(value > 0.0, high, u);
                    real newton = u - value / slope;
                    u = SEL((newton >= low) & (newton <= high), newton, 0.5 * (low + high));
                }
                /* The slope cannot turn over where the gap may vanish. */
                real falls = -((3.0 * c3 * u + 2.0 * c2) * u + c1), bend = 2.0 * size_of(c2) + 6.0 * size_of(c3) + unsure;
                mask after = u > part + MARGIN, sure = (falls > 0.0) & (falls * falls > 8.0 * bend * unsure);
                plain &= (which < 0.0) | (sure & (after | (u < part - MARGIN)));
                which = SEL(after, ALL(-1.0), which);
                u = SEL(which < 0.0, part, u);
                plain &= (u >= 0.0) & (u < 1.0);
                if (!ANY(plain)) break;

                /* The series of the gap, and where it vanishes. */
                mask closes = which >= 0.0;
                real s1 = u * interval, from = s1, by = ZERO, term[SIZE], poly[TERMS + 1];
                UNROLL for (int i = 0; i < SIZE; i++) term[i] = z[i];
                UNROLL for (int k = 0; k <= TERMS; k++) {
                    real own = ZERO;
/*@own@*/
                    poly[k] = own;
                    const double factor = 1.0 / (k + 1);
/*@term@*/
                }
                for (int round = 0; round < 3; round++) {
                    real value = poly[TERMS], slope = ZERO;
                    UNROLL for (int k = TERMS - 1; k >= 0; k--) {
                        slope = slope * s1 + value;
                        value = value * s1 + poly[k];
                    }
                    by = SEL(closes, value / slope, ZERO);
                    s1 -= by;
                }
                plain &= (size_of(s1 - from) <= 0.25 * from) & (size_of(by) <= 1e-9 * interval);

                /* The state there. */
                real power = ALL(1.0), there[SIZE];
                UNROLL for (int i = 0; i < SIZE; i++) {
                    term[i] = z[i];
                    there[i] = z[i];
                }
                UNROLL for (int k = 0; k < TERMS; k++) {
                    const double factor = 1.0 / (k + 1);
/*@term@*/
                    power *= s1;
                    UNROLL for (int i = 0; i < SIZE; i++) there[i] += term[i] * power;
                }
                UNROLL for (int i = 0; i < D; i++) {
                    real far = larger(larger(size_of(z[i]), size_of(there[i])), interval * larger(size_of(z[D + i]), size_of(there[D + i])));
                    plain &= (size_of(term[i] * power) <= 1e-14 * far) & (size_of(term[D + i] * power) * interval <= 1e-14 * far) & (far < 1e150);
                }

                /* The law. Other gaps must not be as good as closed, and the impact must not be a graze. */
                real speed = ZERO, impulse = ZERO, closed = ZERO, e = ZERO;
                UNROLL for (int a = 0; a < GAPS; a++) {
                    mask hit = which == (double)a;
                    real own = ZERO, rate = ZERO, size = ZERO, given = ZERO, bounce = ZERO;
/*@at@*/
                    rate *= 3.0 / interval;
                    size *= 3.0 / interval;
                    given *= -(1.0 + bounce) * rate;
                    mask hard = (bounce >= 0.0) & (bounce <= 1.0) & (rate < -1e-7 * size) & (-bounce * rate > STILL * size) & (given < 1e300);
                    mask apart = NOT(closes) | (own > 10.0 * tolerance * larger(extent[a], size_of(own)));
                    plain &= (hit & hard) | (NOT(hit) & apart);
                    impulse = SEL(hit, given, impulse);
                    speed = SEL(hit, -rate, speed);
                    closed = SEL(hit, own, closed);
                    e = SEL(hit, bounce, e);
                    extent[a] = SEL(hit & plain, larger(extent[a], -0.25 * rate * s1), extent[a]);
                }
                mask hits = plain & closes;
                if (ANY(hits)) {
                    real off = ZERO;
                    UNROLL for (int a = 0; a < GAPS; a++) {
                        mask hit = hits & (which == (double)a);
/*@jump@*/
                    }
                    UNROLL for (int a = 0; a < GAPS; a++) {
                        real rate = ZERO, size = ZERO;
/*@after@*/
                        real residual = size_of(rate * (3.0 / interval) - e * speed) / (size * (3.0 / interval));
                        off = SEL(which == (double)a, residual, off);
                    }
                    S(R_LAW) = SEL(hits, larger(off, S(R_LAW)), S(R_LAW));
                    S(R_VIOLATION) = SEL(hits, larger(-closed, S(R_VIOLATION)), S(R_VIOLATION));
                    S(R_BOUNCED) = SEL(hits, which, S(R_BOUNCED));
                    S(R_RESTITUTION) = SEL(hits, e, S(R_RESTITUTION));
                }
                now = SEL(plain, SEL(closes, now + s1, end), now);
                moved |= plain;
                UNROLL for (int i = 0; i < 2 * D; i++) z[i] = SEL(plain, there[i], z[i]);
                UNROLL for (int a = 0; a < GAPS; a++) left[a] = (plain & closes & (which == (double)a)) | (NOT(plain) & left[a]);
                mask counts = hits & (now >= S(R_FROM));
                S(R_IMPACTS) = SEL(counts, S(R_IMPACTS) + 1.0, S(R_IMPACTS));
                if (flags & HITS) {
                    S(R_T) = SEL(hits, now, S(R_T));
                    note(log, s, counts, which, speed, impulse, &speed, 0);
                }
                mask ends = plain & NOT(closes);
                S(R_ARRIVED) = SEL(ends & ((end == S(R_STOP)) | (flags & TRACKS ? NOT(NONE) : NONE)), ALL(1.0), S(R_ARRIVED));
                flies &= hits;
                turns++;
                if (!ANY(flies)) break;
            }
            /* (A caller who wants to stop does not wait for long flights.) */
            made += turns / 8;
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
                S(R_WIDEST) = SEL(moved, larger(extent[a], S(R_WIDEST)), S(R_WIDEST));
            }
        }
