// Plays the drawing of a model on a canvas, linked to the time histories.
"use strict";
function animate(data, page) {
  const figure = document.getElementById("animation");
  const canvas = figure.querySelector("canvas");
  const [play, slider, now, speed] = ["play", "when", "now", "speed"].map((id) => document.getElementById(id));
  const context = canvas.getContext("2d", { willReadFrequently: location.hash === "#readback" });
  const [start, end] = data.span;
  const length = Math.max(end - start, 1e-300);
  const impacts = data.impacts;
  let t = start, playing = false, last = 0, flashes = new Map();

  // The index of the last time not after `at`, and the fraction of the way to the next one.
  function locate(times, at) {
    let low = 0, high = times.length - 1;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= at) low = middle; else high = middle;
    }
    if (high <= low) return [0, 0];
    const step = times[high] - times[low];
    return [low, step > 0 ? Math.min(1, Math.max(0, (at - times[low]) / step)) : 0];
  }
  const read = (channel, [k, s]) =>
    typeof channel === "number" ? channel : channel[k] + s * ((channel[k + 1] ?? channel[k]) - channel[k]);

  // The bounding box of all shapes at all times.
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  function include(x, y, margin) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    box[0] = Math.min(box[0], x - margin); box[1] = Math.min(box[1], y - margin);
    box[2] = Math.max(box[2], x + margin); box[3] = Math.max(box[3], y + margin);
  }
  for (const shape of data.shapes) {
    const points = shape.kind === "circle" ? 1 : shape.at.length >> 1;
    for (let k = 0; k < data.t.length; k++) {
      const value = (c) => (typeof shape.at[c] === "number" ? shape.at[c] : shape.at[c][k]);
      const margin = shape.kind === "circle" ? Math.abs(value(2)) : 0;
      for (let p = 0; p < points; p++) include(value(2 * p), value(2 * p + 1), margin);
      if (shape.at.every((c) => typeof c === "number")) break;
    }
  }
  // Closed curves gap = 0 are shown as a whole unless they are far larger than the drawing; others reach beyond the window.
  const [width, height] = [box[2] - box[0], box[3] - box[1]];
  for (const wall of data.walls) {
    for (const [x, y] of wall.frames.flat()) {
      if (x[0] !== x[x.length - 1] || y[0] !== y[y.length - 1]) continue;
      const size = Math.max(Math.max(...x) - Math.min(...x), Math.max(...y) - Math.min(...y));
      if (size <= 2 * Math.max(width, height)) x.forEach((_, k) => include(x[k], y[k], 0));
    }
  }
  for (const s of data.sampled) {
    const frames = Math.max(s.x.length, s.y.length);
    for (let i = 0; i < frames; i++) include(s.x[s.x.length === s.n ? i % s.n : i], s.y[s.y.length === s.n ? i % s.n : i], 0);
  }
  if (!(box[2] >= box[0])) return;

  let scale = 1, shift = [0, 0];
  function fit() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth || 800, canvas.clientHeight || 400];
    canvas.width = w * ratio; canvas.height = h * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = [Math.max(box[2] - box[0], 1e-9), Math.max(box[3] - box[1], 1e-9)];
    scale = Math.min((w - 60) / width, (h - 40) / height);
    shift = [w / 2 - scale * (box[0] + box[2]) / 2, h / 2 + scale * (box[1] + box[3]) / 2];
    paint();
  }
  const X = (x) => shift[0] + scale * x, Y = (y) => shift[1] - scale * y;

  function trace(points, closed) {
    context.beginPath();
    points.forEach(([x, y], k) => (k ? context.lineTo(X(x), Y(y)) : context.moveTo(X(x), Y(y))));
    if (closed) context.closePath();
  }

  function paintShape(shape, place) {
    const v = shape.at.map((c) => read(c, place));
    const points = [];
    for (let i = 0; i + 1 < v.length; i += 2) points.push([v[i], v[i + 1]]);
    const lit = shape.flashes.some((a) => flashes.has(a));
    const colour = page.colour(lit ? "flash" : shape.style);
    context.strokeStyle = colour; context.fillStyle = colour; context.lineJoin = "round"; context.lineCap = "round"; context.setLineDash([]);
    context.lineWidth = { wall: 3, link: 2, faint: 1, body: 2.5 }[shape.style] + (lit ? 1.5 : 0);
    const fill = { body: 0.35, wall: 0.25, link: 0, faint: 0.06 }[shape.style] + (lit ? 0.3 : 0);
    if (shape.style === "faint") context.setLineDash([4, 4]);
    const filled = () => { context.globalAlpha = fill; context.fill(); context.globalAlpha = 1; context.stroke(); };
    switch (shape.kind) {
      case "point":
        context.beginPath(); context.arc(X(v[0]), Y(v[1]), lit ? 8 : 5.5, 0, 2 * Math.PI); context.fill(); break;
      case "circle":
        context.beginPath(); context.arc(X(v[0]), Y(v[1]), Math.max(Math.abs(v[2]) * scale, 1), 0, 2 * Math.PI);
        filled(); break;
      case "polygon": trace(points, true); filled(); break;
      case "segment": trace(points, false); context.stroke(); break;
      case "text":
        context.font = "14px " + getComputedStyle(document.body).fontFamily; context.textAlign = "center";
        context.fillText(shape.text, X(v[0]), Y(v[1])); break;
    }
  }

  // Curves gap = 0, between two frames if they have the same points in both.
  function paintWalls() {
    context.setLineDash([]);
    for (const { constraint, t: times, frames } of data.walls) {
      const [k, s] = locate(times, t);
      const [now, next] = [frames[k], frames[Math.min(k + 1, frames.length - 1)]];
      const similar = now.length === next.length && now.every((c, i) => c[0].length === next[i][0].length);
      const lit = flashes.has(constraint);
      context.strokeStyle = page.colour(lit ? "flash" : "wall"); context.lineWidth = lit ? 2.5 : 1.2;
      (similar || s < 0.5 ? now : next).forEach((c, i) => {
        const at = (a, p) => (similar ? c[a][p] + s * (next[i][a][p] - c[a][p]) : c[a][p]);
        trace(Array.from(c[0], (_, p) => [at(0, p), at(1, p)]), false);
        context.stroke();
      });
    }
  }

  // Trails of points and circles that move in both directions: where they were in the last two seconds of the show.
  const trails = document.getElementById("trails");
  const isTrailed = (s) => s.style === "body" && (s.kind === "point" || s.kind === "circle") &&
    typeof s.at[0] !== "number" && typeof s.at[1] !== "number";
  const trailed = data.shapes.filter(isTrailed);
  trails.hidden = !trailed.length;
  const isTrailing = () => trailed.length > 0 && trails.querySelector("input").checked;
  function paintTrails(place) {
    const from = locate(data.t, t - 2 * Number(speed.value));
    context.strokeStyle = page.colour("body"); context.setLineDash([]); context.lineWidth = 1.5; context.globalAlpha = 0.6;
    for (const { at: [x, y] } of trailed) {
      const points = [[read(x, from), read(y, from)]];
      for (let k = from[0] + 1; k <= place[0]; k++) points.push([x[k], y[k]]);
      points.push([read(x, place), read(y, place)]);
      trace(points, false); context.stroke();
    }
    context.globalAlpha = 1;
  }

  // Lines through samples: parts of a structure, and its stops.
  function paintSampled(s) {
    const [k, part] = s.t.length ? locate(s.t, t) : [0, 0], n = s.n;
    const at = (c, i) => c.length === n ? c[i] : c[k * n + i] + part * ((c[(k + 1) * n + i] ?? c[k * n + i]) - c[k * n + i]);
    const points = Array.from({ length: n }, (_, i) => [at(s.x, i), at(s.y, i)]);
    const lit = s.stop !== null && flashes.has(s.stop), colour = page.colour(lit ? "flash" : s.style);
    context.setLineDash([]); context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = s.style === "wall" ? (lit ? 4 : 2) : s.lines ? 1.5 : 3;
    if (s.lines) for (const [i, j] of s.lines) { trace([points[i], points[j]], false); context.stroke(); }
    else { trace(points, false); context.stroke(); }
    if (s.dots) for (const [x, y] of points) { context.beginPath(); context.arc(X(x), Y(y), s.lines ? 2 : 4, 0, 7); context.fill(); }
  }

  function paint() {
    context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const place = locate(data.t, t);
    paintWalls();
    for (const style of ["faint", "wall", "link", "body"]) {
      if (style === "body" && isTrailing()) paintTrails(place);
      data.shapes.filter((s) => s.style === style).forEach((s) => paintShape(s, place));
    }
    for (const style of ["body", "wall"]) data.sampled.filter((s) => s.style === style).forEach(paintSampled);
    now.textContent = "t = " + t.toPrecision(5) + (data.unit ? " " + data.unit : "");
  }

  // Shapes flash at impacts between two times.
  function flashImpacts(from, to) {
    const [a, b] = from < to ? [from, to] : [to, from];
    let [k] = locate(impacts.t, a);
    for (; k < impacts.t.length && impacts.t[k] <= b; k++) {
      if (impacts.t[k] > a) for (const c of impacts.constraints[k]) flashes.set(c, performance.now() + 180);
    }
  }

  function seek(to, notify) {
    const from = t;
    t = Math.min(end, Math.max(start, to));
    if (Math.abs(t - from) < 0.05 * length) flashImpacts(from, t);
    slider.value = Math.round((10000 * (t - start)) / length);
    if (notify) page.setTime(t, null);
    paint();
    if (!playing && flashes.size) setTimeout(fade, 200);
  }
  function fade() {
    const at = performance.now();
    for (const [c, until] of flashes) if (until <= at) flashes.delete(c);
    if (!playing) paint();
  }

  // Speeds in units of model time per second; the default plays short runs in real time and others in ten seconds.
  const base = length > 2 && length < 30 ? 1 : length / 10;
  for (const factor of [0.1, 0.25, 0.5, 1, 2, 4]) {
    const option = new Option(Number((base * factor).toPrecision(2)) + (data.unit ? " " + data.unit : "") + " per s", base * factor);
    option.selected = factor === 1;
    speed.append(option);
  }
  function frame(at) {
    if (!playing) return;
    const step = ((at - last) / 1000) * Number(speed.value);
    last = at;
    fade();
    if (t + step >= end) { seek(end, true); setPlaying(false); return; }
    seek(t + step, true);
    requestAnimationFrame(frame);
  }
  function setPlaying(on) {
    playing = on;
    play.textContent = on ? "Pause" : "Play";
    if (!on) { setTimeout(fade, 200); return; }
    if (t >= end) t = start;
    last = performance.now();
    requestAnimationFrame(frame);
  }
  play.addEventListener("click", () => setPlaying(!playing));
  trails.addEventListener("change", paint);
  slider.addEventListener("input", () => { setPlaying(false); seek(start + (length * slider.value) / 10000, true); });
  window.addEventListener("resize", fit);
  page.listeners.push({
    theme: paint,
    time: (at) => { if (!playing) seek(at, false); },
    // For tests: the number of painted pixels at two instants.
    read: () => {
      const pixels = () => context.getImageData(0, 0, canvas.width, canvas.height).data.reduce((n, x, i) => n + (i % 4 === 3 && x > 0), 0);
      const first = pixels();
      seek(start + length / 2, true);
      const trailed = pixels();
      trails.querySelector("input").click();
      const plain = pixels();
      trails.querySelector("input").click();
      return { walls: data.walls.length, trails: trails.hidden ? 0 : trailed - plain, shapes: data.shapes.length + data.sampled.length, frames: data.t.length, pixels: [first, trailed], impacts: impacts.t.length };
    },
  });
  fit();
}
