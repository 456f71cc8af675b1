        /* Linear flight: from grid point to grid point by its propagator, as long as no gap can close in between (see `lanes/glide`). */
        mask flies = go & NOT(is_held) & (S(R_NEW) == 0.0) & (S(R_ARRIVED) == 0.0) & (S(R_LINEAR) > 0.0);
        UNROLL for (int a = 0; a < M; a++) flies &= S(R_ZEROS + a) <= 1.0;
        /* Short flights are a step of the series, or two: where the last one was short, this one begins with such a step. */
        flies &= (S(R_SMOOTH) > 0.0) | (S(R_FLIGHT) > 6.0 * S(R_LINEAR));
        if (ANY(flies)) {
            real interval = S(R_LINEAR), now = S(R_T), end = SEL(now < S(R_FROM), smaller(S(R_STOP), S(R_FROM)), S(R_STOP));
            real z[SIZE], next[SIZE], gap[M], rise[M], then[M], fall[M], doubt[M], extent[M];
            mask left[M], open = flies, moved = NONE;
            UNROLL for (int i = 0; i < D; i++) {
                z[i] = S(R_Q + i);
                z[D + i] = S(R_V + i);
            }
            z[2 * D] = ALL(1.0);
            UNROLL for (int a = 0; a < M; a++) {
                left[a] = S(R_ZEROS + a) > 0.0;
                extent[a] = ZERO;
            }
/*@constants@*/
/*@begin@*/
            int turns = 0;
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
                moved |= open;
                now = SEL(open, now + interval, now);
                UNROLL for (int i = 0; i < SIZE; i++) z[i] = SEL(open, next[i], z[i]);
                UNROLL for (int a = 0; a < GAPS; a++) {
                    gap[a] = SEL(open, then[a], gap[a]);
                    rise[a] = SEL(open, fall[a], rise[a]);
                    left[a] &= NOT(open);
                    extent[a] = SEL(open, larger(extent[a], gap[a]), extent[a]);
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
            /* (A caller who wants to stop does not wait for long flights.) */
            made += turns / 8;
            /* (What flies on for an interval of the grid does not chatter.) */
            S(R_T) = SEL(moved, now, S(R_T));
            S(R_BOUNCED) = SEL(moved, ALL(-1.0), S(R_BOUNCED));
            S(R_SMOOTH) = SEL(moved, ZERO, S(R_SMOOTH));
            S(R_IDLE) = SEL(moved, ZERO, S(R_IDLE));
            UNROLL for (int i = 0; i < D; i++) {
                S(R_Q + i) = SEL(moved, z[i], S(R_Q + i));
                S(R_V + i) = SEL(moved, z[D + i], S(R_V + i));
            }
            UNROLL for (int a = 0; a < GAPS; a++) {
                S(R_ZEROS + a) = SEL(moved, ZERO, S(R_ZEROS + a));
                S(R_EXTENT + a) = larger(extent[a], S(R_EXTENT + a));
                S(R_WIDEST) = larger(extent[a], S(R_WIDEST));
            }
        }
