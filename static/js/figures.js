// Draws the figures that the server sends as data, in the colours of the stylesheet's tokens.
"use strict";

(() => {
  const LEVELS = ["capacity", "budget", "weights", "bound"];
  const BELOW = ["budget", "weights"]; // named below their line, so that neither meets the capacity's name
  const NARROW_PX = 330; // of a plot on a phone, without its legend
  const AROUND_PX = 100; // of a plot's width: its axis and margins
  const LEVEL_NAME_PX = 130;
  const LEGEND_ROW_PX = 21;
  const LEGEND_MARK_PX = 46;
  const LEGEND_LETTER_PX = 6.7;
  const root = document.getElementById("run");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("(max-width: 40rem)");
  const marks = { default: "circle", static: "square", "hqq-8": "diamond", "hqq-4": "triangle-up", "hqq-2": "triangle-down", "quanto-4": "star", "quanto-2": "hexagon", fp8: "pentagon", chunked: "cross", offloaded: "x", "offloaded-static": "bowtie", other: "circle-open" };
  let figures = null;
  let drawing = false;
  let again = false;

  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function series(strategy) {
    if (!strategy || strategy.includes("+")) return "other";
    const [head, ...rest] = strategy.split(":");
    const name = head === "quantized" ? rest.join("-") : head.replaceAll("_", "-");
    return name in marks ? name : "other";
  }

  function roleColour(role) {
    const roles = { weights: "--part-weights", budget: "--line-headroom", capacity: "--line-capacity", bound: "--line-capacity", limit: "--good" };
    return roles[role] ? token(roles[role]) : null;
  }

  function paint(trace) {
    const meta = trace.meta || {};
    const name = series(meta.strategy);
    const colour = roleColour(meta.role) || (meta.strategy ? token(`--series-${name}`) : token("--ink-soft"));
    const marker = { ...trace.marker, color: colour };
    if (meta.role === "measured") marker.symbol = marks[name];
    const showlegend = meta.role !== "estimated" && trace.showlegend !== false;
    const mode = LEVELS.includes(meta.role) ? "lines" : trace.mode;
    return { ...trace, mode, meta, showlegend, marker, line: { ...trace.line, color: colour } };
  }

  function axis(given) {
    return { gridcolor: token("--line"), linecolor: token("--line-strong"), zeroline: false, automargin: true, ...given };
  }

  // The strip of points that did not run is named beside it, not along it: it is too low for that.
  function strip(given) {
    return { ...axis(given), title: { text: "" }, showticklabels: true, ticktext: given.ticktext.map((name) => name.replace("<br>", " ")), ticklen: 0 };
  }

  // Before the first measured point there is room for a line's name, or else at the line's other end: a run that ends
  // long before its workload has all of its points there.
  function roomBefore(traces, width) {
    const first = Math.min(...traces.filter((trace) => trace.meta.role === "measured").flatMap((trace) => trace.x));
    const level = traces.find((trace) => LEVELS.includes(trace.meta.role));
    return !level || (width - AROUND_PX) * first >= LEVEL_NAME_PX * level.x[1];
  }

  // A line across the plot carries its name clear of it.
  function levelName(trace, before) {
    const left = before || trace.meta.role === "bound";
    const place = left ? { x: 0, xref: "paper", xanchor: "left", xshift: 4 } : { x: trace.x[1], xanchor: "right" };
    return { ...place, bgcolor: `${token("--surface")}b3`, borderpad: 0, y: trace.y[0], text: trace.name, showarrow: false, yanchor: BELOW.includes(trace.meta.role) ? "top" : "bottom", font: { size: 11, color: trace.line.color } };
  }

  // Plotly gives every entry of a horizontal legend the width of the widest.
  function rowsOf(traces, width) {
    const names = traces.filter((trace) => trace.showlegend).map((trace) => trace.name || "");
    const widest = Math.max(0, ...names.map((name) => LEGEND_MARK_PX + LEGEND_LETTER_PX * name.length));
    return Math.ceil(names.length / Math.max(1, Math.floor((width - 80) / widest)));
  }

  function layoutOf(given, levels, legendRows) {
    const ink = token("--ink-soft");
    return {
      ...given,
      autosize: true,
      font: { family: token("--font"), size: 12, color: ink },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 64, r: 16, t: 32, b: 56 + legendRows * LEGEND_ROW_PX },
      hoverlabel: { bgcolor: token("--surface"), bordercolor: token("--line-strong"), font: { color: token("--ink") } },
      legend: { orientation: "h", x: 0, yref: "container", y: 0, yanchor: "bottom", font: { size: 12, color: ink } },
      xaxis: axis(narrow.matches ? { ...given.xaxis, title: { text: "context, tokens" } } : given.xaxis),
      yaxis: axis(given.yaxis),
      ...(given.yaxis2 ? { yaxis2: strip(given.yaxis2) } : {}),
      annotations: [...(given.annotations || []).map((note) => ({ ...note, font: { ...note.font, color: ink } })), ...levels],
    };
  }

  function config(name) {
    return {
      displaylogo: false,
      responsive: true,
      modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
      toImageButtonOptions: { format: "png", filename: `run-${root.dataset.run}-${name}`, scale: 2 },
    };
  }

  function draw() {
    for (const place of root.querySelectorAll("[data-figure]")) {
      const figure = figures && figures[place.dataset.figure];
      if (!figure || figure.data.every((trace) => LEVELS.includes(trace.meta.role))) continue; // nothing but bounds
      const empty = place.querySelector(".plot-empty");
      if (empty) empty.remove();
      const traces = figure.data.map(paint);
      const before = roomBefore(traces, place.clientWidth);
      const rows = rowsOf(traces, place.clientWidth);
      place.style.height = narrow.matches ? `${NARROW_PX + rows * LEGEND_ROW_PX}px` : "";
      const levels = traces.filter((trace) => LEVELS.includes(trace.meta.role)).map((trace) => levelName(trace, before));
      Plotly.react(place, traces, layoutOf(figure.layout, levels, rows), config(place.dataset.figure));
    }
  }

  async function refresh() {
    if (drawing) { again = true; return; }
    drawing = true;
    try {
      do {
        again = false;
        const answer = await fetch(root.dataset.figures, { headers: { Accept: "application/json" } });
        if (answer.ok && !answer.redirected) { figures = await answer.json(); draw(); }
      } while (again);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the network is away; the next news tries again
    } finally {
      drawing = false;
    }
  }

  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  document.addEventListener("portal:measured", () => setTimeout(refresh, 0)); // the tables first
  refresh();
})();
