"use strict";
const all = (root, selector) => [...root.querySelectorAll(selector)];
const STEP = 8;
const plain = text => text.toLowerCase().replace(/[\s·]+/g, "");  // blanks do not matter, nor marks for them

// Examples: search, filters, order, and more of them on request. `data-examples` holds one list.
const lists = {};
for (const root of all(document, "[data-examples]")) {
  const list = root.querySelector(".list"), cards = all(list, ".example");
  const [search, sort, show, truth, guess] =
    ["search", "sort", "show", "true", "predicted"].map(name => root.querySelector(`.tools [data-${name}]`));
  const counted = root.querySelector("[data-count]"), more = root.querySelector("[data-more]");
  const texts = new Map();
  const text = card => {
    if (!texts.has(card)) texts.set(card, plain(card.textContent));
    return texts.get(card);
  };
  const keys = {
    error: card => -card.dataset.error,
    confidence: card => -card.dataset.confidence,
    doubt: card => +card.dataset.confidence,
    number: card => +card.dataset.number,
  };
  let limit = STEP;
  const update = () => {
    const words = plain(search.value), key = keys[sort.value];
    const fits = card =>
      (!show?.value || (show.value === "wrong") === card.classList.contains("wrong")) &&
      (!truth?.value || card.dataset.true === truth.value) &&
      (!guess?.value || card.dataset.predicted === guess.value) &&
      (!words || text(card).includes(words));
    const found = cards.filter(fits).sort((a, b) => key(a) - key(b) || a.dataset.number - b.dataset.number);
    for (const card of cards) card.hidden = true;
    found.forEach((card, i) => { card.hidden = i >= limit; list.append(card); });
    const seen = Math.min(limit, found.length);
    counted.textContent = found.length ? `${seen} of ${found.length} shown` : "None of the examples fits.";
    more.hidden = found.length <= limit;
  };
  const anew = () => { limit = STEP; update(); };
  for (const control of [search, sort, show, truth, guess]) control?.addEventListener("input", anew);
  more.addEventListener("click", () => { limit += STEP; update(); });
  lists[root.dataset.examples] = (wanted, predicted) => {
    search.value = ""; truth.value = wanted; guess.value = predicted; show.value = "";
    anew();
    root.parentElement.scrollIntoView();
    truth.focus({preventScroll: true});
  };
  anew();
}

const press = (group, button) => {
  for (const other of all(group, "button")) other.setAttribute("aria-pressed", String(other === button));
};

const sorted = button => {
  const th = button.closest("th"), table = th.closest("table"), body = table.tBodies[0];
  const place = [...th.parentElement.children].indexOf(th), numeric = th.classList.contains("number");
  const before = th.getAttribute("aria-sort");
  const down = before ? before === "ascending" : numeric;
  for (const other of all(table, "th[aria-sort]")) other.removeAttribute("aria-sort");
  th.setAttribute("aria-sort", down ? "descending" : "ascending");
  const value = row => {
    const cell = row.cells[place];
    return numeric ? +(cell.dataset.value ?? cell.textContent) : cell.textContent;
  };
  const order = (a, b) => numeric ? a - b : a.localeCompare(b, undefined, {numeric: true});
  body.append(...[...body.rows].sort((a, b) => (down ? -1 : 1) * order(value(a), value(b))));
};

const copy = async button => {
  const code = button.previousElementSibling;
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
};

document.addEventListener("click", event => {
  const button = event.target.closest?.("button");
  if (!button) return;
  const data = button.dataset;
  if (button.classList.contains("sort")) sorted(button);
  else if ("copy" in data) copy(button);
  else if (data.cell) lists[data.cell]?.(data.true, data.predicted);
  else if (data.highlighting) {
    press(button.parentElement, button);
    all(button.closest("article"), ".canvas").forEach((canvas, i) => { canvas.hidden = i !== +data.highlighting; });
  } else if (data.model) {
    press(button.parentElement, button);
    for (const model of all(document, ".model")) model.hidden = model.id !== data.model;
  }
});

document.addEventListener("input", event => {
  const control = event.target;
  if (control.dataset.panels) {
    for (const panel of all(document, `[data-panel="${control.dataset.panels}"]`)) panel.hidden = panel.dataset.place !== control.value;
  } else if ("filter" in control.dataset) {
    const words = plain(control.value);
    for (const row of all(control.closest("[data-features]"), "tbody tr")) {
      row.hidden = !plain(row.textContent).includes(words);
    }
  }
});
