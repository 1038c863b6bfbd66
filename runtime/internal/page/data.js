"use strict";
// The data of the page, and small helpers. D3 is version 3.
const data = JSON.parse(document.getElementById("data").textContent);
const summary = data.summary, report = data.report, kernels = data.kernels;

/// Returns a typed array: the text is the bytes of each number, 1, 2 or 4, then all of them in base 64.
function unpack(text) {
  const raw = atob(text.slice(1)), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; ++k) bytes[k] = raw.charCodeAt(k);
  return new { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[text[0]](bytes.buffer);
}

/// The tasks in order of their start, as typed arrays; start and length in ticks of `unit` seconds.
const tasks = { count: data.tasks.count, unit: data.tasks.unit };
for (const name of ["start", "length", "waited", "fetched", "id", "kind", "worker", "priority", "before", "edges", "path"]) tasks[name] = unpack(data.tasks[name]);
const kinds = data.tasks.kinds.map(([kernel, tiles, gflop]) => ({ kernel, tiles, gflop })), priorities = data.tasks.priorities;
tasks.kernel = Uint16Array.from(tasks.kind, kind => kinds[kind].kernel);
tasks.labels = data.tasks.labels ? data.tasks.labels.split("\n") : null;
tasks.first = new Uint32Array(tasks.count + 1);
const distance = tasks.edges;  // of each predecessor from its task
tasks.edges = new Uint32Array(distance.length);
for (let t = 0; t < tasks.count; ++t) {
  tasks.first[t + 1] = tasks.first[t] + tasks.before[t];
  for (let e = tasks.first[t]; e < tasks.first[t + 1]; ++e) tasks.edges[e] = t - distance[e];
}
data.tasks = null;
const span = Math.max(summary.seconds, 1e-9);
const begins = t => tasks.start[t] * tasks.unit, lasts = t => tasks.length[t] * tasks.unit;
const predecessors = t => tasks.edges.subarray(tasks.first[t], tasks.first[t + 1]);
const label = t => (tasks.labels && tasks.labels[t]) || "";
const title = t => kernels[tasks.kernel[t]].name + (label(t) ? " " + label(t) : "");

function successors(t) {
  const found = [];
  for (let s = 0; s < tasks.count; ++s)
    for (let e = tasks.first[s]; e < tasks.first[s + 1]; ++e) if (tasks.edges[e] === t) found.push(s);
  return found;
}

const digits = (value, count = 3) => Number(value.toPrecision(count)).toString();
const duration = s => s < 1e-3 ? digits(s * 1e6) + " µs" : s < 1 ? digits(s * 1e3) + " ms" : digits(s) + " s";
const percent = part => digits(100 * part, 3) + " %";
function bytes(b) {
  for (const [unit, size] of [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) if (b >= size) return digits(b / size) + " " + unit;
  return digits(b) + " B";
}
const shown = value => value === null || value === undefined ? "–" : typeof value === "number" ? (Number.isInteger(value) ? String(value) : digits(value, 5))
  : Array.isArray(value) ? value.map(shown).join(", ") : typeof value === "object" ? Object.entries(value).map(([k, v]) => k + " " + shown(v)).join(", ") : String(value);

const page = d3.select("#page");
const section = (name, parent = page) => {
  const made = parent.append("section").attr("id", name.toLowerCase().replace(/[^a-z]+/g, "-"));
  made.append("h2").text(name);
  return made;
};

/// Appends a table: columns are [title, text of a row, whether it is a number, HTML instead of text].
function table(parent, columns, rows) {
  const made = parent.append("div").attr("class", "scroll").append("table");
  made.append("thead").append("tr").selectAll("th").data(columns).enter().append("th").attr("scope", "col")
    .classed("n", c => c[2]).text(c => c[0]);
  made.append("tbody").selectAll("tr").data(rows).enter().append("tr").each(function (row) {
    for (const [, text, number, draw] of columns) {
      const cell = d3.select(this).append("td").classed("n", number);
      if (draw) draw(cell, row); else cell.text(text(row));
    }
  });
  return made;
}

function swatch(cell, color) {
  const made = document.createElement("span");
  made.className = "swatch";
  made.style.background = color;
  cell.node().insertBefore(made, cell.node().firstChild);
}
const colorOf = name => (kernels.find(k => k.name === name) || { color: "#8c8c8c" }).color;
/// Returns the value of a colour of page.css.
const ink = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
