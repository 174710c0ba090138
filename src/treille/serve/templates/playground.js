"use strict";
const setup = JSON.parse(document.getElementById("setup").textContent);
const at = (id) => document.getElementById(id);
const fields = setup.fields.map((field, i) => ({ ...field, box: at(`field-${i}`) }));
const PAUSE = 120, MOST_BARS = 12;  // milliseconds without a key before a request; bars in a list
let latest = 0, timer = 0, running = null;

function blanks(text) { return text.trim().split(/\s+/).filter(Boolean); }

function sentence(text, columns) {
  if (columns === 0) return JSON.parse(text || "[]");
  if (columns === 1) return blanks(text);
  if (text.trim().includes("\n")) return text.split("\n").filter((line) => line.trim()).map(blanks);
  return blanks(text).map((word) => {
    const cells = word.split("/");
    return cells.length < columns ? cells : [cells.slice(0, cells.length - columns + 1).join("/"), ...cells.slice(cells.length - columns + 1)];
  });
}

// What was typed as the value that the server reads.
function typed({ name, kind, columns, box }) {
  const text = box.value, begin = text.trimStart()[0];
  if (!begin && kind !== "texts") throw new SyntaxError(`${name} is empty`);
  if (kind === "tokens") return begin === "{" ? JSON.parse(text) : begin === "(" ? { plf: text } : blanks(text);
  if (kind === "sentences") return sentence(text, columns);
  if (kind === "texts") return text;
  if (begin === "{" || begin === "[") return JSON.parse(text);
  if (kind !== "vectors") return text.trim();
  const numbers = text.split(/[\s,;]+/).filter(Boolean).map((cell) => {
    if (!Number.isFinite(Number(cell))) throw new SyntaxError(`${cell} is not a number`);
    return Number(cell);
  });
  return setup.kind === "columns" && numbers.length === 1 ? numbers[0] : numbers;
}

function written(value, field) {
  if (field.kind === "sentences" && field.columns > 1) return value.map((cells) => [].concat(cells).join(" ")).join("\n");
  if (field.kind === "sentences" && field.columns === 1) return value.map((cells) => [].concat(cells)[0]).join(" ");
  if (typeof value === "string") return value;
  if (field.kind === "tokens" && Array.isArray(value)) return value.join(" ");
  return JSON.stringify(value);
}

function example() {
  if (setup.kind !== "columns") return typed(fields[0]);
  return Object.fromEntries(fields.map((field) => [field.name, typed(field)]));
}

function note(text, bad = false) {
  at("note").textContent = text;
  at("note").classList.toggle("bad", bad);
  document.querySelectorAll(".answer, .explanation").forEach((each) => each.classList.toggle("stale", bad));
}

function changed() {
  clearTimeout(timer);
  timer = setTimeout(ask, PAUSE);
}

async function ask() {
  const mine = ++latest;
  running?.abort();
  running = new AbortController();
  const chosen = at("class")?.value;
  if (fields.every(({ kind, box }) => kind !== "texts" && !box.value.trim())) return clear();
  let body;
  try {
    body = JSON.stringify({ example: example(), html: true, ...(chosen ? { class: setup.classes[chosen] } : {}) });
  } catch (error) {
    return note(`Not complete yet: ${error.message}`, true);
  }
  const began = performance.now();
  try {
    let { status, answer } = await post("explain", body);
    if (status === 422) {  // a model without explanations still predicts
      const reason = answer.error.message;
      ({ status, answer } = await post("predict", JSON.stringify({ example: JSON.parse(body).example })));
      if (status === 200) answer.reason = reason;
    }
    if (mine !== latest) return;  // another example has been typed since
    if (status === 503) { note("The server is busy, trying again"); timer = setTimeout(ask, 1000); return; }
    if (status !== 200) return note(answer.error.message, true);
    note(answer.reason ? `No explanation: ${answer.reason}` : "");
    at("milliseconds").textContent = `${(performance.now() - began).toFixed(0)} ms`;
    show(answer);
  } catch (error) {
    if (error.name !== "AbortError" && mine === latest) note("The server does not answer: is it still running?", true);
  }
}

async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(path, { method: "POST", body, headers, signal: running.signal });
  return { status: response.status, answer: await response.json() };
}

function clear() {
  note("");
  at("label").textContent = "–";
  at("milliseconds").textContent = "";
  at("scores").replaceChildren();
  at("explanation").hidden = true;
}

function show(answer) {
  const label = answer.label ?? answer.value ?? (answer.tags ? `${answer.tags.length} tokens` : answer.score);
  at("label").textContent = typeof label === "number" && answer.label === undefined ? label.toPrecision(5) : String(label);
  scores(answer);
  at("explanation").hidden = !answer.html;
  if (!answer.html) return;
  at("highlighting").innerHTML = answer.html;  // escaped by the server; the page's policy allows no script in it
  const listed = Boolean(answer.parts) && !at("highlighting").querySelector("table");
  for (const id of ["parts", "parts-title"]) at(id).hidden = !listed;
  at("sum").hidden = !answer.parts;
  if (answer.parts) sum(answer);
  if (listed) parts(answer);
}

function scores(answer) {
  if (!answer.classes || !answer.scores) return at("scores").replaceChildren();
  const values = answer.probabilities ?? answer.scores, signed = !answer.probabilities;
  const rows = answer.classes.map((name, k) => ({ name: String(name), value: values[k], chosen: name === answer.label }));
  if (rows.length > 2) rows.sort((a, b) => b.value - a.value);
  bars(at("scores"), rows.slice(0, MOST_BARS), signed, signed ? 0 : 1, rows.length - MOST_BARS);
}

function parts(answer) {
  const each = answer.words ?? answer.parts.map((name, i) => [name, answer.contributions[i]]);
  const rows = each.map(([name, value]) => ({ name, value })).filter((row) => row.value);
  rows.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  at("parts").classList.add("parts");
  bars(at("parts"), rows.slice(0, MOST_BARS), true, 0, rows.length - MOST_BARS);
  at("parts-title").textContent = rows.length ? "Largest contributions" : "No part of it is known to the model";
}

function sum(answer) {
  const total = answer.contributions.reduce((a, b) => a + b, 0), base = answer.base ? ` + base ${signed(answer.base)}` : "";
  at("sum").textContent = `score ${signed(answer.score)} = parts ${signed(total)}${base} + intercept ${signed(answer.intercept)}`;
}

function signed(value) {
  const size = Math.abs(value), text = size && size < 0.001 ? size.toExponential(1) : size.toPrecision(3);
  return `${value < 0 ? "−" : "+"}${text}`;
}

function element(tag, text, name) {
  const made = document.createElement(tag);
  made.textContent = text;
  if (name) made.className = name;
  return made;
}

// Rows are kept from one answer to the next, so that bars move.
function bars(list, rows, isSigned, most, more) {
  most = most || Math.max(...rows.map((row) => Math.abs(row.value)), 1e-12);
  while (list.children.length > rows.length) list.lastChild.remove();
  rows.forEach((row, k) => {
    let item = list.children[k];
    if (!item?.querySelector("i")) {
      item?.remove();
      item = document.createElement("li");
      const track = element("span", "", isSigned ? "track signed" : "track");
      track.append(document.createElement("i"));
      item.append(element("span", "", "name"), track, element("span", "", "number"));
      list.insertBefore(item, list.children[k] ?? null);
    }
    const [name, track, number] = item.children, bar = track.firstChild, share = Math.abs(row.value) / most;
    name.textContent = visible(row.name, !row.name.trim());
    name.title = row.name;
    number.textContent = isSigned ? signed(row.value) : `${(100 * row.value).toFixed(1)} %`;
    item.classList.toggle("chosen", Boolean(row.chosen));
    bar.className = row.value < 0 ? "against" : "for";
    bar.style.width = `${(isSigned ? 50 : 100) * share}%`;
    bar.style.left = isSigned ? `${row.value < 0 ? 50 - 50 * share : 50}%` : "0";
  });
  if (more > 0) list.append(element("li", `and ${more} more`, "more"));
}

function visible(text, blanks = false) {
  return (blanks ? text.replace(/ /g, "·") : text).replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "�");
}

function start() {
  fields.forEach(({ box }) => box.addEventListener("input", () => { if (at("sample")) at("sample").value = ""; changed(); }));
  at("class")?.addEventListener("change", ask);
  at("sample")?.addEventListener("change", (event) => sample(event.target.value));
  if (at("sample")) { at("sample").value = "0"; sample("0"); } else ask();
}

function sample(choice) {
  if (choice === "") return;
  const { value } = setup.samples[choice];
  fields.forEach((field) => { field.box.value = written(setup.kind === "columns" ? value[field.name] : value, field); });
  ask();
}

start();
