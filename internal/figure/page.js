"use strict";
// The picture answers under the pointer, and to the arrow keys of the slider. A line that is
// an upper bound is read rounded up, a lower bound rounded down.
const data = JSON.parse(document.getElementById("data").textContent);
const svg = document.querySelector("svg"), cursor = document.querySelector(".cursor"), slider = document.querySelector("input");
const where = document.getElementById("where"), cells = document.querySelectorAll("td.value");
const {x: xAxis, y: yAxis, box} = data, rows = yAxis.names;
const scale = (a, v) => a.log ? Math.log(v) : v;
const place = (a, v) => (scale(a, v) - scale(a, a.min)) / (scale(a, a.max) - scale(a, a.min));
function at(a, t) {
  const v = scale(a, a.min) + t * (scale(a, a.max) - scale(a, a.min));
  return a.log ? Math.exp(v) : v;
}
function text(v, bound) {
  if (v === 0 || !isFinite(v)) return String(v);
  let s = v.toPrecision(5);
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(v))) - 4);
  for (let i = 0; i < 3 && (bound > 0 && Number(s) < v || bound < 0 && Number(s) > v); i++) s = (Number(s) + bound * unit).toPrecision(5);
  const n = Number(s);
  return Math.abs(n) < 1e-3 || Math.abs(n) >= 1e6 ? n.toExponential() : String(n);
}
// value is what the line of a band is at x: the outermost where it jumps.
function value(band, x) {
  let found = null;
  const take = (v) => { if (found === null || (band.bound === "lower" ? v < found : v > found)) found = v; };
  const line = band.line, last = line[line.length - 1];
  // An upper bound that has left the picture at its lower edge stays below it.
  if (band.bound === "upper" && yAxis.log && last && x > last[0] && last[1] === yAxis.min) return yAxis.min;
  for (let i = 0; i < line.length; i++) {
    if (line[i][0] === x) take(line[i][1]);
    if (i === 0) continue;
    const [a, b] = [line[i - 1], line[i]];
    if (!(a[0] < x && x < b[0])) continue;
    const t = (scale(xAxis, x) - scale(xAxis, a[0])) / (scale(xAxis, b[0]) - scale(xAxis, a[0]));
    const v = scale(yAxis, a[1]) + t * (scale(yAxis, b[1]) - scale(yAxis, a[1]));
    take(yAxis.log ? Math.exp(v) : v);
  }
  return found;
}
const sign = {upper: "≤ ", lower: "≥ ", "": ""}, side = {upper: 1, lower: -1, "": 0};
function read() {
  if (data.field) {
    const cell = data.field[Number(slider.value)];
    cursor.style.visibility = "visible";
    ["x", "y", "width", "height"].forEach((name, i) => cursor.setAttribute(name, cell.box[i]));
    where.textContent = cell.text;
    slider.setAttribute("aria-valuetext", cell.text);
    return;
  }
  const t = Number(slider.value) / Number(slider.max);
  cursor.style.visibility = "visible";
  if (rows) {
    const r = rows.length - 1 - Number(slider.value), y = box.top + (1 - place(yAxis, r)) * box.height;
    cursor.setAttribute("x1", box.left); cursor.setAttribute("x2", box.left + box.width);
    cursor.setAttribute("y1", y); cursor.setAttribute("y2", y);
    const band = data.bands.find((b) => b.line.length && b.line[0][1] === r), values = [];
    for (const [i, [v]] of band ? band.line.entries() : []) {
      const s = band.line.length > 1 && i === 0 ? -1 : side[band.bound];
      values.push((band.line.length > 1 ? "" : sign[band.bound]) + text(v, s));
    }
    where.textContent = `${rows[r]}: ${values.join(" … ") || "–"} (${xAxis.label})`;
    slider.setAttribute("aria-valuetext", where.textContent);
    return;
  }
  let x = at(xAxis, t);
  if (xAxis.whole) x = Math.round(x);
  const px = box.left + place(xAxis, x) * box.width;
  cursor.setAttribute("x1", px); cursor.setAttribute("x2", px);
  cursor.setAttribute("y1", box.top); cursor.setAttribute("y2", box.top + box.height);
  where.textContent = `${xAxis.label} = ${text(x, 0)}`;
  const said = [where.textContent];
  data.bands.forEach((b, i) => {
    if (!cells[i]) return;
    const v = b.marks ? null : value(b, x), s = side[b.bound];
    cells[i].textContent = v === null ? "–" : sign[b.bound] + text(s ? v * (1 + s * Math.sign(v) * 1e-9) : v, s);
    if (v !== null && b.name) said.push(`${b.name}: ${cells[i].textContent}`);
  });
  slider.setAttribute("aria-valuetext", said.join("; "));
}
slider.addEventListener("input", read);
svg.addEventListener("pointermove", (e) => {
  const r = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
  const px = (e.clientX - r.left) / r.width * view.width, py = (e.clientY - r.top) / r.height * view.height;
  if (data.field) {
    const i = data.field.findIndex(({box: [x, y, w, h]}) => px >= x && px < x + w && py >= y && py < y + h);
    if (i >= 0) slider.value = i;
    read();
    return;
  }
  const t = rows ? (py - box.top) / box.height : (px - box.left) / box.width;
  const v = rows ? Math.floor(t * rows.length) : Math.round(t * Number(slider.max));
  slider.value = Math.min(Math.max(v, 0), Number(slider.max));
  read();
});
read();
