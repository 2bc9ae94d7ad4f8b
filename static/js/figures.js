// Draws the figures that the server sends as data, in the colours of the stylesheet's tokens. The root is the element
// with data-figures (their address, or #id of the data in the page itself); data-name begins the file name of a picture, data-title (and the answer's summary) is what it is of. Within
// it data-figure is a figure's place, titled by data-title, and data-png a button that saves it.
"use strict";

(() => {
  const LEVELS = ["capacity", "budget", "weights", "bound", "adopted"];
  const BELOW = ["budget", "weights", "adopted"]; // named below their line, clear of the capacity’s name and of the answers
  const NARROW_PX = 330; // of a plot on a phone, without its legend
  const AROUND_PX = 100; // of a plot's width: its axis and margins
  const LEVEL_NAME_PX = 130;
  const LEGEND_ROW_PX = 21;
  const USUAL_ROWS = 3; // of a legend, that a plot's height has room for
  const LEGEND_MARK_PX = 46;
  const LEGEND_LETTER_PX = 6.7;
  const PNG_PX = { width: 1000, height: 640, scale: 2 };
  const PNG_TOP_PX = 76; // above the plot: its name; and a line of what it is of
  const PNG_LINE_PX = 16;
  const PNG_LINE_LETTERS = 130;
  const root = document.querySelector("[data-figures]");
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
    const roles = { weights: "--part-weights", budget: "--line-headroom", capacity: "--line-capacity", bound: "--line-capacity", adopted: "--good", limit: "--good" };
    return roles[role] ? token(roles[role]) : null;
  }

  // By its own token (--run-2) where it has one, else by what it shows, else by its strategy.
  function colourOf(meta) {
    if (meta.token) return token(meta.token);
    return roleColour(meta.role) || (meta.strategy ? token(`--series-${series(meta.strategy)}`) : token("--ink-soft"));
  }

  function paint(trace) {
    const meta = trace.meta || {};
    const colour = colourOf(meta);
    const marker = { ...trace.marker, color: colour };
    if (trace.type === "bar") return { ...trace, meta, marker };
    if (meta.role === "measured") marker.symbol = marks[series(meta.strategy)];
    const showlegend = meta.role !== "estimated" && trace.showlegend !== false;
    const mode = LEVELS.includes(meta.role) ? "lines" : trace.mode;
    return { ...trace, mode, meta, showlegend, marker, textfont: { ...trace.textfont, color: colour }, line: { ...trace.line, color: colour } };
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

  function layoutOf(given, levels, legendRows, short) {
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
      xaxis: axis(short && given.xaxis.title.text.startsWith("context") ? { ...given.xaxis, title: { text: "context, tokens" } } : given.xaxis),
      yaxis: axis(given.yaxis),
      ...(given.yaxis2 ? { yaxis2: strip(given.yaxis2) } : {}),
      annotations: [...(given.annotations || []).map((note) => ({ ...note, font: { ...note.font, color: ink } })), ...levels],
    };
  }

  // Everything of a figure at a width.
  function drawn(figure, width, short) {
    const traces = figure.data.map(paint);
    const rows = rowsOf(traces, width);
    const before = roomBefore(traces, width);
    const levels = traces.filter((trace) => LEVELS.includes(trace.meta.role)).map((trace) => levelName(trace, before));
    return { traces, rows, layout: layoutOf(figure.layout, levels, rows, short) };
  }

  function config(place) {
    const button = { name: "png", title: "Download as PNG", icon: Plotly.Icons.camera, click: () => save(place) };
    return {
      displaylogo: false,
      responsive: true,
      modeBarButtonsToRemove: ["toImage", "select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
      modeBarButtonsToAdd: [button],
    };
  }

  // Whether there is something to draw yet, beside bounds.
  function figureOf(place) {
    const figure = figures && figures[place.dataset.figure];
    return figure && figure.data.some((trace) => !LEVELS.includes((trace.meta || {}).role)) ? figure : null;
  }

  // A long legend does not take its room from the plot.
  const beyondUsual = (rows) => Math.max(0, rows - USUAL_ROWS) * LEGEND_ROW_PX;

  function draw() {
    for (const place of root.querySelectorAll("[data-figure]")) {
      const figure = figureOf(place);
      if (!figure) continue;
      const empty = place.querySelector(".plot-empty");
      if (empty) empty.remove();
      const { traces, rows, layout } = drawn(figure, place.clientWidth, narrow.matches);
      place.style.height = "";
      const height = narrow.matches ? NARROW_PX + rows * LEGEND_ROW_PX : place.clientHeight + beyondUsual(rows);
      place.style.height = `${height}px`;
      Plotly.react(place, traces, layout, config(place));
      for (const button of root.querySelectorAll(`[data-png="${place.dataset.figure}"]`)) button.hidden = false;
    }
  }

  const plain = (text) => (text || "").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

  // Broken where its parts end.
  function lines(text) {
    const out = [];
    for (const part of text.split(" · ")) {
      const last = out.at(-1);
      if (last !== undefined && last.length + part.length < PNG_LINE_LETTERS) out[out.length - 1] = `${last} · ${part}`;
      else out.push(part);
    }
    return out;
  }

  // A picture that stands alone: it says what it shows, and of what.
  function save(place) {
    const { traces, rows, layout } = drawn(figureOf(place), PNG_PX.width, false);
    const of = lines(plain([root.dataset.title, figures.summary].filter(Boolean).join(" · ")));
    const subtitle = { text: of.join("<br>"), font: { size: 12, color: token("--ink-soft") } };
    const font = { size: 16, weight: 650, color: token("--ink") };
    const where = { x: 0, xref: "paper", xanchor: "left", y: 1, yref: "container", yanchor: "top", pad: { t: 28 } };
    const title = { ...where, text: plain(place.dataset.title), font, subtitle };
    const margin = { ...layout.margin, t: PNG_TOP_PX + PNG_LINE_PX * of.length, r: 28 };
    const whole = { ...layout, title, margin, autosize: false, paper_bgcolor: token("--surface") };
    const filename = `${root.dataset.name || "figure"}-${place.dataset.figure}`;
    return Plotly.downloadImage({ data: traces, layout: whole }, { ...PNG_PX, height: PNG_PX.height + beyondUsual(rows), format: "png", filename });
  }

  async function sent() {
    const own = root.dataset.figures.startsWith("#") && document.querySelector(root.dataset.figures);
    if (own) return JSON.parse(own.textContent);
    const answer = await fetch(root.dataset.figures, { headers: { Accept: "application/json" } });
    return answer.ok && !answer.redirected ? answer.json() : null;
  }

  async function refresh() {
    if (drawing) { again = true; return; }
    drawing = true;
    try {
      do {
        again = false;
        const fresh = await sent();
        if (fresh) { figures = fresh; draw(); tell(); }
      } while (again);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the network is away; the next news tries again
    } finally {
      drawing = false;
    }
  }

  // For a page that shows in words what was drawn.
  const tell = () => document.dispatchEvent(new CustomEvent("portal:figures", { detail: figures }));

  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-png]");
    if (button) save(root.querySelector(`[data-figure="${button.dataset.png}"]`));
  });
  dark.addEventListener("change", draw);
  narrow.addEventListener("change", draw);
  matchMedia("print").addEventListener("change", draw); // paper is light
  document.addEventListener("portal:measured", () => setTimeout(refresh, 0)); // the tables first
  refresh();
})();
