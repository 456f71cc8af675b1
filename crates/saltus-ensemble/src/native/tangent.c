/* Perturbations of a trajectory, K columns of K numbers: those of the coordinates, then those of the velocities. At an event they are seen
 * at the perturbed instant of the event, which is R_SHIFT later; there a jump acts on them, and the shift is undone with the velocity and
 * the acceleration after the event. */

/* Less than this of what a column is made of is nothing; and what a contact has taken is this small. */
#define GONE 1e-13
#define TAKEN 1e-11

#define FRAME(c, e) S(R_FRAME + (c) * K + (e))

/* Undoes the shifts of an event, and makes the columns orthonormal: what they have grown by is kept. */
OUTLINE void straighten(real *s, mask m, const real v[D][N + 1]) {
    if (!ANY(m)) return;
    mask is_held = S(R_HELD) >= 0.0;
    UNROLL for (int c = 0; c < K; c++) {
        real x[K], whole = ZERO, length = ZERO, shift = SEL(m, S(R_SHIFT + c), ZERO);
        UNROLL for (int e = 0; e < K; e++) {
            real by = (e < DEGREES ? v[e < DEGREES ? e : 0][0] : v[e < DEGREES ? 0 : e - DEGREES][1]) * shift;
            x[e] = FRAME(c, e) - by;
            whole += FRAME(c, e) * FRAME(c, e) + by * by;
        }
        /* (Twice is enough.) */
        ROLLED for (int turn = 0; turn < 2; turn++)
            UNROLL for (int b = 0; b < c; b++) {
                real along = ZERO;
                UNROLL for (int e = 0; e < K; e++) along += x[e] * FRAME(b, e);
                UNROLL for (int e = 0; e < K; e++) x[e] -= along * FRAME(b, e);
            }
        UNROLL for (int e = 0; e < K; e++) length += x[e] * x[e];
        whole = SEL(is_held, (TAKEN * TAKEN) * (1.0 + whole), (GONE * GONE) * whole);
        /* (What is no number is not gone: nothing is known about it.) */
        mask left = NOT(length <= whole);
        length = f_sqrt(length);
        real over = SEL(left, 1.0 / length, ZERO);
        UNROLL for (int e = 0; e < K; e++) FRAME(c, e) = SEL(m, SEL(left, x[e] * over, ZERO), FRAME(c, e));
        S(R_SHIFT + c) = SEL(m, ZERO, S(R_SHIFT + c));
        real grown = SEL(m & left, S(R_STRETCH + c) * length, S(R_STRETCH + c));
        mask far = (grown > 1e150) | (grown < 1e-150);
        if (ANY(far)) {
            S(R_LOGS + c) = SEL(far, S(R_LOGS + c) + f_log(grown), S(R_LOGS + c));
            grown = SEL(far, ALL(1.0), grown);
        }
        S(R_STRETCH + c) = grown;
    }
}

/* An impact of one gap: M J = P n, n.J = -(1 + e) U, and the same equations perturbed. `first`: the first jump at this instant. */
OUTLINE void strike(real *s, mask m, real which, const real inertia[D * D], const real chosen[D], const real pull[D], real compliance,
                    real rate, real e, int first) {
    real bend[D][D + 1], wave[D + 1], turn[TURNS > 0 ? TURNS : 1][D + 1], mt[1], mq[D][1], mv[D][1];
    mt[0] = S(R_T);
    UNROLL for (int i = 0; i < D; i++) {
        mq[i][0] = S(R_Q + i);
        mv[i][0] = S(R_V + i);
    }
/*@second@*/
    real impulse = -(1.0 + e) * rate / compliance;
    ROLLED for (int c = 0; c < K; c++) {
        real x[D + 1], dv[D], dn[D], y[D], du = ZERO, aim = ZERO, shift = S(R_SHIFT + c);
        UNROLL for (int i = 0; i < D; i++) {
            x[i] = i < DEGREES ? FRAME(c, i < DEGREES ? i : 0) : ZERO;
            dv[i] = FRAME(c, DEGREES + i);
        }
        if (first) {
            shift = ZERO;
            UNROLL for (int i = 0; i < D; i++) shift -= chosen[i] * x[i];
            shift = shift / rate;
            UNROLL for (int i = 0; i < D; i++) {
                x[i] += mv[i][0] * shift;
                dv[i] += S(R_PREDICTED + i) * shift;
            }
        }
        x[D] = shift;
        UNROLL for (int i = 0; i < D; i++) {
            dn[i] = ZERO;
            UNROLL for (int j = 0; j <= D; j++) dn[i] += bend[i][j] * x[j];
            du += chosen[i] * dv[i] + dn[i] * mv[i][0];
            aim -= dn[i] * pull[i] * impulse;
            y[i] = impulse * dn[i];
        }
        UNROLL for (int j = 0; j <= D; j++) du += wave[j] * x[j];
        aim -= (1.0 + e) * du;
        if (TURNS > 0)
            UNROLL for (int i = 0; i < D; i++)
                UNROLL for (int k = 0; k < D; k++)
                    UNROLL for (int j = 0; j <= D; j++) y[i] -= turn[TURNS > 0 ? i * D + k : 0][j] * x[j] * impulse * pull[k];
        /* (The inertia is given by its Cholesky factor.) */
        UNROLL for (int i = 0; i < D; i++) {
            UNROLL for (int k = 0; k < i; k++) y[i] -= inertia[i * D + k] * y[k];
            y[i] /= inertia[i * D + i];
        }
        UNROLL for (int i = D - 1; i >= 0; i--) {
            UNROLL for (int k = i + 1; k < D; k++) y[i] -= inertia[k * D + i] * y[k];
            y[i] /= inertia[i * D + i];
        }
        UNROLL for (int i = 0; i < D; i++) aim -= chosen[i] * y[i];
        aim /= compliance;
        UNROLL for (int i = 0; i < D; i++) {
            if (i < DEGREES) FRAME(c, i < DEGREES ? i : 0) = SEL(m, x[i], FRAME(c, i < DEGREES ? i : 0));
            FRAME(c, DEGREES + i) = SEL(m, dv[i] + y[i] + aim * pull[i], FRAME(c, DEGREES + i));
        }
        S(R_SHIFT + c) = SEL(m, shift, S(R_SHIFT + c));
    }
}

