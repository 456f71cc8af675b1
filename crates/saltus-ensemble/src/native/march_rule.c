/* What a step of the scheme does (see `lanes/march/rule`), and where a trajectory starts. */

/* A row of (q, v, 1, cos, sin, ...) a time `ahead` later, where q and v are rows of z. */
FUNCTION void later(const Given *given, const double *row, const double q[D][SIZE], const double v[D][SIZE], double ahead, double *out) {
    for (int j = 0; j < SIZE; j++) {
        out[j] = 0.0;
        for (int i = 0; i < D; i++) out[j] += row[i] * q[i][j] + row[D + i] * v[i][j];
    }
    out[2 * D] += row[2 * D];
    for (int k = 0; k < HARMONICS; k++) {
        double cosine = cos(given->turn[k] * ahead), sine = sin(given->turn[k] * ahead);
        double c = row[2 * D + 1 + 2 * k], s = row[2 * D + 2 + 2 * k];
        out[2 * D + 1 + 2 * k] += c * cosine + s * sine;
        out[2 * D + 2 + 2 * k] += s * cosine - c * sine;
    }
}

/* x + f y. */
FUNCTION void combine(const double x[D][SIZE], double f, const double y[D][SIZE], double out[D][SIZE]) {
    for (int i = 0; i < D; i++)
        for (int j = 0; j < SIZE; j++) out[i][j] = x[i][j] + f * y[i][j];
}

/* Divides accelerations and slopes of gaps by the inertia; 0 if it is not positive definite. */
FUNCTION int divide(Given *given, double pull[M][D]) {
    double *m = given->mass, column[D];
    for (int i = 0; i < D; i++)
        for (int j = 0; j <= i; j++) {
            double sum = m[i * D + j];
            for (int k = 0; k < j; k++) sum -= m[i * D + k] * m[j * D + k];
            if (i == j && !(sum > 0.0)) return 0;
            m[i * D + j] = i == j ? sqrt(sum) : sum / m[j * D + j];
        }
    for (int c = 0; c < SIZE + GAPS; c++) {
        for (int i = 0; i < D; i++) column[i] = c < SIZE ? given->acceleration[i][c] : given->gaps[c - SIZE][i];
        for (int i = 0; i < D; i++) {
            for (int k = 0; k < i; k++) column[i] -= m[i * D + k] * column[k];
            column[i] /= m[i * D + i];
        }
        for (int i = D - 1; i >= 0; i--) {
            for (int k = i + 1; k < D; k++) column[i] -= m[k * D + i] * column[k];
            column[i] /= m[i * D + i];
        }
        for (int i = 0; i < D; i++)
            if (c < SIZE) given->acceleration[i][c] = column[i];
            else pull[c - SIZE][i] = column[i];
    }
    return 1;
}

/* Solves for all columns of rows and for vectors, all with the same matrix; 0 if it is singular. */
FUNCTION int solve(double a[D][D], double rows[D][SIZE], double vectors[M][D]) {
    for (int k = 0; k < D; k++) {
        int pivot = k;
        for (int i = k + 1; i < D; i++)
            if (plain_size(a[i][k]) > plain_size(a[pivot][k])) pivot = i;
        if (!(plain_size(a[pivot][k]) > 0.0)) return 0;
        for (int c = 0; pivot != k && c < D + SIZE + GAPS; c++) {
            double *p = c < D ? &a[k][c] : c < D + SIZE ? &rows[k][c - D] : &vectors[c - D - SIZE][k];
            double *r = c < D ? &a[pivot][c] : c < D + SIZE ? &rows[pivot][c - D] : &vectors[c - D - SIZE][pivot];
            double kept = *p;
            *p = *r;
            *r = kept;
        }
        for (int i = k + 1; i < D; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j < D; j++) a[i][j] -= factor * a[k][j];
            for (int j = 0; j < SIZE; j++) rows[i][j] -= factor * rows[k][j];
            for (int b = 0; b < GAPS; b++) vectors[b][i] -= factor * vectors[b][k];
        }
    }
    for (int i = D - 1; i >= 0; i--) {
        for (int k = i + 1; k < D; k++) {
            for (int j = 0; j < SIZE; j++) rows[i][j] -= a[i][k] * rows[k][j];
            for (int b = 0; b < GAPS; b++) vectors[b][i] -= a[i][k] * vectors[b][k];
        }
        for (int j = 0; j < SIZE; j++) rows[i][j] /= a[i][i];
        for (int b = 0; b < GAPS; b++) vectors[b][i] /= a[i][i];
    }
    return 1;
}

/* The spectral radius of the part of accelerations from a column on, about (see `lanes/linear`). */
FUNCTION double radius(const Given *given, int from) {
    double a[D][D], squared[D][D], log_size = 0.0, size = 0.0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) a[i][j] = given->acceleration[i][from + j];
    for (int k = 0; k < 6; k++) {
        size = 0.0;
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) size = most_of(plain_size(a[i][j]), size);
        if (!(size > 0.0)) return 0.0;
        if (k == 5) break;
        log_size = 2.0 * (log_size + log(size));
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) {
                squared[i][j] = 0.0;
                for (int l = 0; l < D; l++) squared[i][j] += a[i][l] / size * (a[l][j] / size);
            }
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++) a[i][j] = squared[i][j];
    }
    return exp((log_size + log(size)) / 32.0);
}

/* Whether a step resolves the motion (see `lanes/march/rule`). */
FUNCTION int resolves(const Given *given, double h) {
    double pace = most_of(sqrt(radius(given, 0)), radius(given, D));
    for (int k = 0; k < HARMONICS; k++) pace = most_of(plain_size(given->turn[k]), pace);
    return h * pace <= RESOLVED;
}

/* All constants of a step; 0 if it has no solution, or is coarse. */
OUTLINE int make_rule(double *x, Given *given) {
    double h = L(R_LAST), pull[M][D], pushed[M][D], q[D][SIZE], u[D][SIZE], none[D][SIZE], free_u[D][SIZE], force[D][SIZE], place[D][SIZE];
    double matrix[D][D], stiff = 0.0, damped, lead = 0.0, row[SIZE];
    if (!divide(given, pull) || !resolves(given, h)) return 0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < SIZE; j++) L(R_LOADS + i * SIZE + j) = given->acceleration[i][j];
    for (int i = 0; i < D; i++)
        for (int j = 0; j < SIZE; j++) {
            q[i][j] = j == i ? 1.0 : 0.0;
            u[i][j] = j == D + i ? 1.0 : 0.0;
            none[i][j] = 0.0;
        }
    if (KIND == MOREAU_JEAN) {
        double s = 0.5 * h;
        for (int i = 0; i < D; i++) later(given, given->acceleration[i], q, u, 0.0, force[i]);
        combine(u, s, force, free_u);
        combine(q, s, u, place);
        for (int i = 0; i < D; i++) later(given, given->acceleration[i], place, none, h, force[i]);
        combine(free_u, s, force, free_u);
        stiff = s * s;
        damped = lead = s;
    } else if (KIND == MABROUK) {
        combine(q, h, u, place);
        for (int i = 0; i < D; i++) later(given, given->acceleration[i], place, none, h, force[i]);
        combine(u, h, force, free_u);
        damped = lead = h;
    } else {
        combine(none, 1.0 / h, u, place);
        for (int i = 0; i < D; i++) later(given, given->acceleration[i], q, place, 0.0, force[i]);
        combine(none, h * h, force, free_u);
        damped = 0.5 * h;
    }
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++)
            matrix[i][j] = (i == j ? 1.0 : 0.0) - (stiff * given->acceleration[i][j] + damped * given->acceleration[i][D + j]);
    for (int a = 0; a < GAPS; a++)
        for (int i = 0; i < D; i++) pushed[a][i] = pull[a][i];
    if (!solve(matrix, free_u, pushed)) return 0;
    for (int i = 0; i < D; i++)
        for (int j = 0; j < SIZE; j++) {
            double next_q = KIND == MOREAU_JEAN ? q[i][j] + 0.5 * h * u[i][j] + 0.5 * h * free_u[i][j]
                : KIND == MABROUK ? q[i][j] + h * u[i][j] : q[i][j] + u[i][j] + free_u[i][j];
            L(R_AHEAD + i * SIZE + j) = next_q;
            L(R_AHEAD + (D + i) * SIZE + j) = POSITION_LEVEL ? u[i][j] + free_u[i][j] : free_u[i][j];
        }
    for (int a = 0; a < GAPS; a++) {
        double e = given->restitution[a], *gap = given->gaps[a], wall[SIZE], moves[SIZE];
        if (POSITION_LEVEL) {
            double share = 1.0 / (1.0 + e);
            for (int i = 0; i < D; i++)
                for (int j = 0; j < SIZE; j++) place[i][j] = share * L(R_AHEAD + i * SIZE + j) + share * e * (q[i][j] - u[i][j]);
            later(given, gap, place, none, h * (1.0 - e) / (1.0 + e), row);
            for (int j = 0; j < SIZE; j++) L(R_TRIGGER + a * SIZE + j) = L(R_SLACK + a * SIZE + j) = (1.0 + e) * row[j];
        } else {
            combine(q, lead, u, place);
            later(given, gap, place, none, lead, row);
            for (int j = 0; j < SIZE; j++) wall[j] = 0.0;
            for (int k = 0; k < HARMONICS; k++) {
                wall[2 * D + 1 + 2 * k] = given->turn[k] * gap[2 * D + 2 + 2 * k];
                wall[2 * D + 2 + 2 * k] = -given->turn[k] * gap[2 * D + 1 + 2 * k];
            }
            later(given, wall, none, none, lead, moves);
            for (int j = 0; j < SIZE; j++) {
                double law = 0.0;
                for (int i = 0; i < D; i++) law += gap[i] * (free_u[i][j] + e * u[i][j]);
                L(R_TRIGGER + a * SIZE + j) = row[j];
                L(R_SLACK + a * SIZE + j) = law + (1.0 + e) * moves[j];
            }
        }
        L(R_COMPLIANCE + a) = 0.0;
        for (int i = 0; i < D; i++) {
            L(R_PULLS + a * D + i) = pull[a][i];
            L(R_COMPLIANCE + a) += gap[i] * pull[a][i];
            L(R_PUSH + a * 2 * D + i) = (KIND == MOREAU_JEAN ? 0.5 * h : KIND == MABROUK ? 0.0 : 1.0) * pushed[a][i];
            L(R_PUSH + a * 2 * D + D + i) = pushed[a][i];
        }
        for (int b = 0; b < GAPS; b++) {
            double yields = 0.0;
            for (int i = 0; i < D; i++) yields += given->gaps[b][i] * pushed[a][i];
            L(R_YIELDS + b * GAPS + a) = yields;
        }
        if (!(L(R_YIELDS + a * GAPS + a) > 0.0)) return 0;
        for (int j = 0; j < SIZE; j++) L(R_GAPS + a * SIZE + j) = gap[j];
        L(R_BOUNCE + a) = e;
    }
    for (int k = 0; k < HARMONICS; k++) {
        L(R_PHASE + k) = given->phase[k];
        L(R_TURN + k) = given->turn[k];
        L(R_TURNED + 2 * k) = cos(given->turn[k] * h);
        L(R_TURNED + 2 * k + 1) = sin(given->turn[k] * h);
    }
    for (int k = R_AHEAD; k < R_NODE; k++)
        if (!(plain_size(L(k)) < 1e300)) return 0;
    return 1;
}

/* The first node; 0 if the trajectory is not one for this code. */
OUTLINE int start(double *x, Given *given, int flags) {
    double z[SIZE];
    for (int i = 0; i < D; i++)
        for (int j = 0; j < i; j++)
            if (given->acceleration[i][D + j] != given->acceleration[j][D + i]) return 0;
    for (int a = 0; a < GAPS; a++)
        if (!(given->restitution[a] >= 0.0 && given->restitution[a] <= 1.0)) return 0;
    for (int k = R_NODE; k < ROWS; k++) L(k) = 0.0;
    L(R_BEGUN) = L(R_T);
    if (!make_rule(x, given)) return 0;
    for (int i = 0; i < D; i++) {
        z[i] = L(R_Q + i);
        z[D + i] = L(R_V + i);
    }
    turn_to(x, L(R_T), z);
    for (int a = 0; a < GAPS; a++) {
        double size = 0.0;
        for (int j = 0; j < SIZE; j++) size += plain_size(L(R_GAPS + a * SIZE + j) * z[j]);
        if (!(product(x, R_GAPS + a * SIZE, z) > CLOSED * size)) return 0;
    }
    if (POSITION_LEVEL) {
        /* The first step, half the kick of later ones; what hits something in it is not plain. */
        double next[D];
        for (int i = 0; i < D; i++) z[D + i] *= L(R_LAST);
        for (int i = 0; i < D; i++) next[i] = product(x, R_AHEAD + (D + i) * SIZE, z);
        for (int i = 0; i < D; i++) {
            z[D + i] = 0.5 * (z[D + i] + next[i]);
            z[i] += z[D + i];
        }
        L(R_NODE) = 1.0;
        turn_to(x, node_time(x, 1.0), z);
        for (int a = 0; a < GAPS; a++)
            if (!(product(x, R_GAPS + a * SIZE, z) > 0.0)) return 0;
    }
    for (int j = 0; j < SIZE; j++) L(R_Z + j) = z[j];
    return aim(x, flags);
}
