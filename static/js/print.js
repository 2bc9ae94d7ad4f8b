// Paper opens nothing: what is folded is opened for printing, and folded again after it.
"use strict";

(() => {
  let opened = [];

  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    opened = [];
  });
})();
