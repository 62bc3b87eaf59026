// Works out every hash of an exported ledger anew, from the stored texts. The file is sent nowhere.
"use strict";
(() => {
  const FIRST = "0".repeat(64);
  // Python's JSON: everything outside ASCII is escaped, with small hexadecimal digits.
  const SHORT = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f" };
  const quoted = (text) => {
    let out = '"';
    for (let place = 0; place < text.length; place += 1) {
      const sign = text[place], code = text.charCodeAt(place);
      if (SHORT[sign]) out += SHORT[sign];
      else if (code < 0x20 || code > 0x7e) out += "\\u" + code.toString(16).padStart(4, "0");
      else out += sign;
    }
    return out + '"';
  };
  const digest = async (text) => {
    const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
    return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
  };
  // The text of the value that begins at a place: numbers are not read and written again, so no digit changes.
  const value = (text, start) => {
    let depth = 0, inside = false;
    for (let place = start; place < text.length; place += 1) {
      const sign = text[place];
      if (inside) { if (sign === "\\") place += 1; else if (sign === '"') { inside = false; if (!depth) return text.slice(start, place + 1); } }
      else if (sign === '"') inside = true;
      else if (sign === "{" || sign === "[") depth += 1;
      else if (sign === "}" || sign === "]") { depth -= 1; if (!depth) return text.slice(start, place + 1); if (depth < 0) return text.slice(start, place).trim(); }
      else if (sign === "," && !depth) return text.slice(start, place).trim();
    }
    throw new Error("cut off");
  };
  // The members of an object as texts, in one pass.
  const members = (text) => {
    const found = {};
    let place = text.indexOf("{") + 1;
    for (;;) {
      while (/[\s,]/.test(text[place])) place += 1;
      if (text[place] === "}" || place >= text.length) return found;
      const name = value(text, place);
      place += name.length;
      while (/[\s:]/.test(text[place])) place += 1;
      const part = value(text, place);
      found[JSON.parse(name)] = part;
      place += part.length;
    }
  };
  const rows = (text) => {
    const all = members(text).rows;
    const found = [];
    let place = 1;
    for (;;) {
      while (/[\s,]/.test(all[place])) place += 1;
      if (all[place] === "]" || place >= all.length) return found;
      const row = value(all, place);
      found.push(members(row));
      place += row.length;
    }
  };
  // Python's canonical texts have no blanks; the export keeps them as they are stored.
  const checked = async (text, receipt) => {
    let before = FIRST, number = 0, seen = !receipt;
    for (const row of rows(text)) {
      number += 1;
      const plain = Object.fromEntries(Object.entries(row).filter(([name]) => !["body", "spent", "ceiling"].includes(name)).map(([name, part]) => [name, JSON.parse(part)]));
      if (plain.number !== number) return `row ${number} is missing (the next is ${plain.number})`;
      if (plain.before !== before) return `row ${number} does not follow the row before it`;
      const parts = [row.number, row.paid, quoted(plain.kind), quoted(plain.token), quoted(row.body), quoted(row.spent), quoted(row.ceiling), quoted(plain.at), quoted(plain.before)];
      if (plain.state !== null && plain.state !== undefined) parts.push(quoted(plain.state));
      const hash = await digest(`[${parts.join(",")}]`);
      if (hash !== plain.hash) return `row ${number} was changed: its hash does not fit`;
      if (receipt === `${number}:${hash}`) seen = true;
      before = hash;
    }
    if (!number) return "the ledger has no rows";
    return seen ? { number, before } : "the row of the receipt is not in this ledger";
  };
  const show = async () => {
    const file = document.getElementById("export").files[0], verdict = document.getElementById("verdict");
    if (!file) return;
    verdict.className = "soft";
    verdict.textContent = "Checking …";
    let found;
    try { found = await checked(await file.text(), document.getElementById("receipt").value.trim()); }
    catch { found = "this is not a ledger that was exported as JSON"; }
    const holds = typeof found === "object";
    verdict.className = holds ? "note" : "trouble";
    verdict.textContent = holds ? `Holds: ${found.number} rows, head ${found.before}` : `Damaged: ${found}`;
  };
  document.getElementById("export")?.addEventListener("change", show);
  document.getElementById("receipt")?.addEventListener("change", show);
})();
