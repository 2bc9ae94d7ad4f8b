// Times in the reader's own zone, and clocks that run.
"use strict";

(() => {
  const long = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

  function localise(container) {
    for (const time of container.querySelectorAll("time[data-local]")) {
      const when = new Date(time.dateTime);
      if (Number.isNaN(when.getTime())) continue;
      time.textContent = (time.dataset.local === "clock" ? clock : long).format(when);
      time.title = long.format(when);
    }
  }

  function duration(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    const pad = (value) => String(value).padStart(2, "0");
    if (whole >= 3600) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
    return whole >= 60 ? `${Math.floor(whole / 60)} min ${pad(whole % 60)} s` : `${whole} s`;
  }

  function tick() {
    for (const running of document.querySelectorAll("[data-clock]")) {
      running.textContent = duration((Date.now() - new Date(running.dataset.clock).getTime()) / 1000);
    }
  }

  document.addEventListener("portal:replaced", (event) => { localise(event.target); tick(); });
  localise(document);
  tick();
  setInterval(tick, 1000);
})();
