// Plays the drawing of a model on a canvas, tied to the figures over time.
"use strict";
function animate(show, page) {
  const figure = document.getElementById("animation");
  const canvas = figure.querySelector("canvas");
  const [play, slider, now, speed] = ["play", "when", "now", "speed"].map((id) => document.getElementById(id));
  const pen = canvas.getContext("2d", { willReadFrequently: location.hash === "#readback" });
  const [start, end] = show.span;
  const length = Math.max(end - start, 1e-300);
  const impacts = show.impacts;
  let t = start, playing = false, last = 0, flashes = new Map();

  // Where a time stands among increasing ones: the index before it and the way to the next.
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

  // What there is to see: all places of all shapes at all times.
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  function reach(x, y, room) {
    if (!Number.isFinite(x) || !Number.isFinite(y)) return;
    box[0] = Math.min(box[0], x - room); box[1] = Math.min(box[1], y - room);
    box[2] = Math.max(box[2], x + room); box[3] = Math.max(box[3], y + room);
  }
  for (const shape of show.shapes) {
    const points = shape.kind === "circle" ? 1 : shape.at.length >> 1;
    for (let k = 0; k < show.t.length; k++) {
      const value = (c) => (typeof shape.at[c] === "number" ? shape.at[c] : shape.at[c][k]);
      const room = shape.kind === "circle" ? Math.abs(value(2)) : 0;
      for (let p = 0; p < points; p++) reach(value(2 * p), value(2 * p + 1), room);
      if (shape.at.every((c) => typeof c === "number")) break;
    }
  }
  for (const s of show.sampled) for (let i = 0; i < s.y.length; i++) reach(s.x[i % s.x.length], s.y[i], 0);
  if (!(box[2] >= box[0])) return;

  let scale = 1, shift = [0, 0];
  function fit() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth || 800, canvas.clientHeight || 400];
    canvas.width = w * ratio; canvas.height = h * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [width, height] = [Math.max(box[2] - box[0], 1e-9), Math.max(box[3] - box[1], 1e-9)];
    scale = Math.min((w - 60) / width, (h - 40) / height);
    shift = [w / 2 - scale * (box[0] + box[2]) / 2, h / 2 + scale * (box[1] + box[3]) / 2];
    paint();
  }
  const X = (x) => shift[0] + scale * x, Y = (y) => shift[1] - scale * y;

  function trace(points, closed) {
    pen.beginPath();
    points.forEach(([x, y], k) => (k ? pen.lineTo(X(x), Y(y)) : pen.moveTo(X(x), Y(y))));
    if (closed) pen.closePath();
  }

  function paintShape(shape, place) {
    const v = shape.at.map((c) => read(c, place));
    const points = [];
    for (let i = 0; i + 1 < v.length; i += 2) points.push([v[i], v[i + 1]]);
    const lit = shape.flashes.some((a) => flashes.has(a));
    const colour = page.colour(lit ? "flash" : shape.look);
    pen.strokeStyle = colour; pen.fillStyle = colour; pen.lineJoin = "round"; pen.lineCap = "round"; pen.setLineDash([]);
    pen.lineWidth = { wall: 3, link: 2, faint: 1, body: 2.5 }[shape.look] + (lit ? 1.5 : 0);
    const fill = { body: 0.35, wall: 0.25, link: 0, faint: 0.06 }[shape.look] + (lit ? 0.3 : 0);
    if (shape.look === "faint") pen.setLineDash([4, 4]);
    const filled = () => { pen.globalAlpha = fill; pen.fill(); pen.globalAlpha = 1; pen.stroke(); };
    switch (shape.kind) {
      case "point":
        pen.beginPath(); pen.arc(X(v[0]), Y(v[1]), lit ? 8 : 5.5, 0, 2 * Math.PI); pen.fill(); break;
      case "circle":
        pen.beginPath(); pen.arc(X(v[0]), Y(v[1]), Math.max(Math.abs(v[2]) * scale, 1), 0, 2 * Math.PI);
        filled(); break;
      case "polygon": trace(points, true); filled(); break;
      case "segment": trace(points, false); pen.stroke(); break;
      case "text":
        pen.font = "14px " + getComputedStyle(document.body).fontFamily; pen.textAlign = "center";
        pen.fillText(shape.text, X(v[0]), Y(v[1])); break;
    }
  }

  function paint() {
    pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const place = locate(show.t, t);
    for (const look of ["faint", "wall", "link", "body"]) {
      show.shapes.filter((s) => s.look === look).forEach((s) => paintShape(s, place));
    }
    for (const s of show.sampled) {
      const [k, part] = locate(s.t, t), n = s.x.length;
      const at = (i) => s.y[k * n + i] + part * ((s.y[(k + 1) * n + i] ?? s.y[k * n + i]) - s.y[k * n + i]);
      pen.setLineDash([]); pen.strokeStyle = page.colour("body"); pen.lineWidth = 3;
      trace(Array.from(s.x, (x, i) => [x, at(i)]), false); pen.stroke();
    }
    now.textContent = "t = " + t.toPrecision(5) + (show.unit ? " " + show.unit : "");
  }

  // Impacts between two times light up what took part in them.
  function pass(from, to) {
    const [a, b] = from < to ? [from, to] : [to, from];
    let [k] = locate(impacts.t, a);
    for (; k < impacts.t.length && impacts.t[k] <= b; k++) {
      if (impacts.t[k] > a) for (const c of impacts.constraints[k]) flashes.set(c, performance.now() + 180);
    }
  }

  function go(to, tell) {
    const from = t;
    t = Math.min(end, Math.max(start, to));
    if (Math.abs(t - from) < 0.05 * length) pass(from, t);
    slider.value = Math.round((10000 * (t - start)) / length);
    if (tell) page.setTime(t, null);
    paint();
    if (!playing && flashes.size) setTimeout(fade, 200);
  }
  function fade() {
    const at = performance.now();
    for (const [c, until] of flashes) if (until <= at) flashes.delete(c);
    if (!playing) paint();
  }

  // Speeds in units of time a second; a run of a few seconds plays as it is, any other in about ten.
  const base = length > 2 && length < 30 ? 1 : length / 10;
  for (const factor of [0.1, 0.25, 0.5, 1, 2, 4]) {
    const option = new Option(Number((base * factor).toPrecision(2)) + (show.unit ? " " + show.unit : "") + " per s", base * factor);
    option.selected = factor === 1;
    speed.append(option);
  }
  function frame(at) {
    if (!playing) return;
    const step = ((at - last) / 1000) * Number(speed.value);
    last = at;
    fade();
    if (t + step >= end) { go(end, true); setPlaying(false); return; }
    go(t + step, true);
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
  slider.addEventListener("input", () => { setPlaying(false); go(start + (length * slider.value) / 10000, true); });
  window.addEventListener("resize", fit);
  page.listeners.push({
    theme: paint,
    time: (at) => { if (!playing) go(at, false); },
    // For tests: that the canvas shows something, and something else at another time.
    read: () => {
      const ink = () => pen.getImageData(0, 0, canvas.width, canvas.height).data.reduce((n, x, i) => n + (i % 4 === 3 && x > 0), 0);
      const first = ink();
      go(start + length / 2, true);
      return { shapes: show.shapes.length + show.sampled.length, frames: show.t.length, ink: [first, ink()], impacts: impacts.t.length };
    },
  });
  fit();
}
