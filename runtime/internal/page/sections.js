// The sections above and below the schedule.
const wide = Math.max(340, Math.min(900, page.node().clientWidth));  // of charts, so that their text stays readable
const causes = [["busy", "in kernels", "#4c72b0"], ["data", "waits for tiles", "#dd8452"], ["ready", "other tasks ready", "#8c8c8c"],
  ["dependences", "dependences", "#c44e52"], ["insertion", "not inserted yet", "#8172b3"], ["end", "no task left", "#ccb974"]];

function drawHead() {
  page.append("h1").text(data.title);
  const status = report.status, line = page.append("p");
  if (status !== undefined) line.append("span").attr({ class: "status " + (status.startsWith("ok") ? "good" : "bad"), id: "status" }).text(status);
  line.append("span").attr("class", "faint").text([report.command && " tesela " + report.command, report.version && "version " + report.version].filter(Boolean).join(", "));
  const busy = d3.sum(summary.workers, w => w.busy), workers = summary.workers.filter(w => w.tasks > 0).length;
  const figures = [["tasks", tasks.count], ["run", tasks.count > 0 ? duration(span) : "–"], ["workers busy", percent(busy / (span * Math.max(1, workers)))],
    ["of the estimated bound", summary.lower_bound > 0 ? digits(span / summary.lower_bound) + " ×" : "–"]];
  if (report.gflops) figures.push(["GFLOP/s", digits(report.gflops, 4)]);
  const moved = d3.sum(data.memory.links, l => l.bytes);
  if (moved > 0) figures.push(["moved", bytes(moved)]);
  page.append("ul").attr("class", "figures").selectAll("li").data(figures).enter().append("li")
    .each(function (f) { d3.select(this).append("b").text(f[1]); d3.select(this).append("span").attr("class", "faint").text(f[0]); });
}

function drawReport() {
  const columns = page.append("div").attr("class", "columns");
  const pairs = (name, object) => {
    const rows = Object.entries(object || {}).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0));
    if (rows.length) table(section(name, columns), [["", r => r[0].replace(/_/g, " ")], ["", r => shown(r[1])]], rows).select("thead").remove();
  };
  pairs("Problem", report.problem);
  const checks = Object.entries(report.checks || {});
  if (checks.length || report.notes) {
    const here = section("Checks", columns);
    for (const note of report.notes || []) here.append("p").text(note);
    if (checks.length) table(here, [["check", c => c[0]], ["measured", c => shown(c[1]), true], ["limit", c => shown((report.limits || {})[c[0]]), true],
      ["", c => { const limit = (report.limits || {})[c[0]]; return limit === undefined ? "" : c[1] <= limit ? "good" : "too large"; }]], checks);
  }
  pairs("Machine", report.machine);
  pairs("Times in seconds", report.seconds);
  pairs("Counts", Object.fromEntries(Object.entries(report.counts || {}).filter(([, value]) => typeof value !== "object")));
  pairs("Energy", report.energy);
  pairs("Files", report.written && Object.fromEntries(report.written.map(f => [f.file, f.contents || "written"])));
}

function drawWorkers() {
  const here = section("Idle time");
  if (tasks.count === 0) return here.append("p").text("No task was recorded.");
  const workers = summary.workers.filter(w => w.tasks > 0), all = causes.map(([key, name, color]) => ({ key, name, color, seconds: d3.sum(workers, w => w[key]) }));
  const total = span * workers.length, height = Math.max(8, Math.min(22, 480 / workers.length)), left = 96, x = d3.scale.linear().domain([0, span]).range([left, wide - 20]);
  const svg = here.append("figure").append("svg").attr({ viewBox: `0 0 ${wide} ${height * workers.length + 4}`, role: "img", "aria-label": "Time of each worker by cause" });
  workers.forEach((w, row) => {
    let from = 0;
    if (height >= 12 || row % 2 === 0) svg.append("text").attr({ x: left - 6, y: height * (row + 0.5) + 4, "text-anchor": "end" }).text(w.name);
    for (const { key, name, color } of all) {
      if (!(w[key] > 0)) continue;
      svg.append("rect").attr({ x: x(from), y: height * row + 1, width: Math.max(0.2, x(from + w[key]) - x(from)), height: height - 2, fill: color }).append("title").text(`${w.name}: ${name} ${duration(w[key])}`);
      from += w[key];
    }
  });
  table(here, [["cause", c => c.name, false, (cell, c) => { cell.text(c.name); swatch(cell, c.color); }], ["time of all workers", c => duration(c.seconds), true], ["share", c => percent(c.seconds / total), true]], all);
}

function drawKernels() {
  const here = section("Kernels");
  table(here, [["kernel", k => k.kernel, false, (cell, k) => { cell.text(k.kernel); swatch(cell, colorOf(k.kernel)); }], ["ran on", k => k.place], ["tasks", k => k.tasks, true],
    ["median", k => duration(k.median), true], ["sum", k => duration(k.seconds), true], ["share", k => percent(k.share), true], ["GFLOP/s", k => k.gflops > 0 ? digits(k.gflops) : "–", true]], summary.kernels)
    .attr("id", "kernel-table");
}

function drawModels() {
  const here = section("Models against measured times"), most = 40;
  here.append("p").attr("class", "faint").text("Line: from the fastest to the slowest task. Dot: median. Diamond: the time that the performance model expected. Logarithmic scale."
    + (summary.models.length > most ? ` The ${most} kinds of task with the most time.` : ""));
  const rows = summary.models.slice().sort((a, b) => b.tasks * b.median - a.tasks * a.median).slice(0, most);
  if (rows.length === 0) return;
  const x = d3.scale.log().domain([d3.min(rows, r => Math.min(r.least, r.model || Infinity)), d3.max(rows, r => Math.max(r.most, r.model))]).range([8, 212]);
  const draw = (cell, r) => {
    const svg = cell.append("svg").attr({ viewBox: "0 0 220 18", role: "img", "aria-label": `${duration(r.least)} to ${duration(r.most)}` });
    svg.append("line").attr({ x1: x(r.least), x2: x(r.most), y1: 9, y2: 9, stroke: colorOf(r.kernel), "stroke-width": 3 });
    svg.append("circle").attr({ cx: x(r.median), cy: 9, r: 4.5, fill: colorOf(r.kernel) });
    if (r.model > 0) svg.append("path").attr({ d: d3.svg.symbol().type("diamond").size(52)(), transform: `translate(${x(r.model)},9)`, fill: "none", stroke: "currentColor", "stroke-width": 1.6 });
  };
  table(here, [["kernel", r => r.kernel, false, (cell, r) => { cell.text(r.kernel); swatch(cell, colorOf(r.kernel)); }], ["tiles", r => r.tiles.length > 60 ? r.tiles.slice(0, 57) + "…" : r.tiles], ["on", r => r.place],
    ["tasks", r => r.tasks, true], ["model", r => r.model > 0 ? duration(r.model) : "–", true], ["median", r => duration(r.median), true], ["ratio", r => r.model > 0 ? digits(r.median / r.model) : "–", true], ["", null, false, draw]], rows);
}

/// Returns the number of tasks on the longest path to each task.
function levels() {
  const level = new Uint32Array(tasks.count), order = d3.range(tasks.count).sort((a, b) => (begins(a) + lasts(a)) - (begins(b) + lasts(b)));
  for (const t of order) for (const p of predecessors(t)) level[t] = Math.max(level[t], level[p] + 1);
  return level;
}

function drawGraph(schedule) {
  const here = section("Graph"), level = levels(), depth = 1 + (d3.max(level) || 0);
  if (tasks.count === 0) return here.append("p").text("No task was recorded.");
  here.append("p").attr("class", "faint").text(`${tasks.count} tasks, ${tasks.edges.length} dependences, ${depth} levels: the level of a task is the length of the longest path to it.`);
  if (tasks.count <= 400) return drawNodes(here, level, depth, schedule);
  const together = Math.ceil(depth / 200), counts = d3.range(Math.ceil(depth / together)).map(() => kernels.map(() => 0));
  for (let t = 0; t < tasks.count; ++t) ++counts[Math.floor(level[t] / together)][tasks.kernel[t]];
  const x = d3.scale.linear().domain([0, depth]).range([50, wide - 10]), y = d3.scale.linear().domain([0, d3.max(counts, c => d3.sum(c))]).range([230, 10]);
  const svg = here.append("figure").append("svg").attr({ viewBox: `0 0 ${wide} 262`, role: "img", "aria-label": "Tasks of each kernel at each level" });
  counts.forEach((count, k) => {
    let sum = 0;
    count.forEach((n, kernel) => {
      if (n) svg.append("rect").attr({ x: x(k * together), width: 0.92 * (x(together) - x(0)), y: y(sum + n), height: y(sum) - y(sum + n), fill: kernels[kernel].color })
        .append("title").text(`${kernels[kernel].name}: ${n} at level ${k * together}` + (together > 1 ? ` to ${(k + 1) * together - 1}` : ""));
      sum += n;
    });
  });
  axes(svg, x, y, 230, 50, "level", "tasks");
}

function drawNodes(here, level, depth, schedule) {
  const rows = d3.range(depth).map(() => []);
  for (let t = 0; t < tasks.count; ++t) rows[level[t]].push(t);
  const widest = d3.max(rows, r => r.length), width = wide, step = Math.max(26, Math.min(60, 700 / depth)), height = step * depth + 10, px = new Float64Array(tasks.count);
  for (const row of rows) {  // in the order of their predecessors' means
    const mean = t => { const p = predecessors(t); return p.length ? d3.mean(p, q => px[q]) : begins(t) / span * width; };
    const means = new Map(row.map(t => [t, mean(t)]));
    row.sort((a, b) => means.get(a) - means.get(b) || a - b).forEach((t, k) => { px[t] = width * (k + 0.5) / row.length; });
  }
  const y = t => step * (level[t] + 0.5) + 5, size = Math.max(3, Math.min(9, 400 / widest, step / 3));
  const svg = here.append("figure").append("svg").attr({ viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Graph of ${tasks.count} tasks` });
  const path = new Set(d3.range(tasks.path.length - 1).map(k => tasks.path[k] + ">" + tasks.path[k + 1]));
  for (let t = 0; t < tasks.count; ++t) for (const p of predecessors(t)) {
    const critical = path.has(p + ">" + t);
    svg.append("line").attr({ x1: px[p], y1: y(p), x2: px[t], y2: y(t), stroke: critical ? "var(--path)" : "var(--faint)", "stroke-opacity": critical ? 1 : 0.35, "stroke-width": critical ? 2 : 1 });
  }
  svg.selectAll("circle").data(d3.range(tasks.count)).enter().append("circle").attr({ cx: t => px[t], cy: y, r: size, fill: t => kernels[tasks.kernel[t]].color }).style("cursor", "pointer")
    .on("click", t => schedule.select(t)).append("title").text(t => `${title(t)}, task ${tasks.id[t]}: ${duration(lasts(t))}`);
}

function axes(svg, x, y, bottom, left, below, beside, format) {
  svg.append("g").attr({ class: "axis", transform: `translate(0,${bottom})` }).call(d3.svg.axis().scale(x).orient("bottom").ticks(wide / 110).outerTickSize(0));
  svg.append("g").attr({ class: "axis", transform: `translate(${left},0)` }).call(d3.svg.axis().scale(y).orient("left").ticks(5).outerTickSize(0).tickFormat(format || null));
  svg.append("text").attr({ x: wide - 10, y: bottom + 30, "text-anchor": "end" }).text(below);
  svg.append("text").attr({ x: left + 8, y: 12 }).text(beside);
}

function drawMemory() {
  const here = section("Memory and transfers"), memory = data.memory, colors = d3.scale.category10();
  if (memory.links.length) table(here, [["from", l => l.from], ["to", l => l.to], ["transfers", l => l.transfers, true], ["bytes", l => bytes(l.bytes), true], ["mean rate", l => bytes(l.bytes / span) + "/s", true]], memory.links);
  else here.append("p").text("No bytes moved between memories.");
  const chart = (name, series, beside) => {
    const lines = series.filter(s => d3.max(s.values) > 0);
    if (lines.length === 0 || memory.seconds.length < 2) return;
    const unit = span < 2e-3 ? [1e6, "µs"] : span < 2 ? [1e3, "ms"] : [1, "s"];
    const x = d3.scale.linear().domain([0, span * unit[0]]).range([64, wide - 10]), y = d3.scale.linear().domain([0, d3.max(lines, s => d3.max(s.values))]).range([170, 20]);
    const figure = here.append("figure"), svg = figure.append("svg").attr({ viewBox: `0 0 ${wide} 206`, role: "img", "aria-label": name });
    const inside = s => Math.max(0, Math.min(span, s)) * unit[0];
    const line = d3.svg.line().interpolate("step-after").x((v, k) => x(inside(memory.seconds[k]))).y(v => y(v));
    lines.forEach((s, k) => svg.append("path").attr({ d: line(s.values), fill: "none", stroke: colors(k), "stroke-width": 2 }).append("title").text(s.name));
    axes(svg, x, y, 170, 64, `time (${unit[1]})`, beside, bytes);
    const list = figure.append("ul").attr("class", "legend").selectAll("li").data(lines).enter().append("li").text(s => s.name);
    list.each(function (s, k) { swatch(d3.select(this), colors(k)); });
  };
  chart("Memory over time", memory.names.map((name, k) => ({ name, values: memory.used.map(u => u[k] || 0) })), "bytes that StarPU holds");
  chart("Transfers over time", memory.links.map((l, k) => ({ name: `${l.from} → ${l.to}`, values: memory.moved.map(m => m[k] || 0) })), "bytes moved since the start");
  if (memory.seconds.length === 0) here.append("p").attr("class", "faint").text("This record has no memory over time.");
}

function drawBounds() {
  const here = section("Bounds"), rows = [["longest path, each task on its fastest kind of worker", summary.path_bound], ["all work, divided over the workers", summary.area_bound],
    ["critical path, with the measured times", summary.path_seconds], ["run", span]];
  const x = d3.scale.linear().domain([0, d3.max(rows, r => r[1]) || 1]).range([0, 200]);
  table(here, [["bound", r => r[0]], ["time", r => duration(r[1]), true], ["", null, false, (cell, r) => cell.append("svg").attr("viewBox", "0 0 200 14").append("rect").attr({ y: 2, width: x(r[1]), height: 10, fill: r[0] === "run" ? "#8c8c8c" : "#4c72b0" })]], rows).attr("id", "bound-table");
  here.append("p").attr("class", "faint").text("If each task took the mean time of its kernel so far, no schedule on these workers would be shorter than the larger of the first two. A run can be a little faster."
    + (summary.unmodelled ? ` ${summary.unmodelled} tasks have no performance model; the median of this run replaces it.` : ""));
}

drawHead();
const schedule = drawSchedule();
drawWorkers();
drawKernels();
drawModels();
drawGraph(schedule);
drawMemory();
drawBounds();
drawReport();
window.teselaReport = { data, tasks, schedule };  // for tests
document.documentElement.dataset.ready = "yes";
