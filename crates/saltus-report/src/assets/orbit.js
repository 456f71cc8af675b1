// The orbit in the plane of two coordinates, chosen in two lists, with the curves on which gaps vanish.
"use strict";
const orbit = {
  // Fills the lists; coordinates of the same unit can be paired. Calls `changed` after a choice.
  lists(figure, gd, changed) {
    const { coordinates, pair } = figure.choice;
    const [across, up] = gd.parentElement.querySelectorAll("select");
    const text = (html) => new DOMParser().parseFromString(html, "text/html").documentElement.textContent;
    const fill = (select, indices, chosen) => {
      select.replaceChildren(...indices.map((k) => new Option(text(coordinates[k].name), k, false, k === chosen)));
    };
    const all = coordinates.map((_, k) => k);
    const partners = (i) => all.filter((k) => k !== i && coordinates[k].unit === coordinates[i].unit);
    fill(across, all, pair[0]);
    fill(up, partners(pair[0]), pair[1]);
    across.addEventListener("change", () => {
      const i = Number(across.value), old = Number(up.value), others = partners(i);
      fill(up, others, others.includes(old) ? old : others[0]);
      changed();
    });
    up.addEventListener("change", changed);
  },

  // The traces and the axes for the coordinates that are chosen.
  plane(figure, gd, colour) {
    const { coordinates, curves, stops } = figure.choice;
    const [i, j] = [...gd.parentElement.querySelectorAll("select")].map((s) => Number(s.value));
    const [x, y] = [coordinates[i].x, coordinates[j].x];
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    const include = (x, y) => {
      for (let k = 0; k < x.length; k++) {
        if (!Number.isFinite(x[k]) || !Number.isFinite(y[k])) continue;
        box[0] = Math.min(box[0], x[k]); box[1] = Math.min(box[1], y[k]);
        box[2] = Math.max(box[2], x[k]); box[3] = Math.max(box[3], y[k]);
      }
    };
    include(x, y);
    const reach = 4 * Math.max(box[2] - box[0], box[3] - box[1]);
    const ends = (k) => [box[k] - reach, box[k + 2] + reach];
    const named = new Set();
    const wall = (name, x, y) => {
      const listed = !named.has(name);
      named.add(name);
      return {
        type: "scatter", mode: "lines", name, x, y, meta: { role: "wall" }, legendgroup: name, showlegend: listed,
        line: { color: colour("wall"), width: 2.5 }, hoverinfo: "name",
      };
    };
    const traces = [];
    const [lineX, lineY] = [ends(0), ends(1)];
    for (const stop of stops) {
      if (stop.i === i) traces.push(wall(stop.name, [stop.at, stop.at], lineY));
      if (stop.i === j) traces.push(wall(stop.name, lineX, [stop.at, stop.at]));
    }
    for (const curve of curves) {
      const swapped = curve.i === j && curve.j === i;
      if (!swapped && !(curve.i === i && curve.j === j)) continue;
      const [cx, cy] = swapped ? [curve.y, curve.x] : [curve.x, curve.y];
      if (curve.closed) include(cx, cy);
      traces.push(wall(curve.name, cx, cy));
    }
    const name = coordinates[i].name + ", " + coordinates[j].name;
    traces.push({
      type: "scatter", mode: "lines", name, x, y, meta: { role: "orbit" }, showlegend: true, line: { color: "#2f7ed8", width: 1.1 },
    });
    const title = ({ name, unit }) => ({ text: unit ? `${name} (${unit})` : name, standoff: 12 });
    const margin = 0.06 * Math.max(box[2] - box[0], box[3] - box[1]) || 1;
    return {
      traces,
      xaxis: { title: title(coordinates[i]), range: [box[0] - margin, box[2] + margin] },
      yaxis: { title: title(coordinates[j]), range: [box[1] - margin, box[3] + margin], scaleanchor: "x" },
    };
  },
};
