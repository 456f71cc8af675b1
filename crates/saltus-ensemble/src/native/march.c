/* Trajectories by the steps of a scheme, where flight and gaps are linear (see `lanes/march`). A free step is a constant matrix, made for all
 * trajectories at once; where a constraint may act, and where a trajectory stops, it is looked at by itself.
 *
 * A trajectory is z = (q, u, 1, cos, sin, ...): u is the velocity, or the advance of a position-level scheme in a step. */

/* The numbers of one trajectory. */
#ifdef SALTUS_ONE
#define STRIDE 1
#else
#define STRIDE W
#endif
#define L(row) x[(row) * STRIDE]

/* A step and a stop leave no more records than these: impacts that are complete, and an instant. */
#define MANY_RECORDS 4.0

/* What a trajectory is computed from. */
typedef struct {
    double mass[D * D], acceleration[D][SIZE], gaps[M][SIZE], turn[HARMONICS + 1], phase[HARMONICS + 1], restitution[M];
} Given;

FUNCTION double plain_size(double a) { return a < 0.0 ? -a : a; }
FUNCTION double most_of(double a, double b) { return a > b ? a : b; }
FUNCTION double least_of(double a, double b) { return a < b ? a : b; }

FUNCTION double product(const double *x, int row, const double *z) {
    double sum = 0.0;
    UNROLL for (int j = 0; j < SIZE; j++) sum += L(row + j) * z[j];
    return sum;
}

FUNCTION double node_time(const double *x, double n) { return L(R_BEGUN) + n * L(R_LAST); }

/* Puts the harmonics at a time into z. */
FUNCTION void turn_to(const double *x, double t, double *z) {
    z[2 * D] = 1.0;
    for (int k = 0; k < HARMONICS; k++) {
        double angle = L(R_PHASE + k) + L(R_TURN + k) * t;
        z[2 * D + 1 + 2 * k] = cos(angle);
        z[2 * D + 2 + 2 * k] = sin(angle);
    }
}

/* What gap a has without its coordinates at a time, and its rate. */
FUNCTION void wall_at(const double *x, int a, double t, double *place, double *moves) {
    int row = R_GAPS + a * SIZE;
    *place = L(row + 2 * D);
    *moves = 0.0;
    for (int k = 0; MOVING && k < HARMONICS; k++) {
        double c = L(row + 2 * D + 1 + 2 * k), s = L(row + 2 * D + 2 + 2 * k), angle = L(R_PHASE + k) + L(R_TURN + k) * t;
        if (c == 0.0 && s == 0.0) continue;
        double cosine = cos(angle), sine = sin(angle);
        *place += c * cosine + s * sine;
        *moves += L(R_TURN + k) * (s * cosine - c * sine);
    }
}

FUNCTION void record(double *x, double *log, double kind, double t, double first, double second, const double *q, const double *v) {
    double *at = log + (int)L(R_LOGGED) * RECORD;
    at[0] = kind;
    at[1] = t;
    at[2] = first;
    at[3] = second;
    for (int i = 0; q && i < D; i++) {
        at[4 + i] = q[i];
        at[4 + D + i] = v[i];
    }
    L(R_LOGGED) += 1.0;
}

/*@landing@*/
/* The constraint that acts in the step from z, or -1, its multiplier, and whether any may; 0 if it is not plain. */
FUNCTION int react(const double *x, const double *z, int *which, double *multiplier, int *may) {
    double slack[M];
    int closed[M], count = 0;
    *which = -1;
    *multiplier = 0.0;
    *may = 0;
    for (int a = 0; a < GAPS; a++) {
        closed[a] = product(x, R_TRIGGER + a * SIZE, z) <= 0.0;
        slack[a] = product(x, R_SLACK + a * SIZE, z);
        *may |= closed[a];
        if (closed[a] && slack[a] < 0.0) {
            count++;
            *which = a;
        }
    }
    if (count == 0) return 1;
    int a = *which;
    *multiplier = -slack[a] / L(R_YIELDS + a * GAPS + a);
    int plain = count == 1 && *multiplier < 1e300;
    /* Of others that are closed, or where positions count all others, none must follow. */
    for (int b = 0; b < GAPS; b++)
        if (b != a && (POSITION_LEVEL || closed[b])) plain &= !(slack[b] + L(R_YIELDS + b * GAPS + a) * *multiplier < 0.0);
    return plain;
}

/* The step from z, with what a constraint does. */
FUNCTION void make_step(const double *x, const double *z, int a, double multiplier, double *now) {
    UNROLL for (int i = 0; i < 2 * D; i++) {
        now[i] = product(x, R_AHEAD + i * SIZE, z);
        if (a >= 0) now[i] += multiplier * L(R_PUSH + a * 2 * D + i);
    }
    now[2 * D] = 1.0;
    UNROLL for (int k = 0; k < HARMONICS; k++) {
        double cosine = L(R_TURNED + 2 * k), sine = L(R_TURNED + 2 * k + 1), c = z[2 * D + 1 + 2 * k], s = z[2 * D + 2 + 2 * k];
        now[2 * D + 1 + 2 * k] = c * cosine - s * sine;
        now[2 * D + 2 + 2 * k] = s * cosine + c * sine;
    }
}

FUNCTION void see_gaps(double *x, const double *z) {
    for (int a = 0; a < GAPS; a++) L(R_VIOLATION) = most_of(-product(x, R_GAPS + a * SIZE, z), L(R_VIOLATION));
}

/* Instant `number` of the stroboscope, if there is one. */
FUNCTION int next_instant(const double *x, double *instant) {
    *instant = L(R_FROM) + L(R_NEXT) * L(R_STROBE);
    int is_one = L(R_STROBE) > 0.0 && *instant <= L(R_END) + 1e-9 * L(R_STROBE);
    *instant = least_of(*instant, L(R_END));
    return is_one;
}

/* The next stop; 0 if it is at no node. */
FUNCTION int aim(double *x, int flags) {
    double h = L(R_LAST), instant, stop = L(R_END);
    if ((flags & STROBES) && next_instant(x, &instant) && instant < L(R_END) - 16.0 * EPSILON * plain_size(L(R_END))) stop = instant;
    /* (A stop is where it is said to be; its node may be before it by rounding.) */
    double t = L(R_NODE) == L(R_TARGET) ? L(R_STOP) : node_time(x, L(R_NODE));
    double steps = floor((stop - L(R_BEGUN)) / h + 0.5);
    int near = plain_size(node_time(x, steps) - stop) <= NEAR * h;
    L(R_TARGET) = steps;
    L(R_STOP) = stop;
    if (flags & TRACKS) {
        /* What is kept begins at a node, and whether anything moves is asked at some nodes of its own. */
        double from = most_of(ceil((L(R_FROM) - L(R_BEGUN)) / h - NEAR), 0.0);
        int begins = t < L(R_FROM) && L(R_NODE) < from;
        double on_the_way = begins ? from : L(R_NODE) + ceil(L(R_STEPS) / INTERVALS);
        if (on_the_way < steps) {
            L(R_TARGET) = on_the_way;
            L(R_STOP) = begins ? most_of(node_time(x, from), L(R_FROM)) : node_time(x, on_the_way);
        }
    }
    return near && L(R_TARGET) > L(R_NODE) && L(R_TARGET) <= L(R_STEPS);
}

/* What a trajectory has reached at the last node. 0 if the last impact is not plain. */
FUNCTION int finish(double *x, double *log, int flags, const double *q, const double *v) {
    if (L(R_OPEN) > 0.0 && L(R_ENDED) >= L(R_FINAL) && !land(x, log, flags, 0.0)) return 0;
    double unit = POSITION_LEVEL ? L(R_LAST) : 1.0, speed = L(R_WIDEST);
    for (int i = 0; i < D; i++) {
        L(R_Q + i) = q[i];
        L(R_V + i) = v[i];
        speed = most_of(L(R_BIG + D + i) / unit, speed);
    }
    L(R_LAW) = L(R_LAW) == 0.0 ? 0.0 : L(R_LAW) / L(R_HARDEST);
    /* Walls may be faster than what they meet. */
    for (int a = 0; a < GAPS; a++) {
        double wall = 0.0, own = 0.0;
        for (int j = 2 * D + 1; j < SIZE; j++)
            wall += plain_size(L(R_GAPS + a * SIZE + j) * L(R_TURN + (j - 2 * D - 1) / 2));
        for (int i = 0; i < D; i++) own += plain_size(L(R_GAPS + a * SIZE + i)) * L(R_BIG + D + i) / unit;
        if (wall > 0.0) speed = most_of(wall + own, speed);
    }
    L(R_WIDEST) = speed;
    L(R_SIGNAL) = DONE;
    return 1;
}

/* A trajectory is at a stop, or at the end. 0 if it is not plain. */
FUNCTION int arrive(double *x, double *log, int flags, const double *before, double *now) {
    double h = L(R_LAST), t = L(R_STOP);
    int is_last = L(R_NODE) == L(R_STEPS);
    for (int i = 0; i < 2 * D; i++)
        if (!(plain_size(now[i]) <= HUGE_SIZE)) return 0;
    /* The equation of the scheme in the last step, if nothing acted in it, from the accelerations of the model, with harmonics computed anew. */
    if (!(L(R_ACTED) > 0.0)) {
        double first[SIZE], second[SIZE], scale = 0.0, off = 0.0;
        for (int j = 0; j < SIZE; j++) {
            first[j] = before[j];
            second[j] = now[j];
        }
        turn_to(x, node_time(x, L(R_NODE) - 1.0), first);
        turn_to(x, node_time(x, L(R_NODE)), second);
        /* Where a position-level scheme takes its forces: at the node between, with the centred velocity. */
        for (int i = D; POSITION_LEVEL && i < 2 * D; i++) first[i] = 0.5 * (before[i] + now[i]) / h;
        for (int i = 0; i < D; i++) {
            int load = R_LOADS + i * SIZE;
            double kick = KIND == MOREAU_JEAN ? 0.5 * h * (product(x, load, first) + product(x, load, second))
                : KIND == MABROUK ? h * product(x, load, second) : h * h * product(x, load, first);
            double own = plain_size(now[D + i] - before[D + i] - kick);
            scale = most_of(most_of(plain_size(now[D + i]), L(R_BIG + D + i)), scale);
            off = own <= off ? off : own;
        }
        off /= most_of(scale, 1e-300);
        L(R_RESIDUAL) = off <= L(R_RESIDUAL) ? L(R_RESIDUAL) : off;
    }
    L(R_ACTED) = 0.0;
    turn_to(x, node_time(x, L(R_NODE)), now);
    see_gaps(x, now);
    double largest[2 * D], q[D], v[D], last[D];
    for (int i = 0; i < 2 * D; i++) {
        largest[i] = most_of(plain_size(now[i]), L(R_MOST + i));
        L(R_MOST + i) = 0.0;
        L(R_BIG + i) = most_of(largest[i], L(R_BIG + i));
    }
    for (int i = 0; i < D; i++) {
        q[i] = now[i];
        v[i] = last[i] = now[D + i];
    }
    if (POSITION_LEVEL) {
        /* The velocity needs the step beyond. */
        double beyond[SIZE], place[D], left[D], acceleration[D], multiplier;
        int a, may;
        if (!react(x, now, &a, &multiplier, &may)) return 0;
        make_step(x, now, a, multiplier, beyond);
        double impulse = multiplier / h;
        complete(x, now, beyond, a, impulse, place, left, last, acceleration);
        int lasts = L(R_IMPULSE) > 0.0 && !(L(R_OPEN) > 0.0) && a >= 0 && (double)a == L(R_WHICH) && !is_fresh(x, impulse);
        for (int i = 0; i < D; i++) {
            largest[D + i] /= h;
            v[i] = lasts ? 0.5 * (last[i] + left[i]) : last[i];
        }
        if (is_last && (L(R_OPEN) > 0.0 || L(R_IMPULSE) > 0.0)) {
            L(R_NODE) += 1.0;
            int plain = note_node(x, log, flags, now, beyond, a, impulse);
            L(R_NODE) -= 1.0;
            if (!plain) return 0;
        }
    }
    if (t >= L(R_FROM)) {
        /* (Of what came before it was kept, nothing counts.) */
        for (int i = 0; L(R_T) < L(R_FROM) && i < D; i++) {
            largest[i] = plain_size(q[i]);
            largest[D + i] = plain_size(v[i]);
        }
        if (flags & TRACKS) {
            double widest = 0.0, speed = 0.0, ever = 0.0;
            for (int i = 0; i < D; i++) {
                ever = most_of(L(R_BIG + D + i) / (POSITION_LEVEL ? h : 1.0), ever);
                L(R_LARGEST + i) = most_of(largest[i], L(R_LARGEST + i));
                L(R_LARGEST + D + i) = most_of(most_of(largest[D + i], plain_size(v[i])), L(R_LARGEST + D + i));
                widest = most_of(largest[D + i], widest);
                speed = most_of(plain_size(v[i]), speed);
            }
            L(R_FASTEST) = most_of(widest, L(R_FASTEST));
            int moves = !(widest <= most_of(QUIET * L(R_FASTEST), ROUNDED * ever));
            L(R_FASTEST) = most_of(speed, L(R_FASTEST));
            moves |= !(speed <= most_of(QUIET * L(R_FASTEST), ROUNDED * ever));
            if (moves) L(R_MOVED) = t;
            L(R_SEEN) = t;
        }
        double instant;
        if (next_instant(x, &instant) && t >= instant) {
            L(R_NEXT) += 1.0;
            if (flags & STROBES) record(x, log, -1.0, t, L(R_IMPACTS), 0.0, q, v);
        }
    }
    L(R_T) = t;
    return is_last ? finish(x, log, flags, q, last) : aim(x, flags);
}

/* One trajectory by itself: a step, more of them as long as there is contact or may be, and what it reaches. Returns the number of steps. */
OUTLINE int attend(double *x, double *log, int flags) {
    double z[SIZE], now[SIZE], first = L(R_NODE);
    z[2 * D] = 1.0;
    UNROLL for (int j = 0; j < SIZE; j++)
        if (j != 2 * D) z[j] = L(R_Z + j);
    see_gaps(x, z);
    int plain = 1, goes_on = 1;
    for (int turn = 0; turn < PATIENT && goes_on && plain; turn++) {
        int watched = L(R_OPEN) > 0.0 || L(R_IMPULSE) > 0.0, a, may;
        double multiplier;
        plain = react(x, z, &a, &multiplier, &may);
        /* (Up to where nothing may act: who comes back at once makes others wait.) */
        if (turn > 0 && !watched && !may) break;
        make_step(x, z, a, multiplier, now);
        L(R_NODE) += 1.0;
        L(R_ACTED) = a >= 0 ? 1.0 : 0.0;
        UNROLL for (int i = 0; i < 2 * D; i++) {
            if (flags & TRACKS) L(R_MOST + i) = most_of(plain_size(z[i]), L(R_MOST + i));
            if (a >= 0 || watched) L(R_BIG + i) = most_of(plain_size(z[i]), L(R_BIG + i));
        }
        if (plain && (a >= 0 || watched))
            plain = note_node(x, log, flags, z, now, a, POSITION_LEVEL ? multiplier / L(R_LAST) : multiplier);
        see_gaps(x, now);
        if (plain && L(R_NODE) == L(R_TARGET)) {
            plain = arrive(x, log, flags, z, now);
            goes_on = 0;
        }
        goes_on &= L(R_LOGGED) < LOG - MANY_RECORDS;
        UNROLL for (int j = 0; j < SIZE; j++) z[j] = now[j];
    }
    UNROLL for (int j = 0; j < SIZE; j++) L(R_Z + j) = z[j];
    if (!plain) L(R_SIGNAL) = START;
    if (L(R_SIGNAL) == 0.0 && L(R_LOGGED) >= LOG - MANY_RECORDS) L(R_SIGNAL) = FULL;
    return (int)(L(R_NODE) - first);
}

/*@rule@*/
/* Trajectories that are new. */
OUTLINE void prepare(real *s, mask fresh, int flags) {
    real mass[D * D], acceleration[D][SIZE], gaps[M][SIZE], turn[HARMONICS + 1], phase[HARMONICS + 1], restitution[M];
/*@coefficients@*/
    EACH(l, fresh) {
        Given given;
        for (int k = 0; k < D * D; k++) given.mass[k] = AT(mass[k], l);
        for (int j = 0; j < SIZE; j++) {
            for (int i = 0; i < D; i++) given.acceleration[i][j] = AT(acceleration[i][j], l);
            for (int a = 0; a < GAPS; a++) given.gaps[a][j] = AT(gaps[a][j], l);
        }
        for (int k = 0; k < HARMONICS; k++) {
            given.turn[k] = AT(turn[k], l);
            given.phase[k] = AT(phase[k], l);
        }
        for (int a = 0; a < GAPS; a++) given.restitution[a] = AT(restitution[a], l);
        double *x = (double *)s + l;
        L(R_PLACED) = 0.0;
        if (!start(x, &given, flags)) L(R_SIGNAL) = START;
    }
}

/* Free steps, up to where a constraint may act in one of the trajectories. To ask whether it may takes as long as a step of all: a processor asks
 * after some of them, and where the answer is yes it goes back and asks after each. (They are the same instructions: no number depends on
 * how often anyone asks.) */
#ifdef SALTUS_ONE
#define WALK(look, step) \
    FOURFOLD for (; done < left; done++) { \
        real lowest; \
        look \
        fired = go & (lowest <= 0.0); \
        if (ANY(fired)) break; \
        step \
    }
#else
#define WALK(look, step) \
    for (int block = BLOCK; done < left;) { \
        KEEP \
        int count = left - done < block ? left - done : block; \
        real ahead = ALL(1.0); \
        for (int k = 0; k < count; k++) { \
            real lowest; \
            look \
            ahead = smaller(lowest, ahead); \
            step \
        } \
        fired = go & (ahead <= 0.0); \
        if (!ANY(fired)) { \
            done += count; \
            continue; \
        } \
        GO_BACK \
        if (count == 1) break; \
        block = 1; \
    }
#endif

/* Advances all trajectories, until one of them signals or `most` times something has happened. Returns the number of steps. */
EXPORT long long saltus_advance(real *s, double *log, double tolerance, long long most, int flags) {
    mask fresh = (S(R_ACTIVE) > 0.0) & (S(R_PLACED) > 0.0);
    if (ANY(fresh)) prepare(s, fresh, flags);
    long long made = 0;
/*@constants@*/
    for (long long turn = 0; turn < most; turn++) {
        mask go = (S(R_ACTIVE) > 0.0) & (S(R_SIGNAL) == 0.0);
        if (!ANY(go) || ANY(S(R_SIGNAL) != 0.0)) break;
        int left = FAR, done = 0;
        EACH(l, go) {
            const double *x = (const double *)s + l;
            double ahead = L(R_OPEN) > 0.0 || L(R_IMPULSE) > 0.0 ? 0.0 : L(R_TARGET) - L(R_NODE) - 1.0;
            left = ahead < (double)left ? (int)ahead : left;
        }
        mask fired = NONE;
/*@load@*/
        /* Free steps of all. */
        if (flags & TRACKS) {
            WALK({
/*@look@*/
            }, {
/*@track@*/
/*@step@*/
            })
        } else {
            WALK({
/*@look@*/
            }, {
/*@step@*/
            })
        }
/*@store@*/
        S(R_NODE) = SEL(go, S(R_NODE) + (double)done, S(R_NODE));
        mask due = go & (fired | (S(R_OPEN) > 0.0) | (S(R_IMPULSE) > 0.0) | (S(R_TARGET) - S(R_NODE) <= 1.0));
        /* (In contact a step is as much as a turn.) */
        int longest = 1;
        EACH(l, due) {
            int own = attend((double *)s + l, log + l * (LOG * RECORD), flags);
            longest = own > longest ? own : longest;
        }
        made += done + longest;
        turn += done / FEW + longest - 1;
    }
    return made;
}
