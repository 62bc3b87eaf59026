// Light or dark as the reader chose; without a choice the system decides.
"use strict";
(() => {
  try {
    const kept = localStorage.getItem("sordino-theme");
    if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
  } catch { /* a browser that keeps nothing */ }
})();
