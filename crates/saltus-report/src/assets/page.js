// The page's own script: figures, theme, cursor, sortable tables. Nothing is loaded from anywhere.
"use strict";
const Saltus = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const plots = [];
  const listeners = [];
  const errors = [];
  window.addEventListener("error", (e) => errors.push(String(e.message)));
  document.addEventListener("securitypolicyviolation", (e) => errors.push("blocked: " + e.blockedURI));

  // Arrays come as base64 of their bytes.
  function decode(value) {
    if (Array.isArray(value)) return value.map(decode);
    if (value === null || typeof value !== "object") return value;
    for (const [key, type] of [["f64", Float64Array], ["f32", Float32Array]]) {
      if (typeof value[key] === "string") {
        const text = atob(value[key]);
        const bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
        return new type(bytes.buffer);
      }
    }
    for (const key of Object.keys(value)) value[key] = decode(value[key]);
    return value;
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

  const animation = decode(data.animation);
  root.dataset.theme = isDark() ? "dark" : "light";
  document.querySelectorAll("table.sortable").forEach(sortable);
  document.getElementById("theme").addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    applyTheme(isDark());
  });
  system.addEventListener("change", () => applyTheme(isDark()));
  window.addEventListener("beforeprint", () => applyTheme(false));
  window.addEventListener("afterprint", () => applyTheme(isDark()));
  // One figure a turn, so that the first are seen while the others are made.
  (async () => {
    for (const figure of data.figures) {
      await draw(decode(figure));
      await new Promise((next) => setTimeout(next, 0));
    }
    root.dataset.ready = "yes";
    if (location.hash === "#readback") await readback();
  })().catch((e) => { errors.push(String(e)); console.error(e); });
  return { animation, colour, setTime, listeners };
})();
