"""Numbers for the tests of round holes: a mass in a hole, with SciPy, contact by contact.

    python reference.py
"""
import numpy as np
from scipy.integrate import solve_ivp

M, K = 1.3, np.array([20.0, 35.0])
C = 0.01


def flight(t, s, force):
    return np.concatenate([s[2:], (-K * s[:2] + force(s)) / M])


def run(force, centre, end, bounce=None, v0=(0.9, 0.4)):
    gap = lambda t, s, *_: C - np.hypot(*(s[:2] - centre))
    gap.terminal = True
    s, t, inside = np.array([0.0, 0.0, *v0]), 0.0, True
    count = 0
    while t < end:
        gap.direction = -1 if inside or bounce is not None else 1
        law = (lambda s: np.zeros(2)) if inside or bounce is not None else force
        done = solve_ivp(flight, (t, end), s, "DOP853", args=(law,), events=gap, rtol=1e-13, atol=1e-16, max_step=1e-3)
        t, s = done.t[-1], done.y[:, -1]
        if done.status == 1:
            count += 1
            if bounce is not None:
                n = (s[:2] - centre) / np.hypot(*(s[:2] - centre))
                s[2:] -= (1 + bounce) * (n @ s[2:]) * n
            else:
                inside = not inside
    return s, count


def support(k, c, mu, centre, hertz=False):
    def force(s):
        x = s[:2] - centre
        r = np.hypot(*x)
        n = x / r
        t = np.array([-n[1], n[0]])
        depth, speed = r - C, n @ s[2:]
        depth = max(depth, 0.0)
        p = k * depth**1.5 * (1 + c * speed) if hertz else k * depth + c * speed
        p = max(p, 0.0) if depth > 0 else 0.0
        return -p * n - mu * p * np.sign(t @ s[2:]) * t
    return force


off = np.array([0.004, -0.003])
fast = (0.6, 0.8)
for name, args in {
    "spring": (support(4e4, 0, 0, np.zeros(2)), np.zeros(2), 0.3),
    "damped": (support(4e4, 60, 0, off), off, 0.3),
    # (Slips that do not end: what sticks would be stiff.)
    "rough": (support(4e4, 0, 0.05, off), off, 0.12, None, fast),
    "damped and rough": (support(4e4, 30, 0.05, off), off, 0.12, None, fast),
    "hertz": (support(5e5, 0.4, 0.05, off, True), off, 0.12, None, fast),
}.items():
    s, n = run(*args)
    print(name, [float(x) for x in s], n, flush=True)
for e in (1.0, 0.6):
    s, n = run(None, off, 0.12 if e == 1.0 else 0.05, e, fast)
    print("rigid", e, [float(x) for x in s], n)
