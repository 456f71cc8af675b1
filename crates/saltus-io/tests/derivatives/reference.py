"""Derivatives of ten random motions with impacts and contact, by finite differences in 50-digit arithmetic.

Made with: python reference.py > reference.json   (the standard library only; some minutes)

A motion here shares nothing with Saltus: extrapolated midpoint steps (Gragg, Bulirsch, Stoer), events by bisection and
secants on the length of the last step, impacts by the law for one contact, contact by its one multiplier. Differences are
central with steps of 1e-12, and motions are good to 1e-30, so the derivatives are good to 1e-16.
"""
import json, random, sys
from decimal import Decimal as mpf, getcontext

getcontext().prec = 50


def sin_cos(x, known={}):
    """Sine and cosine by their series (the last ones are remembered: many are asked for at one instant)."""
    if x in known:
        return known[x]
    term, sums, n = mpf(1), [mpf(0), mpf(0)], 0
    while abs(term) > mpf(10) ** -56 or n < abs(x):
        sums[n % 2] += term if n % 4 < 2 else -term
        n += 1
        term *= x / n
    if len(known) > 5000:
        known.clear()
    known[x] = (sums[1], sums[0])
    return known[x]


def sin(x):
    return sin_cos(mpf(x))[0]


def cos(x):
    return sin_cos(mpf(x))[1]


STEP, COLUMNS = mpf(1) / 8, 10
SMALL = mpf(10) ** -34


class Model:
    """m(1 + b x²) x'' for each coordinate, springs, dampers, cubic terms, couplings, a load; gaps are affine, with one
    square and a wall that moves. `p` are the parameters by which derivatives are taken: k, e, a."""

    def __init__(self, d, seed, **change):
        r = random.Random(seed)
        u = lambda lo, hi: round(r.uniform(lo, hi), 3)
        self.d = d
        self.m = [u(0.6, 1.8) for _ in range(d)]
        self.b = [u(0.0, 0.3) for _ in range(d)]
        self.c = [u(0.02, 0.2) for _ in range(d)]
        self.n = [u(-0.2, 0.4) for _ in range(d)]
        self.load = [u(0.4, 1.2) for _ in range(d)]
        self.w = u(0.8, 1.9)
        self.kappa = u(0.2, 0.9)
        self.weight = [0.0] * d
        self.q0 = [u(-0.2, 0.2) for _ in range(d)]
        self.v0 = [u(-0.8, 0.8) for _ in range(d)]
        # k, e, a
        self.p = [u(0.8, 2.0), u(0.4, 0.9), u(0.05, 0.2)]
        # s, slopes, place of the square and its factor, 1 if the wall moves
        self.gaps = [(0.2, [-1.0] + [0.0] * (d - 1), 0, 0.0, 0)]
        if d > 1:
            self.gaps.append((0.4, [0.0] * (d - 1) + [1.0], 0, u(-0.2, 0.2), 1))
            self.gaps.append((0.6, [1.0, -1.0] + [0.0] * (d - 2), 0, 0.0, 0))
        self.end = 5.0
        self.__dict__.update(change)

    def text(self):
        names = [f"x{i}" for i in range(self.d)]
        kinetic = " + ".join(f"{m}*(1 + {b}*{x}^2)*{x}'^2/2" for m, b, x in zip(self.m, self.b, names))
        lines = ["title = 'random'", "[parameters]", f"k = {self.p[0]}", f"e = {self.p[1]}", f"a = {self.p[2]}", "[coordinates]"]
        lines += [f"{x} = {{ position = {q}, velocity = {v} }}" for x, q, v in zip(names, self.q0, self.v0)]
        lines += ["[dynamics]", f'kinetic = "{kinetic}"', "[dynamics.force]"]
        for i, x in enumerate(names):
            force = f"-k*{x} - {self.c[i]}*{x}' - {self.n[i]}*{x}^3 + {self.load[i]}*cos({self.w}*t + {i}) - {self.weight[i]}"
            if i + 1 < self.d:
                force += f" + {self.kappa}*(x{i+1} - {x})"
            if i > 0:
                force += f" - {self.kappa}*({x} - x{i-1})"
            lines.append(f'{x} = "{force}"')
        for n, (s, slopes, j, b, wall) in enumerate(self.gaps):
            gap = f"{s}" + "".join(f" + ({c})*{x}" for c, x in zip(slopes, names) if c) + (f" + ({b})*x{j}^2" if b else "")
            gap += " + a*sin(2*t)" if wall else ""
            lines += ["[[constraint]]", f'name = "g{n}"', f'gap = "{gap}"']
        return "\n".join(lines + ["[impact]", 'restitution = "e"', "[run]", f"end = {self.end}"]) + "\n"

    def free(self, t, q, v, p):
        """M (diagonal) and g."""
        M, g = [], []
        for i in range(self.d):
            m, b = mpf(self.m[i]), mpf(self.b[i])
            M.append(m * (1 + b * q[i] ** 2))
            f = -p[0] * q[i] - mpf(self.c[i]) * v[i] - mpf(self.n[i]) * q[i] ** 3 - mpf(self.weight[i])
            f += mpf(self.load[i]) * cos(mpf(self.w) * t + i) - m * b * q[i] * v[i] ** 2
            if i + 1 < self.d:
                f += mpf(self.kappa) * (q[i + 1] - q[i])
            if i > 0:
                f -= mpf(self.kappa) * (q[i] - q[i - 1])
            g.append(f)
        return M, g

    def gap(self, n, t, q, v, p):
        """f, gradient, U, γ."""
        s, slopes, j, b, wall = self.gaps[n]
        b, wall = mpf(b), mpf(wall)
        f = mpf(s) + sum(mpf(c) * x for c, x in zip(slopes, q)) + b * q[j] ** 2 + wall * p[2] * sin(2 * t)
        G = [mpf(c) for c in slopes]
        G[j] += 2 * b * q[j]
        U = sum(g * x for g, x in zip(G, v)) + 2 * wall * p[2] * cos(2 * t)
        return f, G, U, 2 * b * v[j] ** 2 - 4 * wall * p[2] * sin(2 * t)

    def accelerations(self, t, q, v, p, held):
        M, g = self.free(t, q, v, p)
        if held is None:
            return [x / m for x, m in zip(g, M)], mpf(0)
        _, G, _, gamma = self.gap(held, t, q, v, p)
        D = sum(x * x / m for x, m in zip(G, M))
        reaction = -(gamma + sum(x * y / m for x, y, m in zip(G, g, M))) / D
        return [(y + reaction * x) / m for x, y, m in zip(G, g, M)], reaction


def rates(model, t, y, p, held):
    d = model.d
    return y[d:] + model.accelerations(t, y[:d], y[d:], p, held)[0]


def step(model, t, y, p, held, h):
    """One step of Gragg's method, extrapolated."""
    f = lambda t, y: rates(model, t, y, p, held)
    rows, first = [], f(t, y)
    columns = next(n for limit, n in [(mpf(10) ** -8, 2), (mpf(10) ** -4, 4), (mpf("0.01"), 6), (1, COLUMNS)] if h < limit)
    for k in range(columns):
        n = 2 * (k + 1)
        s = h / n
        a, b = y, [x + s * r for x, r in zip(y, first)]
        for i in range(1, n):
            a, b = b, [x + 2 * s * r for x, r in zip(a, f(t + i * s, b))]
        last = f(t + h, b)
        row = [[(x + z + s * r) / 2 for x, z, r in zip(a, b, last)]]
        for j in range(k):
            ratio = mpf(n) ** 2 / mpf(2 * (k - j)) ** 2 - 1
            row.append([x + (x - z) / ratio for x, z in zip(row[j], rows[-1][j])])
        rows.append(row)
    return rows[-1][-1]


def root(g, h, at_zero, at_h):
    """A zero of g in (0, h], by bisection and secants."""
    lo, hi, flo, fhi = mpf(0), h, at_zero, at_h
    for n in range(200):
        mid = (lo + hi) / 2 if n < 6 else hi - fhi * (hi - lo) / (fhi - flo)
        if not (lo < mid < hi):
            mid = (lo + hi) / 2
        f = g(mid)
        if abs(f) < SMALL:
            return mid
        if (f < 0) == (flo < 0):
            if n >= 6:
                fhi /= 2  # Illinois
            lo, flo = mid, f
        else:
            if n >= 6:
                flo /= 2
            hi, fhi = mid, f
    return hi


def run(model, q0, v0, p, log=None):
    d, t, end = model.d, mpf(0), mpf(model.end)
    y, held = list(q0) + list(v0), None
    blocked = set()
    while t < end:
        h = min(STEP, end - t)
        for n in blocked - {held}:
            # How long a low bounce lasts.
            q, v = split(y, d)
            _, G, U, gamma = model.gap(n, t, q, v, p)
            bend = gamma + sum(g * a for g, a in zip(G, model.accelerations(t, q, v, p, held)[0]))
            if U > 0 > bend:
                h = min(h, -4 * U / bend)
        new = step(model, t, y, p, held, h)
        found = None
        for n in range(len(model.gaps)):
            if n == held:
                continue
            value = lambda s, n=n: model.gap(n, t + s, *split(step(model, t, y, p, held, s) if s < h else new, d), p)[0]
            before, _, rate, _ = model.gap(n, t, *split(y, d), p)
            after, _, late, _ = model.gap(n, t + h, *split(new, d), p)
            # (Far from closed.)
            if min(before, after) > h * max(abs(rate), abs(late)) + h * h * 4:
                continue
            if n in blocked:
                # It has just been hit: open from a little later on.
                s = h / 64
                while value(s) < 0 and s > mpf(10) ** -25:
                    s /= 4
                if value(s) < 0:
                    s = mpf(0)
                before_at, base = value(s), s
            else:
                before_at, base = before, mpf(0)
            grid = [base + (h - base) * mpf(i) / 4 for i in range(5)]
            last = before_at
            for a, b in zip(grid, grid[1:]):
                now = value(b)
                if now < 0 <= last:
                    at = a + root(lambda s: value(a + s), b - a, last, now)
                    if found is None or at < found[0]:
                        found = (at, "hit", n)
                    break
                last = now
        if held is not None:
            reaction = lambda s: model.accelerations(t + s, *split(step(model, t, y, p, held, s) if s < h else new, d), p, held)[1]
            now = reaction(h)
            if now < 0:
                at = root(reaction, h, reaction(mpf(0)), now)
                if found is None or at < found[0]:
                    found = (at, "release", held)
        if found is None:
            y, t, blocked = new, t + h, set()
            continue
        at, kind, n = found
        y, t = (step(model, t, y, p, held, at) if at > 0 else y), t + at
        q, v = split(y, d)
        if kind == "release":
            held, blocked = None, {n}
            log is not None and log.append(("release", n))
            continue
        hits = [n] + [o for o in range(len(model.gaps)) if o != n and o != held and o not in blocked
                      and abs(model.gap(o, t, q, v, p)[0]) < mpf(10) ** -28]
        for o in hits:
            M, _ = model.free(t, q, v, p)
            _, G, U, _ = model.gap(o, t, q, v, p)
            if U >= 0:
                continue
            assert held is None, "an impact while in contact"
            D = sum(x * x / m for x, m in zip(G, M))
            P = -(1 + p[1]) * U / D
            v = [x + P * g / m for x, g, m in zip(v, G, M)]
            log is not None and log.append(("hit", o))
            # So slow that the rest of the sequence is below 1e-30: contact.
            if abs(p[1] * U) < mpf(10) ** -17 and model.accelerations(t, q, v, p, o)[1] > 0:
                _, G, U, _ = model.gap(o, t, q, v, p)
                v = [x - U / D * g / m for x, g, m in zip(v, G, M)]
                held = o
                log is not None and log.append(("contact", o))
        y, blocked = q + v, set(hits)
    return y


def split(y, d):
    return y[:d], y[d:]


def derivatives(model):
    q0, v0, p = [mpf(x) for x in model.q0], [mpf(x) for x in model.v0], [mpf(x) for x in model.p]
    log, h, columns = [], mpf(10) ** -12, []
    final = run(model, q0, v0, p, log)

    def at(k, by):
        q, v, r = list(q0), list(v0), list(p)
        [q, v, r][0 if k < model.d else 1 if k < 2 * model.d else 2][k if k < model.d else k - model.d if k < 2 * model.d else k - 2 * model.d] += by
        own = []
        y = run(model, q, v, r, own)
        assert sorted(e for e in own) == sorted(e for e in log) or len(own) == len(log) or any(e[0] == "contact" for e in log), (log, own)
        return y

    for k in range(2 * model.d + 3):
        if k == 2 * model.d + 1 and p[1] == 0:
            # (A restitution below zero is none: forwards.)
            ys = [at(k, i * h) for i in range(3)]
            w = [mpf(-3) / 2, 2, mpf(-1) / 2]
            columns.append([float(sum(c * y[i] for c, y in zip(w, ys)) / h) for i in range(2 * model.d)])
            continue
        a, b = at(k, h), at(k, -h)
        columns.append([float((a[i] - b[i]) / (2 * h)) for i in range(2 * model.d)])
    return log, [float(x) for x in final], columns


def models():
    yield "one stop", Model(1, 1, end=7.0)
    yield "one stop, moving", Model(1, 2, gaps=[(0.3, [1.0], 0, 0.0, 1)])
    yield "two bodies", Model(2, 3, end=4.0)
    yield "two bodies again", Model(2, 4, end=3.0)
    yield "three bodies", Model(3, 5, end=3.5)
    yield "three bodies again", Model(3, 6, end=4.0)
    yield "curved and moving", Model(2, 7, gaps=[(0.3, [1.0, 0.4], 1, 0.3, 1), (0.5, [0.2, -1.0], 0, -0.2, 0)])
    # Mirror images, which meet their walls at one instant, again and again.
    twins = dict(m=[1.2, 1.2], b=[0.1, 0.1], c=[0.05, 0.05], n=[0.2, 0.2], load=[0.0, 0.0], kappa=0.4, q0=[0.1, -0.1], v0=[0.9, -0.9])
    yield "two walls at one instant", Model(2, 8, gaps=[(0.5, [-1.0, 0.0], 0, 0.0, 0), (0.5, [0.0, 1.0], 0, 0.0, 0)], end=3.0, **twins)
    # Landings without rebound, and release by the table; and an accumulation.
    yield "landing and release", Model(2, 9, p=[0.9, 0.0, 0.9], weight=[1.5, 0.3], gaps=[(0.4, [1.0, 0.0], 1, 0.2, 1)], end=4.0)
    yield "accumulation", Model(2, 10, p=[0.5, 0.1, 0.05], weight=[6.0, 0.2], gaps=[(0.3, [1.0, 0.0], 1, 0.2, 1)], end=2.0)


if __name__ == "__main__":
    only = sys.argv[1:]
    out = []
    for name, model in models():
        if only and name not in only:
            continue
        log, final, columns = derivatives(model)
        print(name, len(log), log[:12], file=sys.stderr, flush=True)
        out.append(dict(name=name, model=model.text(), end=model.end, events=len(log), final=final, columns=columns))
    json.dump(out, sys.stdout, indent=1)
