
FUNCTION void note(double *log, real *s, mask m, real kind, real first, real second, const real *more, int length) {
    EACH(l, m) {
        int n = (int)AT(S(R_LOGGED), l);
        double *record = log + (l * SLOTS + n) * RECORD;
        record[0] = AT(kind, l);
        record[1] = AT(S(R_T), l);
        record[2] = AT(first, l);
        record[3] = AT(second, l);
        for (int i = 0; i < length; i++) record[4 + i] = AT(more[i], l);
        AT(S(R_LOGGED), l) = n + 1;
    }
}

/* The next instant at which a trajectory stops: of the stroboscope, or the end. */
FUNCTION real next_stop(real *s, mask *is_instant, real *instant) {
    *instant = S(R_FROM) + S(R_NEXT) * S(R_STROBE);
    *is_instant = (S(R_STROBE) > 0.0) & (*instant <= S(R_END) + 1e-9 * S(R_STROBE));
    *instant = smaller(*instant, S(R_END));
    mask before = *is_instant & (*instant < S(R_END) - 16.0 * EPSILON * size_of(S(R_END)));
    return SEL(before, *instant, S(R_END));
}

/* Holds no constraint any more. */
FUNCTION void let_go(real *s, mask m) {
    S(R_HELD) = SEL(m, ALL(-1.0), S(R_HELD));
    S(R_INVERSE) = SEL(m, ZERO, S(R_INVERSE));
    S(R_REACTION) = SEL(m, ZERO, S(R_REACTION));
    UNROLL for (int i = 0; i < D; i++) {
        S(R_SLOPE + i) = SEL(m, ZERO, S(R_SLOPE + i));
        S(R_PULL + i) = SEL(m, ZERO, S(R_PULL + i));
    }
}

/* Inertia, slopes and rates of the gaps and restitutions where the trajectories are; whether all of it is sound. */
FUNCTION mask evaluate_law(const real *s, real inertia[D * D], real slope[M][D], real rate[M], real restitution[M]) {
    real mt[1], mq[D][1], mv[D][1];
    mt[0] = S(R_T);
    UNROLL for (int i = 0; i < D; i++) {
        mq[i][0] = S(R_Q + i);
        mv[i][0] = S(R_V + i);
    }
/*@law@*/
    /* The Cholesky factor, in place. */
    mask sound = NOT(NONE);
    UNROLL for (int i = 0; i < D; i++)
        UNROLL for (int j = 0; j <= i; j++) {
            real sum = inertia[i * D + j];
            UNROLL for (int k = 0; k < j; k++) sum -= inertia[i * D + k] * inertia[j * D + k];
            if (i == j) {
                sound &= sum > 0.0;
                inertia[i * D + i] = f_sqrt(sum);
            } else {
                inertia[i * D + j] = sum / inertia[j * D + j];
            }
        }
    UNROLL for (int a = 0; a < M; a++) {
        sound &= size_of(rate[a]) < 1e300;
        UNROLL for (int i = 0; i < D; i++) sound &= size_of(slope[a][i]) < 1e300;
    }
    return sound;
}

/* The slope of the gap chosen in each trajectory, M^-1 times it, and its compliance. */
FUNCTION real choose(real which, const real inertia[D * D], const real slope[M][D], real chosen[D], real pull[D]) {
    UNROLL for (int i = 0; i < D; i++) {
        chosen[i] = slope[0][i];
        UNROLL for (int a = 1; a < M; a++) chosen[i] = SEL(which == (double)a, slope[a][i], chosen[i]);
        pull[i] = chosen[i];
    }
    real compliance = ZERO;
    UNROLL for (int i = 0; i < D; i++) {
        UNROLL for (int k = 0; k < i; k++) pull[i] -= inertia[i * D + k] * pull[k];
        pull[i] /= inertia[i * D + i];
        compliance += pull[i] * pull[i];
    }
    UNROLL for (int i = D - 1; i >= 0; i--) {
        UNROLL for (int k = i + 1; k < D; k++) pull[i] -= inertia[k * D + i] * pull[k];
        pull[i] /= inertia[i * D + i];
    }
    return compliance;
}

/* What is known of trajectories that were put somewhere. */
FUNCTION void begin(real *s) {
    mask placed = S(R_PLACED) > 0.0, is_new = S(R_PLACED) > 1.0;
    if (!ANY(placed)) return;
    let_go(s, placed);
    S(R_SMOOTH) = SEL(placed, ZERO, S(R_SMOOTH));
    S(R_IDLE) = SEL(placed, ZERO, S(R_IDLE));
    S(R_ARRIVED) = SEL(placed, ZERO, S(R_ARRIVED));
    S(R_BOUNCED) = SEL(placed, ALL(-1.0), S(R_BOUNCED));
    S(R_NEW) = SEL(placed, ALL(1.0), S(R_NEW));
    UNROLL for (int i = 0; i < D; i++) S(R_SCALE + i) = SEL(placed, ZERO, S(R_SCALE + i));
    UNROLL for (int a = 0; a < M; a++) {
        S(R_ZEROS + a) = SEL(placed, ZERO, S(R_ZEROS + a));
        S(R_GAP_SCALE + a) = SEL(placed, ZERO, S(R_GAP_SCALE + a));
        S(R_EXTENT + a) = SEL(is_new, ZERO, S(R_EXTENT + a));
    }
    /* (The constants of linear flight, if it is linear.) */
    for (int row = R_LINEAR; row < ROWS; row++) S(row) = SEL(is_new, ALL(-1.0), S(row));
    UNROLL for (int k = 0; k < EVENTS; k++) {
        S(R_OWN_SCALE + k) = SEL(placed, ZERO, S(R_OWN_SCALE + k));
        S(R_REACH + k) = SEL(is_new, ZERO, S(R_REACH + k));
    }
    if (EVENTS > 0) S(R_SPAN) = SEL(placed, ZERO, S(R_SPAN));
    S(R_PLACED) = ZERO;
}

/*@flight@*/
/*@tangent@*/
/* Advances all trajectories by up to `most` steps, until one of them signals. Returns the number of steps. */
EXPORT long long saltus_advance(real *s, double *log, double tolerance, long long most, int flags) {
    long long made = 0;
    begin(s);
    while (made < most) {
        made++;
#ifdef SALTUS_ONE
        /* (Who has but one calls this only while it is active, and what it signals ends the loop.) */
        mask go = EVERY;
#else
        mask go = (S(R_ACTIVE) > 0.0) & (S(R_SIGNAL) == 0.0);
#endif
        mask is_held = S(R_HELD) >= 0.0;
/*@glide@*/
        int holds = CAN_HOLD && ANY(go & is_held);
        real tt[N + 1], q[D][N + 1], v[D][N + 1], lambda[N + 1];
/*@declarations@*/
        lambda[N] = ZERO;
        tt[0] = S(R_T);
        tt[1] = ALL(1.0);
        UNROLL for (int i = 0; i < D; i++) {
            q[i][0] = S(R_Q + i);
            v[i][0] = S(R_V + i);
        }
/*@expand@*/

        /* The acceleration must be the one that the last step ended with. */
        real off = ZERO;
        UNROLL for (int i = 0; i < D; i++) {
            real d = (size_of(v[i][1] - S(R_PREDICTED + i)) - S(R_NOISE + i)) * S(R_LAST) * quick_inverse(larger(S(R_SCALE + i), ALL(1e-300)));
            off = SEL(d <= off, off, d);
        }
        off = SEL(go & (S(R_SMOOTH) > 0.0), off, ZERO);
        mask failed = go & NOT(off <= TRUST * tolerance);
        S(R_RESIDUAL) = SEL(failed, S(R_RESIDUAL), larger(off, S(R_RESIDUAL)));
        S(R_SIGNAL) = SEL(failed, ALL(OFF), S(R_SIGNAL));
        go &= NOT(failed);
        LEAVE_UNLESS(go)
/*@extents@*/
/*@jumps@*/
        LEAVE_UNLESS(go)
/*@straighten@*/

        /* Contact does not drift. */
        if (holds) {
            real gap = ZERO, rate = ZERO;
/*@held@*/
            UNROLL for (int i = 0; i < D; i++) {
                real pull = S(R_PULL + i) * S(R_INVERSE);
                q[i][0] -= gap * pull;
                v[i][0] -= rate * pull;
            }
        }

        /* States on the way, instants of the stroboscope, ends. */
        mask arrived = go & (S(R_ARRIVED) > 0.0);
        S(R_ARRIVED) = SEL(go, ZERO, S(R_ARRIVED));
        if (ANY(arrived)) {
            mask counts = arrived & (S(R_T) >= S(R_FROM));
            if (flags & TRACKS) {
                real speed = ZERO;
                UNROLL for (int i = 0; i < D; i++) {
                    S(R_LARGEST + i) = SEL(counts, larger(size_of(q[i][0]), S(R_LARGEST + i)), S(R_LARGEST + i));
                    S(R_LARGEST + D + i) = SEL(counts, larger(size_of(v[i][0]), S(R_LARGEST + D + i)), S(R_LARGEST + D + i));
                    if (i < DEGREES) speed = larger(speed, size_of(v[i][0]));
                }
                S(R_FASTEST) = SEL(counts, larger(speed, S(R_FASTEST)), S(R_FASTEST));
                mask moves = counts & NOT(speed <= QUIET * S(R_FASTEST));
                S(R_MOVED) = SEL(moves, S(R_T), S(R_MOVED));
                S(R_SEEN) = SEL(counts, S(R_T), S(R_SEEN));
            }
            mask is_instant;
            real instant;
            next_stop(s, &is_instant, &instant);
            mask strobes = counts & is_instant & (S(R_T) >= instant);
            S(R_NEXT) = SEL(strobes, S(R_NEXT) + 1.0, S(R_NEXT));
            if ((flags & STROBES) && ANY(strobes)) {
                real state[2 * D + K];
                UNROLL for (int i = 0; i < D; i++) {
                    state[i] = q[i][0];
                    state[D + i] = v[i][0];
                }
/*@logs@*/
                note(log, s, strobes, ALL(-1.0), S(R_IMPACTS), ZERO, state, 2 * D + K);
            }
            mask done = arrived & NOT(S(R_T) < S(R_END));
            S(R_SIGNAL) = SEL(done, ALL(DONE), S(R_SIGNAL));
            UNROLL for (int i = 0; i < D; i++) {
                S(R_Q + i) = SEL(done, q[i][0], S(R_Q + i));
                S(R_V + i) = SEL(done, v[i][0], S(R_V + i));
            }
            go &= NOT(done);
            S(R_STOP) = SEL(arrived, next_stop(s, &is_instant, &instant), S(R_STOP));
            LEAVE_UNLESS(go)
        }

        /* Trajectories that have just begun: the first step, from above; a start on a constraint is not decided here. */
        mask is_new = go & (S(R_NEW) > 0.0);
        if (ANY(is_new)) {
            real h = S(R_STOP) - S(R_T);
            mask open = is_new;
            for (int turn = 0; turn < 200 && ANY(open); turn++) {
                real fits = h;
                UNROLL for (int i = 0; i < D; i++) {
                    real scale = larger(larger(size_of(v[i][0]), size_of(v[i][1]) * h), size_of(v[i][2]) * h * h);
                    real over = 1.0 / (SHARE * tolerance * larger(scale, ALL(1e-290)));
                    fits = smaller(inverse_root(larger(size_of(v[i][N]) * over, ALL(1e-300)), N), fits);
                    fits = smaller(inverse_root(larger(size_of(v[i][N - 1]) * over * 0.125, ALL(1e-300)), N - 1), fits);
                }
                open &= fits < 0.9 * h;
                h = SEL(open, larger(fits, 0.01 * h), h);
            }
            real rough = h;
            /* (Linear flight is exact, and sines and cosines have no places where their last terms vanish.) */
#if !LINEAR
            /* The last terms may vanish by themselves: then those before tell more. */
            double steeper = pow(SHARE * tolerance, -1.0 / N);
            mask steep = is_new, moves = NONE, blind = NONE;
            for (int turn = 0; turn < 200 && ANY(steep); turn++) {
                steep = NONE;
                UNROLL for (int i = 0; i < D; i++) moves |= majorise(v[i], N, h, steeper, &steep);
/*@majorised@*/
                steep &= is_new;
                h = SEL(steep, 0.5 * h, h);
            }
            /* (Not so short that time does not resolve it.) */
            real resolved = 16.0 * EPSILON * size_of(S(R_T)) * (1e-2 / tolerance > 4.0 ? 1e-2 / tolerance : 4.0);
            /* (Sections are measured by the length of steps.) */
            h = smaller(larger(((flags & SECTIONS) ? 1.0 : CAREFUL) * SEL(is_new & (blind | NOT(moves)), BLIND * h, h), resolved), rough);
#endif
            S(R_PACE) = SEL(is_new, h * (1.0 / GROWTH), S(R_PACE));
            S(R_LAST) = SEL(is_new, h, S(R_LAST));
            S(R_NEW) = SEL(is_new, ZERO, S(R_NEW));
/*@starts@*/
            LEAVE_UNLESS(go)
        }

        /* Bounces that cannot be told from contact: the limit of those that follow. */
        mask waits = NONE, bounced = go & (S(R_BOUNCED) >= 0.0);
        if (ANY(bounced)) {
            real rate = ZERO, half = ZERO, third = ZERO, extent = ZERO, e = S(R_RESTITUTION);
/*@bounced@*/
            real press = -2.0 * half, left = 2.0 * rate / (press * SEL(e < 1.0, 1.0 - e, ALL(1.0)));
            mask closes = bounced & (press > 0.0) & NOT(0.5 * rate * rate > tolerance * extent * press)
                & NOT(-(2.0 * half + 6.0 * third * left) < 0.5 * press);
            if (ANY(closes)) {
                mask cannot = closes;
                if (CAN_HOLD) cannot &= is_held;
                S(R_SIGNAL) = SEL(cannot, ALL(HERE), S(R_SIGNAL));
                go &= NOT(cannot);
                closes &= NOT(cannot);
            }
            if (ANY(closes)) {
                real inertia[D * D], slope[M][D], rates[M], restitution[M], chosen[D], pull[D];
                evaluate_law(s, inertia, slope, rates, restitution);
                real compliance = choose(S(R_BOUNCED), inertia, slope, chosen, pull);
/*@settle@*/
                UNROLL for (int i = 0; i < D; i++) {
                    v[i][0] = SEL(closes, v[i][0] - rate * pull[i] / compliance, v[i][0]);
                    S(R_SLOPE + i) = SEL(closes, chosen[i], S(R_SLOPE + i));
                    S(R_PULL + i) = SEL(closes, pull[i], S(R_PULL + i));
                }
                S(R_INVERSE) = SEL(closes, 1.0 / compliance, S(R_INVERSE));
                S(R_HELD) = SEL(closes, S(R_BOUNCED), S(R_HELD));
                UNROLL for (int a = 0; a < M; a++) {
                    mask this_one = closes & (S(R_BOUNCED) == (double)a);
                    S(R_ZEROS + a) = SEL(this_one, ZERO, S(R_ZEROS + a));
                    S(R_EXTENT + a) = SEL(this_one, ZERO, S(R_EXTENT + a));
                }
                mask counts = closes & (e > 0.0) & (e < 1.0) & (S(R_T) >= S(R_FROM));
                S(R_ACCUMULATIONS) = SEL(counts, S(R_ACCUMULATIONS) + 1.0, S(R_ACCUMULATIONS));
                S(R_SMOOTH) = SEL(closes, ZERO, S(R_SMOOTH));
                waits = closes;
            }
            S(R_BOUNCED) = SEL(bounced, ALL(-1.0), S(R_BOUNCED));
/*@after@*/
            LEAVE_UNLESS(go)
        }
/*@perturbed@*/

        /* How long the step may be. */
        real worst[3], last = S(R_LAST);
        UNROLL for (int i = 0; i < D; i++) measure(v[i], N, &S(R_SCALE + i), last, SHARE * tolerance, i == 0, worst);
/*@measures@*/
/*@perturbed_measures@*/
        if (holds) measure(lambda, N - 1, &S(R_REACTION), last, SHARE * tolerance, 0, worst);
        real cap = SEL(go & NOT(waits), S(R_STOP) - S(R_T), ZERO), event = ZERO;
        mask known;
        real reach = longest_step(worst, &known), limit = LINEAR ? ALL(1e300) : GROWTH * S(R_PACE);
        mask doubtful = NOT(reach <= limit);
        real fits = SEL(reach > limit, limit, reach);
        S(R_PACE) = SEL(cap != 0.0, fits, S(R_PACE));
        real h = SEL(fits > cap, cap, fits);
        real shortest = EPSILON * size_of(S(R_T)) * (1e-2 / tolerance > 4.0 ? 1e-2 / tolerance : 4.0);
        mask steps = cap != 0.0;
        mask is_there = steps & (cap <= 16.0 * EPSILON * size_of(S(R_T)));
        mask lost = steps & NOT(is_there) & (NOT(known) | NOT((h > shortest) | (h == cap)));
        mask reaches = steps & NOT(is_there) & NOT(lost) & (h >= cap * (1.0 - 1e-12));
        h = SEL(steps & NOT(is_there) & NOT(lost), SEL(reaches, cap, h), ZERO);
        event = SEL(is_there | reaches, ALL(STOP), event);
        event = SEL(lost, ALL(UNCLEAR), event);
/*@crossings@*/
        /* What happens in a step for which its own series does not vouch, and later than the one before reached, is approached first: what is wrong
         * is seen there. */
        mask early = doubtful & (h > limit * (1.0 / GROWTH)) & ((event >= (double)HIT) | (event == (double)RELEASE)) & (0.5 * h > shortest);
        h = SEL(early, 0.5 * h, h);
        event = SEL(early, ZERO, event);
/*@sections@*/
/*@carry@*/

        /* To the end of the step. */
        S(R_BEFORE) = SEL(go, S(R_T), S(R_BEFORE));
        UNROLL for (int i = 0; i < D; i++) {
            S(R_BEFORE + 1 + i) = SEL(go, q[i][0], S(R_BEFORE + 1 + i));
            S(R_BEFORE + 1 + D + i) = SEL(go, v[i][0], S(R_BEFORE + 1 + D + i));
            real speed, gain;
            if (i < DEGREES) {
                /* (Where contact is put right, position and velocity are not quite those of one series.) */
                real place = inverse[N + 1] * v[i][N], half = ZERO;
                speed = ZERO;
                UNROLL for (int k = N; k >= 0; k--) {
                    half = half * h + speed;
                    speed = speed * h + place;
                    place = place * h + (k == 1 ? v[i][0] : q[i][k]);
                }
                gain = 2.0 * half;
                S(R_Q + i) = place;
            } else {
                speed = v[i][N];
                gain = ZERO;
                UNROLL for (int k = N - 1; k >= 0; k--) {
                    gain = gain * h + speed;
                    speed = speed * h + v[i][k];
                }
            }
            S(R_V + i) = speed;
            S(R_PREDICTED + i) = SEL(h > 0.0, gain, S(R_PREDICTED + i));
        }
        mask forward = h > 0.0;
        S(R_T) = SEL(event == (double)STOP, S(R_STOP), S(R_T) + h);
        S(R_LAST) = SEL(forward, h, S(R_LAST));
        S(R_SMOOTH) = SEL(forward, SEL((event == 0.0) | (event == (double)STOP), ALL(1.0), ZERO), S(R_SMOOTH));

        /* What happened. */
        mask acts = go & NOT(waits), hits = acts & (event >= (double)HIT), releases = acts & (event == (double)RELEASE);
        mask plain = acts & forward & NOT(hits | releases);
        UNROLL for (int a = 0; a < M; a++) S(R_ZEROS + a) = SEL(plain, ZERO, S(R_ZEROS + a));
        mask moved = h > 64.0 * EPSILON * size_of(S(R_T));
        S(R_IDLE) = SEL(acts, SEL(moved, ZERO, S(R_IDLE) + 1.0), S(R_IDLE));
        S(R_STEPS) = SEL(acts, S(R_STEPS) + 1.0, S(R_STEPS));
        mask window = acts & (S(R_STEPS) >= WINDOW);
        if (ANY(window)) {
            real pace = (S(R_T) - S(R_WINDOW)) * (1.0 / WINDOW);
            mask endless = window & NOT(S(R_END) - S(R_T) <= MANY * pace);
            S(R_SIGNAL) = SEL(endless, ALL(ENDLESS), S(R_SIGNAL));
            S(R_STEPS) = SEL(window, ZERO, S(R_STEPS));
            S(R_WINDOW) = SEL(window, S(R_T), S(R_WINDOW));
            acts &= NOT(endless);
            hits &= NOT(endless);
            releases &= NOT(endless);
        }
        mask stuck = acts & ((event == (double)UNCLEAR) | (S(R_IDLE) > PATIENCE));
        S(R_SIGNAL) = SEL(stuck, ALL(BACK), S(R_SIGNAL));
        acts &= NOT(stuck);
        hits &= NOT(stuck);
        releases &= NOT(stuck);
        mask arrives = acts & (event == (double)STOP);
        if (flags & TRACKS) arrives |= acts & (event == 0.0);
        S(R_ARRIVED) = SEL(arrives, ALL(1.0), S(R_ARRIVED));
/*@crossed@*/
        if (ANY(releases)) {
            UNROLL for (int a = 0; a < M; a++) {
                mask this_one = releases & (S(R_HELD) == (double)a);
                S(R_ZEROS + a) = SEL(this_one, ALL(3.0), S(R_ZEROS + a));
                S(R_EXTENT + a) = SEL(this_one, ZERO, S(R_EXTENT + a));
            }
            let_go(s, releases);
            S(R_SMOOTH) = SEL(releases, ZERO, S(R_SMOOTH));
        }
        if (ANY(hits)) {
            real which = event - (double)HIT, zeros = ZERO;
            UNROLL for (int a = 0; a < M; a++) zeros = SEL(which == (double)a, S(R_ZEROS + a), zeros);
            real inertia[D * D], slope[M][D], rates[M], restitution[M], chosen[D], pull[D];
            mask sound = evaluate_law(s, inertia, slope, rates, restitution);
            real compliance = choose(which, inertia, slope, chosen, pull);
            real rate = rates[0], e = restitution[0];
            UNROLL for (int a = 1; a < M; a++) {
                rate = SEL(which == (double)a, rates[a], rate);
                e = SEL(which == (double)a, restitution[a], e);
            }
            real wall = rate, size = size_of(rate);
            UNROLL for (int i = 0; i < D; i++) {
                rate += chosen[i] * S(R_V + i);
                size += size_of(chosen[i] * S(R_V + i));
            }
            mask near = NONE;
/*@near@*/
            mask cannot = hits & ((S(R_HELD) >= 0.0) | ((zeros > 1.0) & (S(R_IDLE) > 0.0)) | NOT(sound)
                | NOT(rate < -1e-7 * size) | NOT((e >= 0.0) & (e <= 1.0)) | near);
            S(R_SIGNAL) = SEL(cannot, ALL(BACK), S(R_SIGNAL));
            hits &= NOT(cannot);
/*@strike@*/
            real impulse = -(1.0 + e) * rate / compliance, after = wall;
            UNROLL for (int i = 0; i < D; i++) {
                real jumped = S(R_V + i) + impulse * pull[i];
                S(R_V + i) = SEL(hits, jumped, S(R_V + i));
                after += chosen[i] * jumped;
            }
            UNROLL for (int a = 0; a < M; a++) {
                mask this_one = hits & (which == (double)a);
                real fresh = SEL(this_one, SEL(size_of(after) <= STILL * size, ALL(2.0), ALL(1.0)), ZERO);
                S(R_ZEROS + a) = SEL(hits, fresh, S(R_ZEROS + a));
                S(R_EXTENT + a) = SEL(this_one, larger(0.25 * size_of(rate) * h, S(R_EXTENT + a)), S(R_EXTENT + a));
            }
            S(R_BOUNCED) = SEL(hits, which, S(R_BOUNCED));
            S(R_RESTITUTION) = SEL(hits, e, S(R_RESTITUTION));
            S(R_SMOOTH) = SEL(hits, ZERO, S(R_SMOOTH));
            S(R_LAW) = SEL(hits, larger(size_of(after + e * rate) / size, S(R_LAW)), S(R_LAW));
            mask counts = hits & (S(R_T) >= S(R_FROM));
            S(R_IMPACTS) = SEL(counts, S(R_IMPACTS) + 1.0, S(R_IMPACTS));
            if (flags & HITS) note(log, s, counts, which, -rate, impulse, &rate, 0);
        }
/*@return@*/
        mask full = go & (S(R_SIGNAL) == 0.0) & (S(R_LOGGED) >= LOG - ROOM);
        S(R_SIGNAL) = SEL(full, ALL(FULL), S(R_SIGNAL));
        if (ANY(S(R_SIGNAL) != 0.0)) break;
    }
    return made;
}
