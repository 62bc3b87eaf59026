// Makes forms live. Every page works without it: forms are sent, pages are loaded again.
"use strict";
(() => {
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  const some = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // Light or dark.
  for (const button of some("[data-theme-switch]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      const now = document.documentElement.dataset.theme || (dark ? "dark" : "light");
      const next = now === "dark" ? "light" : "dark";
      document.documentElement.dataset.theme = next;
      try { localStorage.setItem("sordino-theme", next); } catch { /* not kept */ }
    });
  }

  // A page is asked for as text and put in its place; only our own server is ever asked.
  const fetched = async (address, signal) => {
    const answer = await fetch(address, { signal, credentials: "same-origin", headers: { accept: "text/html" } });
    if (!answer.ok && answer.status !== 422) throw new Error(String(answer.status));
    return answer.text();
  };
  const put = (target, text) => {
    const made = new DOMParser().parseFromString(text, "text/html");
    target.replaceChildren(...made.body.childNodes);
    prepare(target);
  };

  // Polling: a fragment says where it goes on.
  const poll = async (mark) => {
    const target = document.querySelector(mark.dataset.target);
    await wait(500);
    if (!mark.isConnected || !target) return;
    try {
      const text = await fetched(mark.dataset.poll);
      if (mark.isConnected) put(target, text);
    } catch { await wait(2000); if (mark.isConnected) poll(mark); }
  };

  // A form that shows its result while it is filled in.
  const live = (form) => {
    const target = document.querySelector(form.dataset.live);
    let timer, running;
    const go = async () => {
      running?.abort();
      running = new AbortController();
      const query = new URLSearchParams(new FormData(form));
      target.classList.add("stale");
      try {
        const text = await fetched(`${form.action}?${query}&part=result`, running.signal);
        history.replaceState(null, "", `${form.action}?${query}`);
        put(target, text);
        target.classList.remove("stale");
      } catch (problem) { if (problem.name !== "AbortError") form.submit(); }
    };
    form.addEventListener("input", (event) => {
      if (event.target.matches("[data-slider]")) return;
      clearTimeout(timer);
      timer = setTimeout(go, 450);
    });
    form.addEventListener("change", (event) => {
      if (event.target.matches("[data-reload]")) return;
      clearTimeout(timer);
      go();
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(timer); go(); });
  };

  // Choosing another statistic or column asks for the form that belongs to it.
  const reload = (select) => select.addEventListener("change", (event) => {
    event.stopPropagation();
    const form = select.form, query = new URLSearchParams(new FormData(form));
    for (const name of (select.dataset.forget || "").split(" ")) if (name) query.delete(name);
    if (!select.dataset.reload) query.set("refresh", "");
    for (const [name, value] of [...query]) if (!value) query.delete(name);
    query.set("focus", select.id);
    location.assign(`${select.dataset.reload || form.action}?${query}`);
  });

  // The slider moves the ring along the line that is drawn already; letting go asks for the figure.
  const slider = (range) => {
    const field = document.getElementById(range.dataset.slider);
    range.hidden = false;
    const set = () => { const value = Number(field.value); if (value > 0) range.value = Math.log10(value); };
    set();
    field.addEventListener("input", set);
    range.addEventListener("input", () => {
      field.value = Number((10 ** Number(range.value)).toPrecision(2));
      moved(Number(field.value));
    });
    range.addEventListener("change", () => field.dispatchEvent(new Event("change", { bubbles: true })));
  };
  const moved = (price) => {
    for (const chart of some("[data-curve] svg[data-points]")) {
      const points = chart.dataset.points.split(" ").map((pair) => pair.split(",").map(Number));
      const [left, right, top, bottom, x0, x1, y0, y1] = chart.dataset.box.split(",").map(Number);
      const x = Math.min(Math.max(price, x0), x1);
      let place = points.findIndex(([at]) => at >= x);
      if (place < 1) place = 1;
      const [[a, b], [c, d]] = [points[place - 1], points[place] || points[points.length - 1]];
      const share = Math.log(x / a) / Math.log(c / a);
      const y = Math.exp(Math.log(b) + share * Math.log(d / b));
      const ring = chart.querySelector(".here");
      ring.setAttribute("cx", left + (Math.log(x / x0) / Math.log(x1 / x0)) * (right - left));
      ring.setAttribute("cy", top + (1 - Math.log(y / y0) / Math.log(y1 / y0)) * (bottom - top));
      const strong = document.querySelector("[data-error]");
      const at = Number(chart.closest("[data-curve]").dataset.at);
      if (strong && at > 0) {
        const first = along(points, at);
        const value = Number(strong.dataset.error) * y / first;
        strong.textContent = `about ${Number(value.toPrecision(2)).toLocaleString("en")}`;
      }
    }
  };
  const along = (points, price) => {
    const x = Math.min(Math.max(price, points[0][0]), points[points.length - 1][0]);
    let place = points.findIndex(([at]) => at >= x);
    if (place < 1) place = 1;
    const [[a, b], [c, d]] = [points[place - 1], points[place]];
    return Math.exp(Math.log(b) + (Math.log(x / a) / Math.log(c / a)) * Math.log(d / b));
  };

  // A paid question whose answer is not due yet.
  const again = async () => { await wait(700); location.reload(); };

  // The one button is pressed once; a second press would cost nothing either.
  const once = (form) => form.addEventListener("submit", () => {
    for (const button of some("button", form)) { button.setAttribute("aria-disabled", "true"); button.classList.add("busy"); }
  });

  const prepare = (root) => {
    some("[data-poll]", root).forEach(poll);
    some("[data-focus]", root).slice(0, 1).forEach((each) => { if (root === document) each.focus(); });
  };
  some("form[data-live]").forEach(live);
  some("[data-reload]").forEach(reload);
  some("[data-slider]").forEach(slider);
  some("[data-poll-page]").forEach(again);
  some("form").filter((form) => form.querySelector(".spend")).forEach(once);
  prepare(document);
  const focus = new URLSearchParams(location.search).get("focus");
  if (focus && /^[a-z_0-9]+$/.test(focus)) document.getElementById(focus)?.focus();
  addEventListener("click", (event) => {
    for (const open of some(".more details[open]")) if (!open.contains(event.target)) open.open = false;
  });
})();
