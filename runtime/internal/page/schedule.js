// The schedule: a row for each worker on a canvas, zoomed and searched.
function drawSchedule() {
  const here = section("Schedule");
  const used = summary.workers.map((w, k) => k).filter(k => summary.workers[k].tasks > 0);
  if (tasks.count === 0) { here.append("p").text("No task was recorded."); return { select() {} }; }
  here.append("p").attr("class", "faint").text(`${tasks.count} tasks in ${duration(span)} on ${used.length} of ${summary.workers.length} workers. Dark edges and the line mark the critical path, ${duration(summary.path_seconds)}.`
    + (data.incomplete ? ` ${data.incomplete} tasks are left out: they did not start and end in the recording.` : ""));
  const bar = here.append("div").attr("class", "bar");
  const input = bar.append("input").attr({ type: "search", placeholder: "kernel, tile or #number", "aria-label": "Search tasks" });
  const count = bar.append("span").attr({ id: "found", "aria-live": "polite" });
  const button = (text, name, act) => bar.append("button").attr({ type: "button", title: name, "aria-label": name }).text(text).on("click", act);
  button("‹", "previous match", () => step(-1));
  button("›", "next match", () => step(1));
  button("+", "zoom in", () => zoomBy(2));
  button("−", "zoom out", () => zoomBy(0.5));
  button("all", "show the whole run", () => show(0, span));
  const marked = bar.append("label").text("critical path ").append("input").attr({ type: "checkbox" }).property("checked", true).on("change", draw);
  here.append("ul").attr("class", "legend").selectAll("li").data(kernels).enter().append("li").text(k => k.name).each(function (k) { swatch(d3.select(this), k.color); });
  const frame = here.append("div").attr("class", "frame");
  const canvas = frame.append("canvas").attr({ id: "schedule-canvas", tabindex: 0, role: "img",
    "aria-label": `Schedule of ${tasks.count} tasks on ${used.length} workers; keys: arrows, plus, minus, 0, n, p` });
  const node = canvas.node(), pen = node.getContext("2d"), tip = frame.append("div").attr("class", "tip");
  const detail = here.append("div").attr({ class: "detail", "aria-live": "polite", id: "detail" });
  here.append("p").attr("class", "faint keys").html("Click a task for its figures. With the schedule in focus: wheel, <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> move, <kbd>0</kbd> all, <kbd>[</kbd> <kbd>]</kbd> previous and next task of the worker, <kbd>n</kbd> <kbd>p</kbd> next and previous match; <kbd>/</kbd> search.");

  const pitch = Math.max(7, Math.min(30, 640 / used.length)), top = 4, height = top + pitch * used.length + 40, right = 14;
  const place = new Int32Array(summary.workers.length).fill(-1);
  used.forEach((worker, row) => { place[worker] = row; });
  const rows = used.map(() => []);
  for (let t = 0; t < tasks.count; ++t) rows[place[tasks.worker[t]]].push(t);
  const inPath = new Uint8Array(tasks.count);
  for (const t of tasks.path) inPath[t] = 1;
  let left = 60, width = 0, selected = -1, matches = null, matched = null, at = -1, pending = 0, printing = false;
  const x = d3.scale.linear().domain([0, span]);
  const zoom = d3.behavior.zoom().scaleExtent([1, Math.max(10, span / tasks.unit / 50)]).on("zoom", () => { keepInside(); later(); });
  const axis = { ticks: () => x.ticks(Math.max(3, Math.floor((width - left) / 110))) };

  function keepInside() {
    const size = (width - left - right) * zoom.scale();
    zoom.translate([Math.min(left - left * zoom.scale(), Math.max(zoom.translate()[0], width - right - left * zoom.scale() - size)), 0]);
  }
  function resize() {
    const domain = x.domain();
    const longest = d3.max(used, w => summary.workers[w].name.length + 6);
    width = frame.node().clientWidth || 900;
    left = Math.min(width * 0.3, 10 + longest * 6.6);
    const ratio = printing ? 3 : window.devicePixelRatio || 1;
    node.width = Math.round(width * ratio); node.height = Math.round(height * ratio);
    node.style.height = height + "px";
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    zoom.scale(1).translate([0, 0]).x(x.domain([0, span]).range([left, width - right]));
    show(domain[0], domain[1]);
  }
  /// Shows the seconds from a to b.
  function show(a, b) {
    b = Math.min(span, Math.max(b, a + 50 * tasks.unit)); a = Math.max(0, a);
    const scale = span / (b - a);
    zoom.scale(scale).translate([left - scale * (left + (width - left - right) * a / span), 0]);
    keepInside();
    draw();
  }
  const zoomBy = factor => { const [a, b] = x.domain(), middle = selected >= 0 && begins(selected) > a && begins(selected) < b ? begins(selected) : (a + b) / 2;
    show(middle - (middle - a) / factor, middle + (b - middle) / factor); };
  const later = () => { if (!pending) pending = requestAnimationFrame(() => { pending = 0; draw(); }); };

  /// Returns the first place in a row whose task may be visible from `time` on.
  function firstIn(row, time) {
    let low = 0, high = row.length;
    while (low < high) { const middle = (low + high) >> 1; if (begins(row[middle]) < time) low = middle + 1; else high = middle; }
    while (low > 0 && begins(row[low - 1]) + lasts(row[low - 1]) > time) --low;
    return low;
  }
  function draw() {
    const [a, b] = x.domain(), colors = kernels.map(k => k.color), text = printing ? "#000" : ink("text"), path = printing ? "#000" : ink("path");
    pen.clearRect(0, 0, width, height);
    pen.font = "12px system-ui, sans-serif"; pen.textBaseline = "middle";
    pen.strokeStyle = printing ? "#ccc" : ink("line"); pen.fillStyle = text; pen.lineWidth = 1; pen.textAlign = "center";
    const bottom = top + pitch * used.length + 2, unit = b - a < 2e-3 ? [1e6, "µs"] : b - a < 2 ? [1e3, "ms"] : [1, "s"];
    const ticks = axis.ticks(), step = ticks.length > 1 ? (ticks[1] - ticks[0]) * unit[0] : 1;
    const format = d3.format("." + Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) + "f");
    for (const s of ticks) {
      pen.beginPath(); pen.moveTo(x(s), top); pen.lineTo(x(s), bottom + 4); pen.stroke();
      pen.fillText(format(s * unit[0]), x(s), bottom + 13);
    }
    pen.fillText(`time (${unit[1]})`, (left + width - right) / 2, bottom + 29);
    pen.textAlign = "right";
    used.forEach((worker, row) => {
      if (pitch < 11 && row % 2) return;
      const w = summary.workers[worker];
      pen.fillText(`${w.name}, ${Math.round(100 * w.busy / span)} %`, left - 6, top + pitch * (row + 0.5), left - 8);
    });
    pen.save(); pen.beginPath(); pen.rect(left, 0, width - left - right, bottom); pen.clip(); pen.textAlign = "left";
    const tall = pitch * 0.8, named = [];
    const bars = (row, y) => {
      let color = -1, edge = -1;
      for (let k = firstIn(rows[row], a); k < rows[row].length; ++k) {
        const t = rows[row][k], from = x(begins(t));
        if (from > width) break;
        const size = (x(begins(t) + lasts(t))) - from, hit = matched === null || matched[t];
        if (size < 0.6 && from < edge && matched === null) continue;  // hidden behind the previous bar
        pen.globalAlpha = hit ? 1 : 0.12;
        if (tasks.kernel[t] !== color) { color = tasks.kernel[t]; pen.fillStyle = colors[color]; }
        const wide = Math.max(size > 3 ? size - 0.6 : size, hit && matched !== null ? 2 : 0.6);
        pen.fillRect(from, y, wide, tall);
        edge = from + wide - 0.1;
        if (size > 44 && tall > 13 && hit) named.push([t, from, size, y]);
      }
    };
    rows.forEach((row, k) => bars(k, top + pitch * (k + 0.1)));
    pen.globalAlpha = 1;
    for (const [t, from, size, y] of named) {
      const rgb = d3.rgb(colors[tasks.kernel[t]]), start = Math.max(from, left) + 4;
      pen.fillStyle = 0.3 * rgb.r + 0.59 * rgb.g + 0.11 * rgb.b < 145 ? "#fff" : "#000";
      const room = from + size - start - 4;
      if (room > 36) pen.fillText(title(t), start, y + tall / 2, room);
    }
    const outline = (t, color, line) => {
      pen.strokeStyle = color; pen.lineWidth = line;
      pen.strokeRect(x(begins(t)), top + pitch * (place[tasks.worker[t]] + 0.1), Math.max(1, x(begins(t) + lasts(t)) - x(begins(t))), tall);
    };
    if (marked.property("checked") && tasks.path.length > 1) {
      const seen = Array.from(tasks.path).filter(t => begins(t) + lasts(t) >= a && begins(t) <= b), dense = seen.length > width / 8;
      pen.strokeStyle = pen.fillStyle = path; pen.lineWidth = 0.8; pen.globalAlpha = dense ? 1 : 0.75; pen.beginPath();
      for (const t of dense ? seen : tasks.path) {
        const y = top + pitch * (place[tasks.worker[t]] + 0.5);
        if (dense) pen.fillRect(x(begins(t)), y - tall / 2, Math.max(0.7, x(begins(t) + lasts(t)) - x(begins(t))), 3);  // instead of the line
        else { pen.lineTo(x(begins(t)), y); pen.lineTo(x(begins(t) + lasts(t)), y); }
      }
      pen.stroke(); pen.globalAlpha = 1;
      for (const t of seen) if (!dense && lasts(t) * (width - left) / (b - a) > 2) outline(t, path, 1.2);
    }
    if (selected >= 0) outline(selected, ink("accent") || "#06c", 3);
    pen.restore();
  }

  function taskAt(mouse) {
    const row = Math.floor((mouse[1] - top) / pitch);
    if (row < 0 || row >= rows.length || mouse[0] < left) return -1;
    const time = x.invert(mouse[0]), near = (x.invert(mouse[0] + 2) - time), k = firstIn(rows[row], time - near);
    for (let m = k; m < rows[row].length && begins(rows[row][m]) <= time + near; ++m)
      if (begins(rows[row][m]) + lasts(rows[row][m]) >= time - near) return rows[row][m];
    return -1;
  }
  const brief = t => `${title(t)}, task ${tasks.id[t]}\n${duration(lasts(t))} from ${duration(begins(t))}`;
  const figures = t => [["worker", summary.workers[tasks.worker[t]].name], ["start", duration(begins(t))], ["duration", duration(lasts(t))],
    ["after its insertion", duration(tasks.waited[t] * tasks.unit)], ["fetched tiles for", duration(tasks.fetched[t] * tasks.unit)], ["priority", priorities[tasks.priority[t]]],
    ["tiles", kinds[tasks.kind[t]].tiles], ["rate", kinds[tasks.kind[t]].gflop > 0 ? digits(kinds[tasks.kind[t]].gflop / lasts(t)) + " GFLOP/s" : "–"]].filter(f => f[1] !== "" && f[1] !== "0 µs");

  function select(t, reveal) {
    selected = t;
    detail.text("");
    if (t < 0) return draw();
    detail.append("strong").text(`${title(t)}, task ${tasks.id[t]}`);
    detail.append("span").text(" – " + figures(t).map(f => f.join(" ")).join("; ") + (inPath[t] ? "; on the critical path" : "") + ".");
    const links = (name, list) => {
      if (list.length === 0) return;
      const line = detail.append("div").text(name + " ");
      for (const s of Array.from(list).slice(0, 12)) line.append("button").attr("type", "button").text(`${title(s)} #${tasks.id[s]}`).on("click", () => select(s, true));
      if (list.length > 12) line.append("span").text(` and ${list.length - 12} more`);
    };
    links("after", predecessors(t));
    links("before", successors(t));
    const [a, b] = x.domain();
    if (reveal && (begins(t) < a || begins(t) + lasts(t) > b || lasts(t) * width / (b - a) < 3)) {
      const half = Math.max(lasts(t) * 12, Math.min((b - a) / 2, lasts(t) * 200));
      return show(begins(t) + lasts(t) / 2 - half, begins(t) + lasts(t) / 2 + half);
    }
    draw();
  }
  function search() {
    const words = input.property("value").trim().toLowerCase().split(/\s+(?![^(]*\))/).filter(w => w);
    matches = words.length ? [] : null; matched = words.length ? new Uint8Array(tasks.count) : null; at = -1;
    const names = kernels.map(k => k.name.toLowerCase()), sizes = kinds.map(k => k.tiles.toLowerCase().split(" "));
    if (words.length) for (let t = 0; t < tasks.count; ++t) {
      const has = word => word[0] === "#" ? word.slice(1) === String(tasks.id[t])
        : names[tasks.kernel[t]].includes(word) || label(t).toLowerCase().includes(word) || sizes[tasks.kind[t]].includes(word);
      if (words.every(has)) { matches.push(t); matched[t] = 1; }
    }
    count.text(matches === null ? "" : `${matches.length} task${matches.length === 1 ? "" : "s"}`);
    draw();
  }
  function step(by) {
    if (!matches || matches.length === 0) return;
    at = (at + by + matches.length + (at < 0 && by < 0 ? 1 : 0)) % matches.length;
    count.text(`${at + 1} of ${matches.length}`);
    select(matches[at], true);
  }
  input.on("input", search).on("keydown", () => {
    if (d3.event.key === "Enter") { step(d3.event.shiftKey ? -1 : 1); d3.event.preventDefault(); }
    if (d3.event.key === "Escape") { input.property("value", ""); search(); node.focus(); }
  });
  const neighbour = by => { if (selected < 0) return; const row = rows[place[tasks.worker[selected]]], k = row.indexOf(selected) + by; if (row[k] !== undefined) select(row[k], true); };
  const keys = { "+": () => zoomBy(2), "=": () => zoomBy(2), "-": () => zoomBy(0.5), 0: () => show(0, span), n: () => step(1), p: () => step(-1), "]": () => neighbour(1), "[": () => neighbour(-1),
    Escape: () => select(-1), ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), Home: () => pan(-1e9), End: () => pan(1e9) };
  function pan(part) { const [a, b] = x.domain(), by = Math.max(-a, Math.min(span - b, part * (b - a))); show(a + by, b + by); }
  canvas.on("keydown", () => { const act = !d3.event.ctrlKey && !d3.event.metaKey && keys[d3.event.key]; if (act) { act(); d3.event.preventDefault(); } });
  d3.select(document).on("keydown.search", () => { if (d3.event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { input.node().focus(); d3.event.preventDefault(); } });
  // The wheel scrolls the page unless the schedule has the focus.
  frame.node().addEventListener("wheel", event => { if (document.activeElement !== node && !event.ctrlKey) event.stopPropagation(); }, true);
  let down = null;
  canvas.call(zoom).on("dblclick.zoom", () => { const t = taskAt(d3.mouse(node)); if (t >= 0) show(begins(t) - lasts(t), begins(t) + 2 * lasts(t)); })
    .on("mousedown.select", () => { down = d3.mouse(node); node.focus(); })
    .on("click", () => { const up = d3.mouse(node); if (down && Math.abs(up[0] - down[0]) < 4) select(taskAt(up), false); })
    .on("mousemove.tip", () => {
      const mouse = d3.mouse(node), t = taskAt(mouse);
      tip.style("display", t < 0 ? "none" : "block");
      if (t >= 0) tip.text(brief(t)).style({ left: Math.min(mouse[0] + 14, width - 240) + "px", top: mouse[1] + 16 + "px" });
    }).on("mouseleave", () => tip.style("display", "none"));
  const whilePrinting = on => { printing = on; resize(); };
  window.matchMedia("print").addEventListener("change", event => whilePrinting(event.matches));
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  window.addEventListener("resize", resize);
  resize();
  return { select: t => { node.focus(); select(t, true); }, state: () => ({ domain: x.domain(), selected, matches: matches && matches.length }) };
}
