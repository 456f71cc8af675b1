/* Impacts of one constraint that acts alone, from the nodes of a scheme (see `lanes/march/landing`). */

/* The impact of the window, if it is one (see `lanes/march/landing`); `next`: the impulse of the step that follows. 0 if a second
 * constraint takes part. */
OUTLINE int land(double *x, double *log, int flags, double next) {
    int a = (int)L(R_WHICH);
    double h = L(R_LAST), compliance = L(R_COMPLIANCE + a), e = L(R_BOUNCE + a), lasted = L(R_LASTED);
    double steps = L(R_ENDED) - L(R_FIRST) + 1.0, usual = steps * lasted, impulse = L(R_SUM) - usual;
    if (!(impulse > 0.5 * usual)) return 1;
    double after_it = lasted > 0.0 ? next * compliance : 0.0;
    double v_left = LEFT * lasted * compliance, acceleration = lasted * compliance / h;
    double v_right = -RIGHT * after_it, end_acceleration = after_it / h;
    double delay = (IMPACT_INSTANT(e) + 0.5 * most_of(steps - CONTACT_STEPS, 0.0)) * h;
    double place, moves, value = 0.0, at_law[D], incoming[D], size, rounding = 0.0;
    wall_at(x, a, L(R_WHEN), &place, &moves);
    size = plain_size(moves);
    for (int i = 0; i < D; i++) {
        double w = L(R_GAPS + a * SIZE + i), reaction = L(R_PULLS + a * D + i) * lasted;
        incoming[i] = L(R_WINDOW_V + i) + LEFT * reaction;
        at_law[i] = incoming[i] + delay * (L(R_WINDOW_A + i) + reaction / h);
        value += w * L(R_WINDOW_Q + i);
        v_left += w * L(R_WINDOW_V + i);
        acceleration += w * L(R_WINDOW_A + i);
        v_right += w * L(R_AFTER_V + i);
        end_acceleration += w * L(R_AFTER_A + i);
        size += plain_size(w * at_law[i]);
        rounding += plain_size(w * L(R_WINDOW_Q + i));
    }
    double rate = moves + v_left, before = v_left + delay * acceleration;
    double behind = v_right - ((steps - 1.0) * h - delay) * end_acceleration;
    rounding = STILL_PART * size + 16.0 * EPSILON / h * rounding;
    if (moves + before > -(SLOW * h * most_of(-acceleration, 0.0) + rounding)) return 1;
    double latest = most_of(delay, (steps - 1.0) * h) + h, meeting = delay;
    if (rate < 0.0) meeting = least_of(most_of(-(value + place) / rate, -2.0 * h), latest);
    double t = L(R_WHEN) + meeting;
    for (int b = 0; b < GAPS; b++) {
        if (b == a) continue;
        double there, closing;
        wall_at(x, b, t, &there, &closing);
        for (int i = 0; i < D; i++) {
            double w = L(R_GAPS + b * SIZE + i);
            there += w * (L(R_WINDOW_Q + i) + meeting * incoming[i]);
            closing += w * at_law[i];
        }
        if (closing < 0.0 && there <= -0.5 * h * closing) return 0;
    }
    wall_at(x, a, t, &place, &moves);
    double root = sqrt(compliance), speed = most_of(plain_size(moves + before), plain_size(moves + behind)) / root;
    double lawful = most_of(-(1.0 + e) * (moves + before) / compliance, 0.0);
    double off = behind - (before + lawful * compliance), deviation = plain_size(off) / root;
    double there = before + (meeting - delay) * acceleration;
    impulse = most_of(impulse + most_of(-(1.0 + e) * (moves + there) / compliance, 0.0) - lawful, 0.0);
    L(R_HARDEST) = most_of(speed, L(R_HARDEST));
    L(R_WIDEST) = most_of(-moves - there, L(R_WIDEST));
    /* (What is not a number is the worst there is.) */
    L(R_LAW) = deviation <= L(R_LAW) ? L(R_LAW) : deviation;
    if (t >= L(R_FROM)) {
        L(R_IMPACTS) += 1.0;
        if (flags & HITS) record(x, log, (double)a, t, -moves - there, impulse, 0, 0);
    }
    return 1;
}

/* An impulse out of nothing, or far above that of a lasting contact. */
FUNCTION int is_fresh(const double *x, double impulse) {
    return impulse > SUDDEN * L(R_IMPULSE) && !(L(R_OPEN) > 0.0 && L(R_IMPULSE) > 0.0);
}

/* The node that the step from `before` to `now` completes, at which a constraint acts with an impulse, or none (-1). */
FUNCTION void complete(const double *x, const double *before, const double *now, int a, double impulse, double *q, double *v_left,
                       double *v_right, double *acceleration) {
    double h = L(R_LAST);
    for (int i = 0; i < D; i++) {
        double jump = a < 0 ? 0.0 : L(R_PULLS + a * D + i) * impulse, u = before[D + i], next = now[D + i];
        if (POSITION_LEVEL) {
            double gain = (next - u) / h - jump;
            q[i] = before[i];
            v_left[i] = u / h + 0.5 * gain;
            v_right[i] = v_left[i] + jump;
            acceleration[i] = gain / h;
        } else {
            q[i] = now[i];
            v_left[i] = next - jump;
            v_right[i] = next;
            acceleration[i] = (v_left[i] - u) / h;
        }
    }
}

/* Takes in a node. 0 if a second constraint takes part in the contact. */
OUTLINE int note_node(double *x, double *log, int flags, const double *before, const double *now, int a, double impulse) {
    double h = L(R_LAST), index = L(R_NODE) - (POSITION_LEVEL ? 1.0 : 0.0);
    double q[D], v_left[D], v_right[D], acceleration[D];
    if (!(L(R_OPEN) > 0.0) && !(L(R_IMPULSE) > 0.0)) {
        if (a < 0) return 1;
        L(R_WHICH) = (double)a;
        L(R_COUNT) = 0.0;
    }
    int own = (int)L(R_WHICH);
    if (a >= 0 && a != own) return 0;
    complete(x, before, now, a, impulse, q, v_left, v_right, acceleration);
    int fresh = is_fresh(x, impulse);
    if (L(R_OPEN) > 0.0) {
        int over = index >= L(R_FIRST) + LONGEST * CONTACT_STEPS;
        if (!over && index > L(R_FINAL) && !fresh) {
            /* An impulse that no force explains still belongs to it: two impacts within a step of each other echo. */
            double pressed = 0.0;
            for (int i = 0; i < D; i++) pressed -= L(R_GAPS + own * SIZE + i) * acceleration[i];
            double weight = h * most_of(pressed, 0.0) / L(R_COMPLIANCE + own);
            int echoes = impulse > 2.0 * weight + 1e-3 * L(R_SUM) && L(R_LASTED) == 0.0;
            if (echoes) L(R_FINAL) = index;
            over = !echoes;
        }
        if (over) {
            if (!land(x, log, flags, impulse)) return 0;
            L(R_OPEN) = 0.0;
        }
    }
    if (fresh) {
        if (!(L(R_OPEN) > 0.0)) {
            L(R_OPEN) = 1.0;
            L(R_FIRST) = index;
            L(R_WHEN) = node_time(x, index);
            L(R_SUM) = 0.0;
            /* What went on before is a lasting contact only if it is longer than an impact. */
            L(R_LASTED) = L(R_COUNT) > CONTACT_STEPS + 1.0 ? L(R_IMPULSE) : 0.0;
            for (int i = 0; i < D; i++) {
                L(R_WINDOW_V + i) = v_left[i];
                L(R_WINDOW_A + i) = acceleration[i];
                L(R_WINDOW_Q + i) = q[i] - CARRIED * h * (v_right[i] - v_left[i]);
            }
        }
        L(R_FINAL) = index + CONTACT_STEPS - 1.0;
    }
    if (L(R_OPEN) > 0.0) {
        L(R_SUM) += impulse;
        L(R_ENDED) = index;
        for (int i = 0; i < D; i++) {
            L(R_AFTER_V + i) = v_right[i];
            L(R_AFTER_A + i) = acceleration[i];
        }
    }
    L(R_COUNT) = impulse > 0.0 ? L(R_COUNT) + 1.0 : 0.0;
    L(R_IMPULSE) = impulse;
    return 1;
}

