// The script of a page: data, figures, theme, time cursor, sortable tables. Nothing is loaded from outside the page.
"use strict";
// One group needs no legend; one class of a map does.
function has_legend(figure) {
  const listed = figure.traces.filter((t) => t.showlegend);
  return listed.length > 1 || listed.some((t) => t.meta?.role === "class");
}
(() => {
  const root = document.documentElement;
  const plots = [];
  const listeners = [];
  const errors = [];
  window.addEventListener("error", (e) => errors.push(String(e.message)));
  document.addEventListener("securitypolicyviolation", (e) => errors.push("blocked: " + e.blockedURI));

  // Data and plotly.js are zlib streams in base 85 (src/pack.rs): five characters, "(" to "|" with "}" for "<", are four bytes.
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

  // Arrays are stored as differences of the bits of successive numbers, by columns of bytes (src/store.rs).
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
  // The text of plotly.js becomes an inline script, which the Content-Security-Policy allows; it runs when it is inserted.
  async function startPlotly() {
    const element = document.getElementById("plotly");
    if (!element) return;
    const script = document.createElement("script");
    script.textContent = textOf(await unpack(element));
    element.replaceWith(script);
  }

  // Shows a message at the top of the page.
  function warn(message) {
    const list = document.createElement("ul"), item = document.createElement("li");
    list.className = "messages warning";
    item.textContent = message;
    list.append(item);
    document.querySelector("main").prepend(list);
  }

  // The theme follows the system until the button is pressed.
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const isDark = () => (chosen ?? (system.matches ? "dark" : "light")) === "dark";
  const colour = (name) => getComputedStyle(root).getPropertyValue("--" + name).trim();
  const axisColours = () => ({ gridcolor: colour("border"), zerolinecolor: colour("faint"), linecolor: colour("faint") });
  const axesOf = (layout) => Object.keys(layout).filter((name) => /^[xy]axis\d*$/.test(name));

  function applyTheme(dark) {
    root.dataset.theme = dark ? "dark" : "light";
    for (const { gd } of plots) {
      const change = {
        "font.color": colour("text"), "hoverlabel.bgcolor": colour("background"), "modebar.color": colour("muted"),
      };
      for (const name of axesOf(gd.layout)) {
        for (const [key, value] of Object.entries(axisColours())) change[name + "." + key] = value;
      }
      Plotly.relayout(gd, change);
    }
    listeners.forEach((f) => f.theme && f.theme());
  }

  function draw(figure) {
    const gd = document.getElementById("fig-" + figure.id);
    if (!gd) return null;
    if (figure.choice) {
      orbit.lists(figure, gd, () => change(figure, gd));
      choose(figure, gd);
    }
    const narrow = window.innerWidth < 600;
    const font = { color: colour("text"), size: narrow ? 11 : 13, family: getComputedStyle(document.body).fontFamily };
    const layout = Object.assign({
      margin: { l: narrow ? 56 : 80, r: narrow ? 10 : 16, t: 8, b: narrow ? 38 : 46 }, hovermode: "closest", font,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: has_legend(figure),
      legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, bargap: 0.05,
      hoverlabel: { bgcolor: colour("background") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("muted"), activecolor: colour("accent") },
    }, figure.layout);
    for (const name of axesOf(layout)) Object.assign(layout[name], axisColours());
    for (const axis of [layout.yaxis, layout.yaxis2]) if (axis?.title) axis.title.standoff = narrow ? 6 : 12;
    if (layout.yaxis2) layout.margin.r = layout.margin.l;
    // Stacked figures share one time axis: equal margins, and labels below the last one only.
    const panel = gd.closest(".stacked > figure");
    if (panel) {
      if (panel.parentElement.querySelector("[data-right-axis]")) layout.margin.r = layout.margin.l;
      if (panel.nextElementSibling) {
        layout.margin.b = 8;
        layout.xaxis.showticklabels = false;
        delete layout.xaxis.title;
      }
    }
    if (layout.showlegend) {
      const length = (trace) => 46 + 0.6 * font.size * trace.name.length;
      const total = figure.traces.filter((t) => t.showlegend).reduce((sum, trace) => sum + length(trace), 0);
      const rows = Math.ceil(total / (gd.clientWidth - layout.margin.l - layout.margin.r));
      gd.style.setProperty("--legend", 24 * rows + "px");
    }
    const config = {
      responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"].concat(figure.dots ? ["autoScale2d"] : []),
      doubleClick: figure.dots ? "reset" : "reset+autosize",
      toImageButtonOptions: { format: "svg", filename: figure.id },
    };
    return Plotly.newPlot(gd, figure.traces, layout, config).then(() => {
      const cursor = document.createElement("div");
      cursor.className = "cursor";
      gd.appendChild(cursor);
      const plot = { gd, cursor, figure };
      plots.push(plot);
      if (figure.timed) linkTimes(plot);
      const drawn = figure.dots ? dots(gd, figure) : null;
      if (figure.rerun) rerun(gd, figure, drawn);
      // A view box lets printed figures scale to the paper.
      const addViewBox = () => gd.querySelectorAll(".main-svg").forEach((svg) => {
        svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
      });
      addViewBox();
      gd.on("plotly_afterplot", addViewBox);
    });
  }

  // The traces and axes of what is chosen in the lists of a figure.
  function choose(figure, gd) {
    const plane = orbit.plane(figure, gd, colour);
    figure.traces = plane.traces;
    for (const axis of ["xaxis", "yaxis"]) figure.layout[axis] = { ...figure.layout[axis], ...plane[axis] };
  }
  function change(figure, gd) {
    choose(figure, gd);
    const layout = { ...gd.layout, showlegend: has_legend(figure) };
    for (const axis of ["xaxis", "yaxis"]) layout[axis] = { ...figure.layout[axis], ...axisColours() };
    Plotly.react(gd, figure.traces, layout);
  }

  // Zooming a time history zooms the others; hovering over one shows that instant in all of them and in the animation.
  let zooming = false;
  function linkTimes(plot) {
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
  function setTime(t, source) {
    now = t;
    showCursor();
    listeners.forEach((f) => f.time && source && f.time(t));
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

  // A click on a column header sorts the table by that column; a second click reverses the order.
  function makeSortable(table) {
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

  // For tests: what toolbars cover, and labels that are cut off.
  function covered() {
    const found = [];
    for (const { gd, figure } of plots) {
      const all = (selector) => [...gd.parentElement.querySelectorAll(selector)].map((e) => e.getBoundingClientRect());
      const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
      const bars = all(".modebar-group, .modebar"), texts = all(".legend .traces, .choice select, .gtitle, .xtitle, .ytitle");
      if (bars.some((bar) => bar.width > 0 && texts.some((text) => text.width > 0 && meet(bar, text)))) found.push(figure.id + ": toolbar");
      const frame = gd.parentElement.getBoundingClientRect();
      const cut = (box) => box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1);
      if (all(".legend .traces, .xtitle, .ytitle, .y2title, .xtick, .ytick").some(cut)) found.push(figure.id + ": label");
    }
    return found;
  }

  // For tests (page.html#readback): writes the contents of the figures and tables of the finished page into an element.
  async function readback() {
    const list = (x) => Array.from(x ?? [], (v) => (Number.isFinite(v) ? v : null));
    const figures = [];
    for (const { gd, figure } of plots) {
      const traces = gd.data.map((t) => ({
        role: t.meta && t.meta.role, name: t.name, axis: t.yaxis, x: list(t.x), y: list(t.y),
      }));
      const { xaxis } = gd._fullLayout;
      const image = window.parent === window ? await Plotly.toImage(gd, { format: "png", width: 700, height: 420 }) : null;
      figures.push({
        id: figure.id, traces, image, rerun: figure.rerun ? gd.pick(0) : null, dots: figure.dots ? figure.dots.map((g) => g.x.length) : null, drawn: gd.querySelectorAll(".trace, .barlayer .point").length,
        timed: figure.timed, range: [...xaxis.range], left: xaxis._offset, width: xaxis._length,
      });
    }
    // Every figure with lists is seen with its last coordinate across.
    const chosen = {};
    for (const { gd, figure } of plots.filter((p) => p.figure.choice)) {
      const [across, up] = gd.parentElement.querySelectorAll("select");
      const seen = () => ({
        across: across.selectedOptions[0].text, up: up.selectedOptions[0].text, partners: [...up.options].map((o) => o.text),
        titles: ["xaxis", "yaxis"].map((axis) => gd._fullLayout[axis].title.text),
        traces: gd.data.map((t) => ({ role: t.meta.role, name: t.name, x: list(t.x), y: list(t.y) })),
        scale: ["xaxis", "yaxis"].map((axis) => gd._fullLayout[axis]._m),
      });
      const first = seen();
      across.selectedIndex = across.options.length - 1;
      across.dispatchEvent(new Event("change"));
      await new Promise((next) => setTimeout(next, 200));
      chosen[figure.id] = [first, seen()];
    }
    const tables = {};
    for (const table of document.querySelectorAll("table[id]")) {
      table.querySelector("th button")?.click();
      tables[table.id] = [...table.tBodies[0].rows].map((r) => [...r.cells].map((c) => c.dataset.v ?? c.textContent));
    }
    // Hovering over a curve must move the cursors and the animation.
    let linked = null;
    const hovered = plots.find((p) => p.figure.timed);
    if (hovered) {
      const { x: times, y: values } = hovered.gd.data[0], k = times.length >> 1;
      const drag = hovered.gd.querySelector(".nsewdrag"), place = drag.getBoundingClientRect();
      const { xaxis, yaxis } = hovered.gd._fullLayout;
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
    const size = { window: window.innerWidth, width: root.clientWidth, content: root.scrollWidth, covered: covered() };
    out.textContent = JSON.stringify({ figures, chosen, tables, animated, linked, size, errors }).replaceAll("<", "\\u003c");
    document.body.appendChild(out);
    // In a frame, which has the width of a telephone, the page around it takes the answer.
    if (window.parent !== window) window.parent.postMessage(out.textContent, "*");
  }

  root.dataset.theme = isDark() ? "dark" : "light";
  document.querySelectorAll("table.sortable").forEach(makeSortable);
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
    // The browser may paint after each figure, so the first ones can be seen while the others are drawn.
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
