        mask fresh = go & (S(R_LINEAR) < 0.0);
        if (ANY(fresh)) prepare(s, fresh);
        mask still;
        made += glide(s, log, tolerance, flags, go, &still) / 8;
        go &= NOT(still) & (S(R_SIGNAL) == 0.0);
        if (!ANY(go)) {
            if (ANY(S(R_SIGNAL) != 0.0)) break;
            continue;
        }
        real saved[ROWS];
        int keeps = ANY(still);
        if (keeps) UNROLL for (int row = 0; row < ROWS; row++) saved[row] = S(row);
