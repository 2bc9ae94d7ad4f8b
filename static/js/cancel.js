// The question before a cancel can be closed again; Escape closes it too.
"use strict";

(() => {
  function show(container) {
    for (const button of container.querySelectorAll("[data-close-confirm]")) button.hidden = false;
  }

  function close(confirm) {
    confirm.open = false;
    confirm.querySelector("summary").focus();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-close-confirm]");
    if (button) close(button.closest("details"));
  });
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && document.querySelector("details.confirm[open]");
    if (open) close(open);
  });
  document.addEventListener("portal:replaced", (event) => show(event.target));
  show(document);
})();
