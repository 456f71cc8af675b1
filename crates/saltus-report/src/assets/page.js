// The page's own script: figures, theme, cursor, sortable tables. Nothing is loaded from anywhere.
"use strict";
(() => {
  const root = document.documentElement;
  const plots = [];
  const listeners = [];
  const errors = [];
  window.addEventListener("error", (e) => errors.push(String(e.message)));
  document.addEventListener("securitypolicyviolation", (e) => errors.push("blocked: " + e.blockedURI));

  // Data and plotly.js are zlib streams in base 85 (src/pack.rs): five characters from "(" on, "}" instead of "<", are four bytes.
  async function unpack(element) {
    const text = element.textContent, length = text.length;
    const view = new DataView(new ArrayBuffer(4 * Math.ceil(length / 5)));
    for (let i = 0; i < length; i += 5) {
      let word = 0;
      for (let k = i; k < i + 5; k++) {
        const c = k < length ? text.charCodeAt(k) : 124;
        word = 85 * word + (c === 125 ? 60 : c) - 40;
      }
      view.setUint32((4 * i) / 5, word);
    }
    const packed = new Blob([new Uint8Array(view.buffer, 0, Math.floor((4 * length) / 5))]);
    const stream = packed.stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  const textOf = (bytes) => new TextDecoder().decode(bytes);

  // Arrays are stored as differences of successive numbers, taken bit by bit, by columns of bytes (src/store.rs).
  let stored = new Uint8Array();
  function array(type, [offset, count]) {
    const width = type.BYTES_PER_ELEMENT, bytes = new Uint8Array(width * count);
    for (let column = 0, at = offset; column < width; column++) {
      for (let k = 0; k < count; k++, at++) bytes[k * width + column] = stored[at];
    }
    const words = new Uint32Array(bytes.buffer), size = width / 4;
    for (let k = size; k < words.length; k += size) {
      const low = words[k] + words[k - size];
      words[k] = low;
      if (size === 2) words[k + 1] += words[k - 1] + (low > 0xffffffff ? 1 : 0);
    }
    return new type(bytes.buffer);
  }
  function decode(value) {
    if (Array.isArray(value)) return value.map(decode);
    if (value === null || typeof value !== "object") return value;
    if (value.f64) return array(Float64Array, value.f64);
    if (value.f32) return array(Float32Array, value.f32);
    for (const key of Object.keys(value)) value[key] = decode(value[key]);
    return value;
  }
  async function load() {
    const element = document.getElementById("data");
    if (!element) return { figures: [], animation: null };
    const bytes = await unpack(element), end = bytes.indexOf(0);
    stored = bytes.subarray(end + 1);
    return JSON.parse(textOf(bytes.subarray(0, end)));
  }
  // The text of plotly.js becomes an inline script, which the page's Content-Security-Policy allows; it runs at once.
  async function startPlotly() {
    const element = document.getElementById("plotly");
    if (!element) return;
    const script = document.createElement("script");
    script.textContent = textOf(await unpack(element));
    element.replaceWith(script);
  }

  // A sentence at the top of the page.
  function warn(sentence) {
    const list = document.createElement("ul"), item = document.createElement("li");
    list.className = "said warning";
    item.textContent = sentence;
    list.append(item);
    document.querySelector("main").prepend(list);
  }

  // Light or dark: as the system has it until the button is pressed.
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const isDark = () => (chosen ?? (system.matches ? "dark" : "light")) === "dark";
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();

  function themed() {
    const axis = { gridcolor: colour("rule"), zerolinecolor: colour("faint"), linecolor: colour("faint") };
    return { axis, font: { color: colour("ink"), size: 13, family: getComputedStyle(document.body).fontFamily } };
  }

  function applyTheme(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    const { axis, font } = themed();
    for (const { gd } of plots) {
      const change = { "font.color": font.color, "hoverlabel.bgcolor": colour("ground"), "modebar.color": colour("faint") };
      for (const name of Object.keys(gd.layout)) {
        if (/^[xy]axis\d*$/.test(name)) for (const [k, v] of Object.entries(axis)) change[name + "." + k] = v;
      }
      Plotly.relayout(gd, change);
    }
    listeners.forEach((f) => f.theme && f.theme());
  }

  function draw(figure) {
    const gd = document.getElementById("fig-" + figure.id);
    if (!gd) return null;
    const { axis, font } = themed();
    const layout = Object.assign({
      margin: { l: 64, r: figure.layout.yaxis2 ? 64 : 16, t: 10, b: 46 }, hovermode: "closest", font,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: figure.traces.some((t) => t.showlegend),
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, bargap: 0.05,
      hoverlabel: { bgcolor: colour("ground") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("faint"), activecolor: colour("accent") },
    }, figure.layout);
    for (const name of Object.keys(layout)) if (/^[xy]axis\d*$/.test(name)) Object.assign(layout[name], axis);
    const config = { responsive: true, displaylogo: false, toImageButtonOptions: { format: "svg", filename: figure.id } };
    return Plotly.newPlot(gd, figure.traces, layout, config).then(() => {
      const cursor = document.createElement("div");
      cursor.className = "cursor";
      gd.appendChild(cursor);
      const plot = { gd, cursor, figure };
      plots.push(plot);
      if (figure.timed) follow(plot);
      // With a view box a figure fits whatever width paper has.
      const framed = () => gd.querySelectorAll(".main-svg").forEach((svg) => {
        svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
      });
      framed();
      gd.on("plotly_afterplot", framed);
    });
  }

  // Zooming one figure over time zooms the others; pointing at one shows that instant everywhere.
  let zooming = false;
  function follow(plot) {
    plot.gd.on("plotly_hover", (e) => e.points.length && setTime(e.points[0].x, plot));
    plot.gd.on("plotly_relayout", (e) => {
      if (zooming) return;
      const range = e["xaxis.range"] ?? ("xaxis.range[0]" in e ? [e["xaxis.range[0]"], e["xaxis.range[1]"]] : null);
      if (!range && !e["xaxis.autorange"]) return;
      zooming = true;
      const others = plots.filter((p) => p.figure.timed && p !== plot);
      const change = range ? { "xaxis.range": range } : { "xaxis.autorange": true };
      Promise.all(others.map((p) => Plotly.relayout(p.gd, change))).finally(() => { zooming = false; showCursor(); });
    });
  }

  let now = null;
  function setTime(t, from) {
    now = t;
    showCursor();
    listeners.forEach((f) => f.time && from && f.time(t));
  }

  function showCursor() {
    for (const { gd, cursor, figure } of plots) {
      if (!figure.timed || now === null) continue;
      const { xaxis, yaxis } = gd._fullLayout;
      if (!xaxis || !yaxis) continue;
      const x = xaxis.l2p(now);
      const inside = x >= 0 && x <= xaxis._length;
      cursor.style.display = inside ? "block" : "none";
      cursor.style.left = xaxis._offset + x + "px";
      cursor.style.top = yaxis._offset + "px";
      cursor.style.height = yaxis._length + "px";
    }
  }

  // Tables: a click on a header sorts by it, another one the other way round.
  function sortable(table) {
    const heads = [...table.querySelectorAll("th")];
    heads.forEach((th, column) => th.addEventListener("click", () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
      const order = (a, b) => {
        const [x, y] = [key(a), key(b)];
        const difference = Number(x) - Number(y);
        return Number.isNaN(difference) ? String(x).localeCompare(String(y)) : difference;
      };
      const rows = [...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a)));
      body.append(...rows);
    }));
  }

  // For tests (…#readback): what the figures and tables of the finished page hold, read from them.
  async function readback() {
    const list = (x) => Array.from(x ?? [], (v) => (Number.isFinite(v) ? v : null));
    const figures = [];
    for (const { gd, figure } of plots) {
      const traces = gd.data.map((t) => ({
        role: t.meta && t.meta.role, name: t.name, axis: t.yaxis, x: list(t.x), y: list(t.y),
      }));
      const image = await Plotly.toImage(gd, { format: "png", width: 700, height: 420 });
      figures.push({ id: figure.id, traces, image, drawn: gd.querySelectorAll(".trace, .barlayer .point").length });
    }
    const tables = {};
    for (const table of document.querySelectorAll("table[id]")) {
      table.querySelector("th button")?.click();
      tables[table.id] = [...table.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.dataset.v ?? c.textContent));
    }
    // Pointing at a curve must move the cursors and the animation.
    let linked = null;
    const pointed = plots.find((p) => p.figure.timed);
    if (pointed) {
      const { x: times, y: values } = pointed.gd.data[0], k = times.length >> 1;
      const drag = pointed.gd.querySelector(".nsewdrag"), place = drag.getBoundingClientRect();
      const { xaxis, yaxis } = pointed.gd._fullLayout;
      const [clientX, clientY] = [place.left + xaxis.l2p(times[k]), place.top + yaxis.l2p(values[k])];
      drag.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, view: window, clientX, clientY }));
      await new Promise((next) => setTimeout(next, 200));
      const cursors = plots.filter((p) => p.cursor.style.display === "block").length;
      linked = { t: times[k], now: document.getElementById("now")?.textContent ?? null, cursors };
    }
    const out = document.createElement("script");
    out.type = "application/json";
    out.id = "readback";
    const animated = listeners.map((f) => f.read && f.read()).filter(Boolean)[0] ?? null;
    out.textContent = JSON.stringify({ figures, tables, animated, linked, errors }).replaceAll("<", "\\u003c");
    document.body.appendChild(out);
  }

  root.dataset.theme = isDark() ? "dark" : "light";
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.getElementById("theme").addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    applyTheme(isDark());
  });
  system.addEventListener("change", () => applyTheme(isDark()));
  window.addEventListener("beforeprint", () => applyTheme(false));
  window.addEventListener("afterprint", () => applyTheme(isDark()));

  async function start() {
    if (document.getElementById("data") && typeof DecompressionStream !== "function") {
      warn("This browser is too old to show the figures: it has no DecompressionStream. Use Chrome or Edge 80, Firefox 113, " +
        "Safari 16.4, or later. The text and the tables below are complete.");
      return;
    }
    const data = await load();
    if (data.animation) animate(decode(data.animation), { colour, setTime, listeners });
    await startPlotly();
    // The browser may paint after every figure, so the first can be seen while the others are drawn.
    for (const figure of data.figures) {
      await draw(decode(figure));
      await new Promise((next) => setTimeout(next, 0));
    }
    root.dataset.ready = "yes";
    if (location.hash === "#readback") await readback();
  }
  start().catch((e) => {
    warn("The figures could not be drawn: " + e);
    errors.push(String(e));
    console.error(e);
  });
})();
