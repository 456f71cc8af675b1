// The command that runs a point of a figure again: shown below the figure for the point under the pointer, copied by a click.
"use strict";
function rerun(gd, figure, drawn) {
  const { command, stride, cells, names, classes } = figure.rerun;
  const line = document.createElement("code");
  line.className = "rerun";
  line.textContent = "Point at the figure: its values and the command that runs this motion again appear here; a click copies the command.";
  gd.parentElement.insertBefore(line, gd.parentElement.querySelector("figcaption"));
  // Seventeen digits are the number itself.
  const exact = (x) => String(Number(x));
  const short = (x) => String(Number(Number(x).toPrecision(6)));
  function of(point) {
    const [row, column] = stride === null ? [] : point.pointNumber;
    const key = stride === null ? point.customdata : cells[0][column] * stride + cells[1][row];
    const centres = point.data.meta?.centres;
    const [x, y] = centres ? [centres[0][column], centres[1][row]] : [point.x, point.y];
    const names_y = point.yaxis && names[Number(point.yaxis._id.slice(1) || 1)];
    const values = [`${names[0]} = ${short(x)}`, `${names_y} = ${short(y)}`];
    if (point.z !== undefined && point.z !== null) values.push(classes.length ? classes[point.z] : short(point.z));
    else if (point.data.name && point.data.showlegend) values.push(point.data.name);
    const filled = command.replaceAll("{key}", exact(key)).replaceAll("{x}", exact(x)).replaceAll("{y}", exact(y));
    return { values: values.join(", "), command: filled };
  }
  let last = null;
  function show({ values, command: text }, copied) {
    last = text;
    line.replaceChildren(document.createTextNode(values), document.createElement("br"), document.createTextNode(text + " "));
    if (copied) {
      const mark = document.createElement("b");
      mark.textContent = "copied";
      line.append(mark);
    }
  }
  // Where the browser gives pages in files no clipboard, an invisible text is selected and copied.
  function copy(text) {
    const by_hand = () => {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    };
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(by_hand);
    else by_hand();
  }
  if (drawn) {
    gd.addEventListener("mousemove", (e) => {
      const point = drawn.nearest(e);
      if (point) show(of(point), false);
    });
    gd.addEventListener("click", (e) => {
      const point = drawn.nearest(e);
      if (!point) return;
      copy(of(point).command);
      show(of(point), true);
    }, true);
  }
  gd.on("plotly_hover", (e) => e.points.length && show(of(e.points[0]), false));
  gd.on("plotly_click", (e) => {
    if (!e.points.length) return;
    const found = of(e.points[0]);
    copy(found.command);
    show(found, true);
  });
  line.addEventListener("click", () => last && copy(last));
  // For tests: what is shown for a point of the first trace.
  gd.pick = (k) => {
    if (drawn) return of(drawn.pick(k));
    const data = gd.data.find((t) => t.meta && (t.meta.role === "dots" || t.meta.role === "map"));
    if (!data) return null;
    const map = data.meta.role === "map";
    return of({
      data, x: data.x[k], y: data.y[k], z: map ? data.z[k][k] : undefined, yaxis: { _id: data.yaxis ?? "y" },
      customdata: data.customdata && data.customdata[k], pointNumber: map ? [k, k] : k,
    });
  };
}
