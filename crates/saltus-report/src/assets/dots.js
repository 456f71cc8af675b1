// Very many dots, on a canvas over the plot that follows its axes: the page's policy leaves no way to the graphics card.
"use strict";
function dots(gd, figure) {
  const groups = figure.dots;
  const canvas = document.createElement("canvas");
  canvas.className = "dots";
  gd.append(canvas);
  const axes = (group) => [gd._fullLayout.xaxis, gd._fullLayout["yaxis" + (group.axis === "y" ? "" : group.axis.slice(1))]];
  // From a value to a pixel of an axis: p = a + b·value, of its logarithm on a logarithmic axis.
  function scale(axis, upwards) {
    const [from, to] = axis.range, length = axis._length, b = length / (to - from);
    return upwards ? [axis._offset + length + from * b, -b] : [axis._offset - from * b, b];
  }
  const linear = (axis) => (axis.type === "log" ? Math.log10 : (x) => x);
  const places = (group) => {
    const [x, y] = axes(group), [ax, bx] = scale(x, false), [ay, by] = scale(y, true), lx = linear(x), ly = linear(y);
    return [(k) => ax + bx * lx(group.x[k]), (k) => ay + by * ly(group.y[k]), x, y];
  };
  const visible = (group) => gd._fullData.find((t) => t.meta?.dots === group.id)?.visible !== "legendonly";
  function draw() {
    const ratio = window.devicePixelRatio || 1, width = gd.clientWidth, height = gd.clientHeight;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    for (const group of groups) {
      if (!visible(group)) continue;
      const [px, py, x, y] = places(group);
      const [left, top, right, bottom] = [x._offset, y._offset, x._offset + x._length, y._offset + y._length];
      // Dots grow as fewer of them are in view.
      let inside = 0;
      for (let k = 0; k < group.x.length; k += 7) {
        const a = px(k), b = py(k);
        if (a >= left && a <= right && b >= top && b <= bottom) inside++;
      }
      const full = inside > 8000 ? 1.1 : inside > 1500 ? 1.6 : inside > 200 ? 2.4 : 3.4;
      // What is drawn last is smaller where it would hide the same dots of another group.
      const size = group.open ? Math.max(0.6 * full, 0.9) : full, half = size / 2;
      pen.fillStyle = group.color;
      for (let k = 0; k < group.x.length; k++) {
        const a = px(k), b = py(k);
        if (a >= left && a <= right && b >= top && b <= bottom) pen.fillRect(a - half, b - half, size, size);
      }
    }
  }
  // The dot next to a place, as plotly.js would describe it; none if it is not near.
  function nearest(event) {
    const box = gd.getBoundingClientRect(), cx = event.clientX - box.left, cy = event.clientY - box.top;
    let best = null, least = 14 * 14;
    for (const group of groups.filter(visible)) {
      const [px, py] = places(group);
      for (let k = 0; k < group.x.length; k++) {
        const d = (px(k) - cx) ** 2 + (py(k) - cy) ** 2;
        if (d < least) [least, best] = [d, { group, k }];
      }
    }
    return best && described(best);
  }
  const described = ({ group, k }) => ({
    x: group.x[k], y: group.y[k], customdata: group.key[k], yaxis: { _id: group.axis },
    data: { name: group.name, showlegend: group.name !== "" },
  });
  draw();
  gd.on("plotly_afterplot", draw);
  return { nearest, pick: (k) => described({ group: groups[0], k }) };
}
