// The question's form: is this a model, what would it need, how long will it take, and a saved workload's lengths.
"use strict";

(() => {
  const CHECK_AFTER_MS = 350;
  const ASK_AGAIN_MS = 700;
  const ESTIMATE_AFTER_MS = 150;
  const ASK_ABOUT_UNREAD_MS = [2000, 3000, 5000, 8000, 13000, 21000, 34000, 34000, 34000];
  const SAY_AFTER_MS = 1500;
  const MARK_AFTER_MS = 700;
  const MOST_OTHERS = 11; // beside the first: more than twelve runs are not made at once
  const form = document.getElementById("question");
  const field = (name) => form.elements[name];
  const told = form.querySelector("[data-model-check]");
  for (const instead of document.querySelectorAll("[data-without-script]")) instead.remove(); // the estimate is drawn here
  let checkTimer = 0;
  let lengthTimer = 0;
  let estimateTimer = 0;
  let aloudTimer = 0;
  let markTimer = 0;
  let latestCheck = 0;
  let latestLength = 0;
  let latestEstimate = 0;
  let asked = 0; // how often the same fields were asked about, for what is still being read

  // Is this a model?

  async function check(entry) {
    const mine = ++latestCheck;
    const query = new URLSearchParams({ model: field("model").value, revision: field("revision").value });
    if (entry) query.set("entry", entry);
    let answer;
    try {
      answer = await fetch(`${form.dataset.check}?${query}`, { headers: { Accept: "application/json" } });
    } catch {
      return; // the network is away: sending the form checks it again
    }
    if (mine !== latestCheck || !answer.ok || answer.redirected) return;
    const found = await answer.json();
    if (mine !== latestCheck) return;
    told.dataset.state = found.state;
    told.textContent = found.state === "empty" ? "" : [found.message, found.hint].filter(Boolean).join(" ");
    if (found.state === "inspecting") checkTimer = setTimeout(check, ASK_AGAIN_MS, found.entry);
    if (found.state === "ready") { asked = 0; lengths(); }
    if (found.state !== "inspecting" || !entry) estimate();
  }

  function checkSoon() {
    clearTimeout(checkTimer);
    latestCheck += 1;
    told.textContent = "";
    told.dataset.state = "";
    asked = 0;
    latestEstimate += 1; // figures under way are another model's
    setStale(body().dataset.outlook === "ready");
    checkTimer = setTimeout(check, CHECK_AFTER_MS);
  }

  // Are the other models models? Each line is asked about once, and again only while its config is being read.

  const othersTold = form.querySelector("[data-more-checks]"); // absent where a question is changed
  const others = new Map(); // by name, the line that says what it is
  let othersTimer = 0;

  function otherNames() {
    const names = field("more_models").value.split(/[\n,]/).map((name) => name.trim()).filter(Boolean);
    return [...new Set(names)].filter((name) => name !== field("model").value.trim());
  }

  function checkOthers() {
    const names = otherNames().slice(0, MOST_OTHERS);
    for (const name of others.keys()) if (!names.includes(name)) others.delete(name);
    for (const name of names.filter((name) => !others.has(name))) {
      const line = document.createElement("p");
      line.className = "model-check";
      others.set(name, line);
      checkOther(name, line);
    }
    othersTold.replaceChildren(...names.map((name) => others.get(name)));
  }

  async function checkOther(name, line, entry) {
    const query = new URLSearchParams({ model: name });
    if (entry) query.set("entry", entry);
    let answer;
    try {
      answer = await fetch(`${form.dataset.check}?${query}`, { headers: { Accept: "application/json" } });
    } catch {
      answer = null; // the network is away
    }
    if (others.get(name) !== line) return; // its line was changed meanwhile
    if (!answer || !answer.ok || answer.redirected) {
      others.delete(name); // asked about again at the next change; sending the form checks it too
      return;
    }
    const found = await answer.json();
    if (others.get(name) !== line) return;
    line.dataset.state = found.state;
    line.textContent = `${name}: ${[found.message, found.hint].filter(Boolean).join(" ")}`;
    if (found.state === "inspecting") setTimeout(checkOther, ASK_AGAIN_MS, name, line, found.entry);
  }

  function othersSoon() {
    clearTimeout(othersTimer);
    if (othersTold) othersTimer = setTimeout(checkOthers, CHECK_AFTER_MS);
  }

  // How long will it take?

  function fields() {
    const query = new URLSearchParams(new FormData(form));
    query.delete("csrfmiddlewaretoken");
    query.delete("prompts_file");
    return query;
  }

  async function lengths() {
    const mine = ++latestLength;
    const query = fields();
    let answer;
    try {
      answer = await fetch(`${form.dataset.duration}?${query}`, { headers: { Accept: "application/json" } });
    } catch {
      return;
    }
    if (mine !== latestLength || !answer.ok || answer.redirected) return;
    const texts = await answer.json();
    for (const place of form.querySelectorAll("[data-length]")) place.textContent = texts[place.dataset.length] || "";
  }

  function lengthsSoon() {
    clearTimeout(lengthTimer);
    lengthTimer = setTimeout(lengths, CHECK_AFTER_MS);
  }

  // What would it need?

  const panel = document.getElementById("outlook");
  const missing = panel.querySelector("[data-outlook-missing]");
  const aloud = panel.querySelector("[data-outlook-said]");

  async function estimate() {
    const mine = ++latestEstimate;
    clearTimeout(estimateTimer);
    let answer;
    try {
      answer = await fetch(`${form.dataset.estimate}?${fields()}`, { headers: { Accept: "text/html" } });
    } catch {
      return; // the network is away: the last panel stands
    }
    if (mine !== latestEstimate || !answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine === latestEstimate) show(page.querySelector("[data-outlook]"));
  }

  function body() {
    return panel.querySelector("[data-outlook]");
  }

  // The figures shown are of other values than those in the fields.
  function setStale(stale) {
    panel.toggleAttribute("data-stale", stale);
  }

  function show(fresh) {
    const old = body();
    const state = fresh.dataset.outlook;
    const stale = state === "faults" && old.dataset.outlook === "ready"; // another value is missing: the last figures stand, dimmed
    setStale(stale);
    tellMissing(stale ? [...fresh.querySelectorAll("[data-field]")] : []);
    clearTimeout(markTimer);
    markTimer = setTimeout(markFaults, MARK_AFTER_MS, faultsOf(fresh));
    showJump(fresh);
    if (stale) return;
    if (state === "reading") fresh.style.minHeight = `${old.offsetHeight}px`; // what follows the panel stays where it is
    const scrolls = [...old.querySelectorAll(".table-box")].map((box) => box.scrollLeft);
    const focused = stops(old).indexOf(document.activeElement);
    for (const details of fresh.querySelectorAll("details")) {
      const known = old.querySelector(`#${details.id}`);
      if (known) details.open = known.open;
    }
    old.replaceWith(fresh);
    letScroll();
    fresh.querySelectorAll(".table-box").forEach((box, place) => { box.scrollLeft = scrolls[place] || 0; });
    stops(fresh)[focused]?.focus();
    sayLater(state === "ready" ? fresh.dataset.verdict.trim() : "");
    const waiting = fresh.dataset.again === "yes" || state === "reading";
    if (waiting && asked < ASK_ABOUT_UNREAD_MS.length) estimateTimer = setTimeout(estimate, ASK_ABOUT_UNREAD_MS[asked++]);
  }

  function tellMissing(faults) {
    const told = faults.map((fault) => fault.cloneNode(true));
    if (told.length) told[0].prepend("Not updated: ");
    missing.replaceChildren(...told);
  }

  function showJump(fresh) {
    const jump = form.querySelector("[data-outlook-jump]");
    jump.hidden = !fresh.dataset.short;
    if (fresh.dataset.short) jump.querySelector("a").textContent = fresh.dataset.short;
  }

  // A table is a stop for the keyboard where it has something to scroll to.
  function letScroll() {
    for (const box of panel.querySelectorAll(".table-box")) {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }

  // What is wrong with a field is written beneath it, and taken away with it.

  function faultsOf(fresh) {
    return new Map([...fresh.querySelectorAll("[data-field]")].map((fault) => [fault.dataset.field, fault.querySelector("span").textContent]));
  }

  function markFaults(faults) {
    for (const place of form.querySelectorAll("[data-fault]")) if (!faults.has(place.dataset.fault)) clearFault(place.dataset.fault);
    for (const [name, sentence] of faults) markFault(name, sentence);
  }

  function markFault(name, sentence) {
    const input = document.getElementById(`id_${name}`);
    if (!input || name === "model") return; // the model's own check says it
    clearFault(name);
    const place = document.createElement("div");
    const error = document.createElement("p");
    place.id = `id_${name}_error`;
    place.dataset.fault = name;
    error.className = "error";
    error.textContent = sentence;
    place.append(error);
    (input.closest(".with-unit") || input).after(place);
    input.setAttribute("aria-invalid", "true");
    describe(input, [place.id, ...described(input)]);
  }

  function clearFault(name) {
    const input = document.getElementById(`id_${name}`);
    const place = document.getElementById(`id_${name}_error`);
    if (!input || !place) return;
    place.remove();
    input.removeAttribute("aria-invalid");
    describe(input, described(input).filter((id) => id !== place.id));
  }

  function described(input) {
    return (input.getAttribute("aria-describedby") || "").split(" ").filter(Boolean);
  }

  function describe(input, ids) {
    if (ids.length) input.setAttribute("aria-describedby", ids.join(" "));
    else input.removeAttribute("aria-describedby");
  }

  function stops(shown) {
    return [...shown.querySelectorAll("summary, a")];
  }

  function sayLater(text) {
    clearTimeout(aloudTimer);
    aloudTimer = setTimeout(() => { if (aloud.textContent !== text) aloud.textContent = text; }, SAY_AFTER_MS);
  }

  function estimateSoon() {
    asked = 0;
    latestEstimate += 1;
    clearTimeout(estimateTimer);
    estimateTimer = setTimeout(estimate, ESTIMATE_AFTER_MS);
  }

  // A saved workload

  const copies = { prompt_tokens: "prompt", typical_prompt_tokens: "typical", answer_tokens: "answer", sequences: "sequences", prompts: "prompts" };

  function takeWorkload() {
    const chosen = field("workload").selectedOptions[0];
    if (!chosen || !chosen.value) return;
    for (const [name, key] of Object.entries(copies)) field(name).value = chosen.dataset[key];
  }

  // How many runs it makes: every model on every device.

  function countRuns() {
    const place = form.querySelector("[data-run-count]");
    if (!place) return;
    const models = new Set([field("model").value.trim(), ...otherNames()].filter(Boolean));
    const ticked = form.querySelectorAll("[name=more_workers]:checked");
    const devices = new Set([field("worker").value, ...[...ticked].map((box) => box.value)]);
    const runs = Math.max(1, models.size) * devices.size;
    place.textContent = runs > 1 ? `This makes ${runs} runs; the estimate is of the first.` : "";
  }

  form.addEventListener("input", countRuns);
  form.addEventListener("change", countRuns);
  form.addEventListener("input", (event) => {
    clearFault(event.target.name); // it was about another value
    if (event.target.name in copies) field("workload").value = "";
    if (event.target.name === "model" || event.target.name === "revision") checkSoon();
    else estimateSoon();
    if (event.target.name === "model" || event.target.name === "more_models") othersSoon();
    lengthsSoon();
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "workload") takeWorkload();
    if (event.target.name === "worker") form.querySelector("[data-device]").textContent = event.target.selectedOptions[0].textContent;
    lengthsSoon();
    if (event.target.name !== "model" && event.target.name !== "revision") estimateSoon();
  });
  form.addEventListener("submit", () => {
    const button = form.querySelector("button:not([type=button])");
    button.disabled = true;
    button.textContent = othersTold && otherNames().length ? "Reading the models …" : "Reading the model …";
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  addEventListener("resize", letScroll);
  letScroll();
  const faulty = form.querySelector("[aria-invalid=true]");
  if (field("model").value && faulty !== field("model")) check(); // a refusal already stands there
  if (othersTold) checkOthers();
  if (faulty || !field("model").value) (faulty || field("model")).focus();
})();
