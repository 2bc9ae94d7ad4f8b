// The question's form: is this a model, how long will it take, and a saved workload's lengths.
"use strict";

(() => {
  const CHECK_AFTER_MS = 350;
  const ASK_AGAIN_MS = 700;
  const form = document.getElementById("question");
  const field = (name) => form.elements[name];
  const told = form.querySelector("[data-model-check]");
  let checkTimer = 0;
  let lengthTimer = 0;
  let latestCheck = 0;
  let latestLength = 0;

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
    if (found.state === "ready") lengths();
  }

  function checkSoon() {
    clearTimeout(checkTimer);
    latestCheck += 1;
    told.textContent = "";
    told.dataset.state = "";
    checkTimer = setTimeout(check, CHECK_AFTER_MS);
  }

  // How long will it take?

  async function lengths() {
    const mine = ++latestLength;
    const query = new URLSearchParams(new FormData(form));
    query.delete("csrfmiddlewaretoken");
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

  // A saved workload

  const copies = { prompt_tokens: "prompt", typical_prompt_tokens: "typical", answer_tokens: "answer", sequences: "sequences" };

  function takeWorkload() {
    const chosen = field("workload").selectedOptions[0];
    if (!chosen || !chosen.value) return;
    for (const [name, key] of Object.entries(copies)) field(name).value = chosen.dataset[key];
  }

  form.addEventListener("input", (event) => {
    if (event.target.name in copies) field("workload").value = "";
    if (event.target.name === "model" || event.target.name === "revision") checkSoon();
    lengthsSoon();
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "workload") takeWorkload();
    if (event.target.name === "worker") form.querySelector("[data-device]").textContent = event.target.selectedOptions[0].textContent;
    lengthsSoon();
  });
  form.addEventListener("submit", () => {
    const button = form.querySelector("button:not([type=button])");
    button.disabled = true;
    button.textContent = "Reading the model …";
  });
  addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  if (field("model").value && !field("model").matches("[aria-invalid=true]")) check(); // a refusal already stands there
  else field("model").focus();
})();
