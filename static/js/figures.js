// Draws the figures that the server sends as data, in the colours of the stylesheet's tokens.
"use strict";

(() => {
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
    return { ...trace, marker, line: { ...trace.line, color: colour }, textfont: { ...trace.textfont, color: colour } };
  }

  function axis(given) {
    return { gridcolor: token("--line"), linecolor: token("--line-strong"), zeroline: false, automargin: true, ...given };
  }

  function layoutOf(given) {
    const ink = token("--ink-soft");
    return {
      ...given,
      autosize: true,
      font: { family: token("--font"), size: 12, color: ink },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 8, r: 12, t: 28, b: 8 },
      hoverlabel: { bgcolor: token("--surface"), bordercolor: token("--line-strong"), font: { color: token("--ink") } },
      legend: { orientation: "h", y: -0.22, x: 0, font: { size: narrow.matches ? 11 : 12 }, ...(given.legend || {}) },
      xaxis: axis(given.xaxis),
      yaxis: axis(given.yaxis),
      ...(given.yaxis2 ? { yaxis2: axis(given.yaxis2) } : {}),
      annotations: (given.annotations || []).map((note) => ({ ...note, font: { ...note.font, color: ink } })),
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
      if (!figure || !figure.data.length) continue;
      const empty = place.querySelector(".plot-empty");
      if (empty) empty.remove();
      Plotly.react(place, figure.data.map(paint), layoutOf(figure.layout), config(place.dataset.figure));
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
  document.addEventListener("portal:measured", refresh);
  refresh();
})();
