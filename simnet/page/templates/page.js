const offered = JSON.parse($("offered").textContent);
const nothing = () => ({ tunings: [], settings: {} });
let state = { ...nothing(), before: nothing() };
let past = [];
let knobs = new Map(); // by name, with their controls
let before = {}, follows = {}; // values by name where tunings, or what is pinned, changed them
let last = ""; // the knob that was moved last: the curve is of it
let asking = null;
const remembered = new Map(); // by state: the changes, and how sharp they are

// The state as a link, and as a name for what was answered.
function named(one) {
  const words = new URLSearchParams();
  for (const [when, part] of [["", one], ["before-", one.before]]) {
    for (const name of offered.tunings) if (part.tunings.includes(name)) words.append(`${when}tuning`, name);
    for (const name of Object.keys(part.settings).sort()) words.append(`${when}set`, `${name}=${part.settings[name]}`);
  }
  return words.toString();
}

function fromLink(text) {
  const found = { ...nothing(), before: nothing() };
  for (const [key, value] of new URLSearchParams(text)) {
    const part = key.startsWith("before-") ? found.before : found;
    const cut = value.lastIndexOf("=");
    if (key.endsWith("tuning")) part.tunings.push(value);
    else if (key.endsWith("set") && cut > 0) part.settings[value.slice(0, cut)] = value.slice(cut + 1);
  }
  return found;
}

const copied = (one) => structuredClone(one);
const valueBefore = (name) => state.before.settings[name] ?? (state.before.tunings.length ? before[name] : undefined) ?? knobs.get(name).value;
const valueFollowed = (name) => (state.tunings.length ? follows[name] : undefined) ?? valueBefore(name);
const valueNow = (name) => state.settings[name] ?? valueFollowed(name);
const isChanged = () => state.tunings.length > 0 || Object.keys(state.settings).length > 0;

function change(next, moved = "") {
  past.push({ state, before, follows, last });
  last = moved || last;
  state = next;
  ask();
}

function withValue(one, name, value) {
  const next = copied(one);
  if (value === valueFollowed(name)) delete next.settings[name];
  else next.settings[name] = value;
  return next;
}

function still(text) {
  $("state").classList.toggle("still", !asking);
  $("said").textContent = text;
}

// One piece of work at a time: another one ends it.
async function work(wanted, one, heard, during, after) {
  asking?.abort();
  const mine = asking = new AbortController();
  let round = "", from = null;
  fail("");
  still(`${during} …`);
  try {
    await tell(wanted, one, (told) => {
      if (mine !== asking) return;
      if (told.error) fail(told.error);
      else if (told.waits) still(`${during}: waiting for another answer to end …`);
      else if (told.round) {
        if (told.round !== round) [round, from] = [told.round, null];
        from ??= { at: performance.now(), done: told.done };
        still(`${during} · ${round}: ${told.done} of ${told.total} runs${toGo(from, told)}`);
      } else during = heard(told) ?? during;
    }, mine.signal);
  } catch (error) {
    if (mine !== asking) return false;
    if (error.name !== "AbortError") fail(error instanceof TypeError ? "The server does not answer: is it still running?" : error.message);
  }
  if (mine !== asking) return false;
  const stopped = mine.signal.aborted;
  asking = null;
  still(stopped ? `Stopped. ${during}` : after(during));
  $("answer").classList.remove("stale");
  return !stopped;
}

function toGo(from, told) {
  const done = told.done - from.done;
  if (!done || told.done === told.total) return "";
  const seconds = (performance.now() - from.at) / 1000 / done * (told.total - told.done);
  return seconds < 1 ? "" : `, about ${Math.ceil(seconds)} s to go`;
}

async function ask() {
  history.replaceState(null, "", `#${named(state)}`);
  const key = named(state);
  $("answer").classList.add("stale");
  show();
  await work("answer", state, (told) => {
    if (told.answer) {
      $("answer").innerHTML = told.answer;
      $("answer").classList.remove("stale");
      remembered.set(key, told);
      curve();
      return `Answer: ${offered.rounds[told.place]}`;
    }
    if (told.command) $("command").textContent = told.command;
    if (told.pictures) $("pictures").innerHTML = told.pictures;
    if (told.follows) {
      ({ before, follows } = told);
      show();
    }
  }, "Simulating", (said) => said);
}

// What is changed, and the controls.
function show() {
  const items = state.tunings.map((name) => item(name, () => change({ ...copied(state), tunings: state.tunings.filter((one) => one !== name) })));
  for (const [name, value] of Object.entries(state.settings)) {
    const knob = knobs.get(name);
    const from = knob ? `${knob.shown[valueFollowed(name)]} → ` : "";
    items.push(item(`${name}: ${from}${knob?.shown[value] ?? value}`, () => {
      const next = copied(state);
      delete next.settings[name];
      change(next, name);
    }));
  }
  $("changed").replaceChildren(...items);
  const pinned = [...state.before.tunings, ...Object.entries(state.before.settings).map((pair) => pair.join("="))];
  $("pinned").replaceChildren(...pinned.map((text) => made("li", {}, `before: ${text}`)));
  $("hint").hidden = isChanged();
  for (const id of ["pin", "save"]) $(id).disabled = !isChanged();
  $("reset").disabled = !isChanged() && !pinned.length;
  $("undo").disabled = !past.length;
  for (const box of document.getElementsByName("tuning")) {
    box.disabled = state.before.tunings.includes(box.value);
    box.checked = box.disabled || state.tunings.includes(box.value);
  }
  for (const knob of knobs.values()) place(knob);
  curve();
}

function item(text, undo) {
  return made("li", {}, made("span", {}, text), made("button", { type: "button", "aria-label": `undo ${text}`, title: "as before", onclick: undo }, "✕"));
}

function place(knob) {
  const now = valueNow(knob.name);
  const byTuning = !(knob.name in state.settings) && now !== valueBefore(knob.name);
  knob.output.textContent = (knob.shown[now] ?? now) + (byTuning ? ", by a tuning" : "");
  knob.input.value = knob.ordered ? knob.values.indexOf(now) : now;
  if (knob.ordered) knob.input.setAttribute("aria-valuetext", knob.output.textContent);
  knob.box.classList.toggle("changed", byTuning || knob.name in state.settings);
}

function knobOf(told) {
  const knob = { ...told, output: made("output", {}), effect: made("div", { class: "effect" }) };
  const id = `knob-${knobs.size}`;
  const most = knob.values.length - 1;
  const moved = (event) => change(withValue(state, knob.name, knob.ordered ? knob.values[event.target.value] : event.target.value), knob.name);
  knob.input = knob.ordered
    ? made("input", { id, type: "range", min: 0, max: most, step: 1, onchange: moved, oninput: (event) => { knob.output.textContent = knob.shown[knob.values[event.target.value]]; } })
    : made("select", { id, onchange: moved }, ...knob.values.map((value) => made("option", { value }, knob.shown[value])));
  knob.box = made("div", { class: "knob" },
    made("header", {}, made("label", { for: id }, knob.name, knob.doc === knob.name ? "" : made("small", {}, knob.doc)), knob.output),
    knob.input,
    knob.ordered ? made("div", { class: "ends" }, made("span", {}, knob.shown[knob.values[0]]), made("span", {}, `as it is: ${knob.shown[knob.value]}`), made("span", {}, knob.shown[knob.values[most]])) : "",
    knob.effect);
  knobs.set(knob.name, knob);
  return knob;
}

function group(title, several, open) {
  return made("details", { class: "group", open }, made("summary", {}, `${title} (${several.length})`), ...several.map((knob) => knob.box));
}

const narrow = () => matchMedia("(max-width: 56rem)").matches;
let groups = [];

// In groups; with an order, what matters most comes first, and what changes nothing is folded away.
function arrange(dead, found = null) {
  const rank = new Map((found ?? []).map((one, number) => [one.name, number]));
  for (const one of found ?? []) {
    const knob = knobs.get(one.name);
    if (knob) knob.effect.textContent = one.said;
  }
  const by = (a, b) => (rank.get(a.name) ?? 1e9) - (rank.get(b.name) ?? 1e9);
  const shown = groups
    .map((one) => ({ title: one.title, knobs: one.knobs.filter((knob) => !dead.has(knob.name)).sort(by) }))
    .filter((one) => one.knobs.length)
    .sort((a, b) => by(a.knobs[0], b.knobs[0]));
  const hidden = groups.flatMap((one) => one.knobs).filter((knob) => dead.has(knob.name));
  const boxes = shown.map((one) => group(one.title, one.knobs, !narrow()));
  if (hidden.length) boxes.push(group("change nothing here", hidden, false));
  if (found) {
    const tunings = new Map([...document.querySelectorAll(".tuning")].map((box) => [box.querySelector("input").value, box]));
    for (const one of found) tunings.get(one.name)?.parentElement.append(tunings.get(one.name));
  }
  $("knobs").replaceChildren(...boxes);
  filter();
}

function filter() {
  const text = $("filter").value.toLowerCase();
  for (const box of document.querySelectorAll("#knobs details")) {
    let some = false;
    for (const one of box.querySelectorAll(".knob")) {
      one.hidden = !one.textContent.toLowerCase().includes(text);
      some ||= !one.hidden;
    }
    box.hidden = !some;
    if (text && some) box.open = true;
  }
}

// The curve: what the positions of the last moved knob did, all else as it is now.
function points() {
  const knob = knobs.get(last);
  return knob.values.map((value) => {
    const key = named(withValue(state, last, value));
    return { value, key, told: remembered.get(key), now: value === valueNow(last) };
  });
}

function curve() {
  const knob = knobs.get(last);
  $("curve").hidden = !knob;
  if (!knob) return;
  const every = points();
  const labels = new Map(every.flatMap((one) => one.told?.changes ?? []).map((one) => [one.metric, one.label]));
  const chosen = labels.has($("measure").value) ? $("measure").value : labels.keys().next().value;
  if (!chosen) {
    $("curve").hidden = true;
    return;
  }
  $("measure").replaceChildren(...[...labels].map(([value, label]) => made("option", { value, selected: value === chosen }, label.split(",")[0])));
  $("curve-of").textContent = `over ${last}`;
  $("fill").disabled = every.every((one) => one.told);
  const drawn = every.map((one, number) => {
    const found = one.told?.changes.find((each) => each.metric === chosen);
    const same = one.told && !one.told.changes.length; // nothing is changed there
    return found || same ? { ...one, number, percent: 0, low: null, high: null, ...found } : null;
  }).filter(Boolean);
  $("drawn").replaceChildren(picture(knob, drawn));
}

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const signed = (number) => `${number < 0 ? "−" : "+"}${Math.abs(number).toFixed(Math.abs(number) < 10 ? 1 : 0)} %`;

function said(one, knob) {
  const range = one.low === null ? "one short run" : `95 %: ${signed(one.low)} to ${signed(one.high)}`;
  return `${knob.shown[one.value]}: ${signed(one.percent)} (${range})`;
}

function picture(knob, drawn) {
  const width = Math.max($("drawn").clientWidth, 280), height = 200, left = 58, foot = 24;
  const ends = drawn.flatMap((one) => [one.percent, one.low ?? 0, one.high ?? 0, 0]);
  let low = Math.min(...ends), high = Math.max(...ends);
  if (high - low < 2) [low, high] = [low - 1, high + 1];
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 1e4, 1e5, 1e6].find((one) => (high - low) / one <= 5) ?? 1e7;
  [low, high] = [Math.floor(low / step) * step, Math.ceil(high / step) * step];
  const x = (number) => left + 16 + (width - left - 40) * number / (knob.values.length - 1);
  const y = (percent) => 8 + (height - 16 - foot) * (high - percent) / (high - low);
  const parts = [];
  for (let at = low; at <= high; at += step) {
    parts.push(svg("line", { class: at ? "grid" : "zero", x1: left, x2: width - 4, y1: y(at), y2: y(at) }));
    parts.push(svg("text", { x: left - 6, y: y(at) + 4, "text-anchor": "end" }, at ? `${at < 0 ? "−" : "+"}${Math.abs(at)} %` : "0"));
  }
  const every = Math.ceil(knob.values.length * 70 / (width - left));
  knob.values.forEach((value, number) => {
    const now = value === valueNow(knob.name);
    const free = number % every === 0 && Math.abs(number - knob.values.indexOf(valueNow(knob.name))) >= every;
    if (now || free) parts.push(svg("text", { class: now ? "now" : "", x: x(number), y: height - 6, "text-anchor": "middle" }, knob.shown[value]));
  });
  const ranged = drawn.filter((one) => one.low !== null);
  if (ranged.length > 1) {
    const around = [...ranged.map((one) => [x(one.number), y(one.high)]), ...ranged.toReversed().map((one) => [x(one.number), y(one.low)])];
    parts.push(svg("polygon", { class: "band", points: around.join(" ") }));
  }
  for (const one of ranged) parts.push(svg("line", { class: "range", x1: x(one.number), x2: x(one.number), y1: y(one.high), y2: y(one.low) }));
  parts.push(svg("polyline", { class: "line", points: drawn.map((one) => [x(one.number), y(one.percent)]).join(" ") }));
  for (const one of drawn) {
    parts.push(svg("circle", { class: one.low === null ? "ring" : "", cx: x(one.number), cy: y(one.percent), r: one.now ? 6 : 4 }, svg("title", {}, said(one, knob))));
  }
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": drawn.map((one) => said(one, knob)).join("; ") }, ...parts);
}

async function fill() {
  const missing = points().filter((one) => !one.told);
  for (const [number, one] of missing.entries()) {
    const goes = await work("first", withValue(state, last, one.value), (told) => {
      if (told.answer) remembered.set(one.key, told);
      curve();
    }, `Position ${number + 1} of ${missing.length}`, () => "Every position was tried.");
    if (!goes) return;
  }
  if (isChanged()) ask();
}

async function save() {
  await work("report", state, (told) => {
    if (!told.report) return;
    const address = URL.createObjectURL(new Blob([told.report], { type: "text/html" }));
    made("a", { href: address, download: `${document.title.split(" ")[0]}-whatif.html` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }, "Writing the report", () => "The report is saved.");
}

function undo() {
  const found = past.pop();
  if (!found) return;
  ({ state, before, follows, last } = found);
  ask();
}

function begin() {
  for (const box of document.getElementsByName("tuning")) {
    box.addEventListener("change", () => {
      const others = state.tunings.filter((one) => one !== box.value);
      change({ ...copied(state), tunings: box.checked ? [...others, box.value] : others });
    });
  }
  $("undo").addEventListener("click", undo);
  $("reset").addEventListener("click", () => change({ ...nothing(), before: nothing() }));
  $("pin").addEventListener("click", () => {
    const both = { tunings: [...state.before.tunings, ...state.tunings], settings: { ...state.before.settings, ...state.settings } };
    change({ ...nothing(), before: both });
  });
  $("link").addEventListener("click", async () => {
    await navigator.clipboard.writeText(location.href);
    $("link").textContent = "Copied";
    setTimeout(() => { $("link").textContent = "Copy link"; }, 2000);
  });
  $("save").addEventListener("click", save);
  $("stop").addEventListener("click", () => asking?.abort());
  $("filter").addEventListener("input", filter);
  $("measure").addEventListener("change", curve);
  $("fill").addEventListener("click", fill);
  $("order").addEventListener("click", () => work("order", state, (told) => {
    if (told.order) arrange(new Set(told.order.filter((one) => one.idle).map((one) => one.name)), told.order);
  }, "Turning every knob", () => "What matters most is on top."));
  addEventListener("resize", curve);
  addEventListener("hashchange", () => {
    const linked = fromLink(location.hash.slice(1));
    if (named(linked) !== named(state)) change(linked);
  });
  state = fromLink(location.hash.slice(1));
  last = Object.keys(state.settings).at(-1) ?? "";
  ask();
  tell("knobs", nothing(), (told) => {
    if (told.error) $("knobs").textContent = told.error;
    if (told.groups) {
      groups = told.groups.map((one) => ({ title: one.title, knobs: one.knobs.map(knobOf) }));
      arrange(new Set());
      if (!knobs.size) $("knobs").replaceChildren(made("p", { class: "soft" }, "none that can be moved"));
      show();
    }
    if (told.host) [$("host").innerHTML, $("host").hidden] = [told.host, false];
    if (told.unread) arrange(new Set(told.unread));
  }).catch((error) => { $("knobs").textContent = error.message; });
}

begin();
