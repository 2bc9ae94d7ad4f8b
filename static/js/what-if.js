// What if: a slider writes into the field beside it, and every change is answered by the server at once.
"use strict";

(() => {
  const TYPING_MS = 250;
  const root = document.querySelector("[data-what-if]");
  if (!root) return;
  const form = root.querySelector("form");
  const sliders = [...root.querySelectorAll("[data-slider]")];
  const field = (slider) => document.getElementById(slider.dataset.slider);
  let timer = 0;

  const words = (slider) => `${Number(slider.value)}${slider.dataset.unit ? ` ${slider.dataset.unit}` : ""}`;

  function show(slider) {
    slider.hidden = false;
    slider.setAttribute("aria-valuetext", slider.dataset.unit ? words(slider) : `${words(slider)} percent`);
  }

  // A number typed in the slider's own unit moves it; any other way of writing leaves it where it is.
  function follow(slider) {
    const typed = field(slider).value.replaceAll(/[\s,]/g, "");
    const number = typed.slice(-slider.dataset.unit.length || undefined) === slider.dataset.unit || !slider.dataset.unit ? parseFloat(typed) : NaN;
    if (Number.isFinite(number)) { slider.value = number; show(slider); }
  }

  function ask() {
    const given = [...new FormData(form)].filter(([, value]) => value.trim());
    const query = new URLSearchParams(given).toString();
    history.replaceState(null, "", query ? `?${query}` : location.pathname);
    root.dataset.figures = `${root.dataset.whatIf}?${query}`;
    document.dispatchEvent(new Event("portal:measured"));
  }

  form.addEventListener("input", (event) => {
    const slider = event.target.closest("[data-slider]");
    clearTimeout(timer);
    if (slider) { field(slider).value = words(slider); show(slider); ask(); return; }
    sliders.filter((one) => field(one) === event.target).forEach(follow);
    timer = setTimeout(ask, TYPING_MS);
  });

  document.addEventListener("portal:figures", ({ detail }) => {
    const place = root.querySelector("[data-predicted]");
    const open = [...place.querySelectorAll("details[open][id]")].map((details) => details.id);
    const fresh = new DOMParser().parseFromString(detail.predicted, "text/html");
    place.replaceChildren(...fresh.body.childNodes);
    for (const id of open) { const details = document.getElementById(id); if (details) details.open = true; }
    root.querySelector("[data-summary]").textContent = detail.summary || "";
  });

  sliders.forEach(show);
})();
