// Keeps a run's page current: news come over a websocket, or by asking where there is none; the server renders.
"use strict";

(() => {
  const POLL_MS = 2000;
  const MOST_WAIT_MS = 15000;
  const root = document.getElementById("run");
  const log = root.querySelector("[data-log]");
  const logEnd = root.querySelector("[data-log-end]");
  const connection = root.querySelector("[data-connection]");
  const part = (name) => root.querySelector(`[data-part="${name}"]`);
  const meta = () => part("meta").dataset;
  const sources = new Map(); // a part's HTML as the server sent it: times are localised afterwards
  let seen = Number(meta().seq);
  let socket = null;
  let failures = 0;
  let retryTimer = 0;
  let pollTimer = 0;
  let fetching = false;
  let again = false;
  let lastQueue = "";

  const active = () => meta().active === "yes";

  function say(mode, text) {
    connection.dataset.mode = mode;
    connection.textContent = text;
  }

  // What the server sent

  function take(news) {
    const queue = JSON.stringify(news.queue || null);
    const fresh = news.events.some((event) => event.seq > seen);
    if (fresh || news.state !== meta().state || queue !== lastQueue) refresh();
    lastQueue = queue;
  }

  async function refresh() {
    if (fetching) { again = true; return; }
    fetching = true;
    try {
      do {
        again = false;
        const answer = await fetch(`${root.dataset.fragment}?after=${seen}`, { headers: { Accept: "text/html" } });
        if (answer.redirected) { signedOut(); return; }
        if (answer.ok) show(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } while (again);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the network is away: the connection finds out by itself
    } finally {
      fetching = false;
    }
  }

  function show(page) {
    const before = { ...meta() };
    const now = page.querySelector('[data-part="meta"]');
    const changed = now.dataset.state !== before.state;
    appendLog(page);
    for (const fresh of page.querySelectorAll("[data-part]")) {
      if (fresh.dataset.part === "meta") Object.assign(part("meta").dataset, fresh.dataset);
      else if (fresh.dataset.part !== "actions" || changed) replace(part(fresh.dataset.part), fresh);
    }
    seen = Math.max(seen, Number(now.dataset.seq));
    document.title = now.dataset.title;
    document.querySelector('link[rel="icon"]').href = now.dataset.favicon;
    if (changed || now.dataset.measurements !== before.measurements || now.dataset.stages !== before.stages) document.dispatchEvent(new Event("portal:measured"));
    if (!active()) finish();
  }

  function replace(old, fresh) {
    const name = fresh.dataset.part;
    const source = fresh.innerHTML;
    if (source === (sources.get(name) ?? old.innerHTML)) return;
    const open = [...old.querySelectorAll("details[open][id]")].map((details) => details.id);
    const scrolls = [...old.querySelectorAll(".table-box")].map((box) => [box.scrollLeft, box.scrollTop]);
    old.replaceChildren(...fresh.childNodes);
    sources.set(name, source);
    for (const id of open) { const details = document.getElementById(id); if (details) details.open = true; }
    old.querySelectorAll(".table-box").forEach((box, at) => { if (scrolls[at]) box.scrollTo(...scrolls[at]); });
    old.dispatchEvent(new Event("portal:replaced", { bubbles: true }));
  }

  function appendLog(page) {
    const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 24;
    const lines = [...page.querySelectorAll("[data-log] > li")].filter((line) => Number(line.dataset.seq) > seen);
    if (!lines.length) return;
    log.append(...lines);
    log.dispatchEvent(new Event("portal:replaced", { bubbles: true }));
    if (atEnd) log.scrollTop = log.scrollHeight;
    else logEnd.hidden = false;
  }

  // The line to the server

  function connect() {
    clearTimeout(retryTimer);
    if (!active() || (socket && socket.readyState <= WebSocket.OPEN)) return;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    socket = new WebSocket(`${scheme}//${location.host}${root.dataset.socket}?after=${seen}`);
    socket.addEventListener("open", () => { failures = 0; stopPolling(); say("live", "live"); });
    socket.addEventListener("message", (event) => take(JSON.parse(event.data)));
    socket.addEventListener("close", () => lost());
  }

  function lost() {
    if (!active()) return;
    failures += 1;
    const wait = Math.min(MOST_WAIT_MS, 500 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    if (!pollTimer) startPolling();
    clearTimeout(retryTimer);
    retryTimer = setTimeout(connect, wait);
  }

  function startPolling() {
    say("polling", "asking every 2 seconds");
    pollTimer = setInterval(poll, POLL_MS);
    poll();
  }

  function stopPolling() {
    clearInterval(pollTimer);
    pollTimer = 0;
  }

  async function poll() {
    try {
      const answer = await fetch(`${root.dataset.events}?after=${seen}`, { headers: { Accept: "application/json" } });
      if (answer.redirected) signedOut();
      else if (answer.ok) { take(await answer.json()); if (pollTimer) say("polling", "asking every 2 seconds"); }
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      if (active()) say("waiting", "no connection, trying again");
    }
  }

  function finish() {
    stopPolling();
    clearTimeout(retryTimer);
    if (socket) socket.close();
    say("", "complete");
  }

  function signedOut() {
    finish();
    say("waiting", "signed out: load the page again");
  }

  // The reader

  log.addEventListener("scroll", () => {
    if (log.scrollHeight - log.scrollTop - log.clientHeight < 24) logEnd.hidden = true;
  });
  logEnd.addEventListener("click", () => { log.scrollTop = log.scrollHeight; logEnd.hidden = true; });
  const wake = () => { if (document.visibilityState === "visible" && active()) { connect(); poll(); } };
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", wake);

  log.scrollTop = log.scrollHeight;
  if (active()) { say("waiting", "connecting"); connect(); }
})();
