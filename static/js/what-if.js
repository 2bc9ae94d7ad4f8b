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

  const isOwn = (slider) => Number(slider.value) === Number(slider.dataset.own);
  const words = (slider) => `${Number(slider.value)}${slider.dataset.unit ? ` ${slider.dataset.unit}` : ""}`;

  // What is announced is what the field asks for, which may lie between two steps or beyond the slider's ends.
  function show(slider) {
    slider.hidden = false;
    const asked = field(slider).value.trim() || field(slider).placeholder;
    slider.setAttribute("aria-valuetext", slider.dataset.unit ? asked : `${asked} percent`);
  }

  // A number typed in the slider's own unit moves it, none takes it back to the run's own; any other way of writing
  // leaves it where it is.
  function follow(slider) {
    const typed = field(slider).value.replaceAll(/[\s,]/g, "");
    if (!typed) slider.value = slider.dataset.own;
    const number = typed.slice(-slider.dataset.unit.length || undefined) === slider.dataset.unit || !slider.dataset.unit ? parseFloat(typed) : NaN;
    if (Number.isFinite(number)) slider.value = number;
    show(slider);
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
    if (slider) { field(slider).value = isOwn(slider) ? "" : words(slider); show(slider); ask(); return; }
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
