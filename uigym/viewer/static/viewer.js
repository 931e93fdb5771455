// Everything that the pages do by themselves. Without it they can be read: each step, filter and page has its address.
// Text that strangers wrote comes as HTML that the server has escaped, or is put in as text; nothing is evaluated.

const root = document.documentElement;
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
root.classList.add("scripted");

// --- light and dark ---

const kept = (() => { try { return window.localStorage; } catch { return null; } })();
if (kept?.getItem("theme")) root.dataset.theme = kept.getItem("theme");

function theme() {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  kept?.setItem("theme", root.dataset.theme);
}

function toast(text) {
  one(".toast")?.remove();
  const note = Object.assign(document.createElement("div"), { className: "toast", textContent: text, role: "status" });
  document.body.append(note);
  setTimeout(() => note.remove(), 1800);
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch { // no permission, or no secure context: the old way
    const field = Object.assign(document.createElement("textarea"), { value: button.dataset.copy });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  toast("Copied");
}

// --- parts of a page that come later: from the server, or from a template of the same file ---

const parts = new Map();

function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}

async function part(address) {
  if (address.startsWith("#")) return document.getElementById(address.slice(1))?.content.cloneNode(true) ?? parsed("");
  if (!parts.has(address)) {
    if (parts.size > 80) parts.delete(parts.keys().next().value);
    parts.set(address, fetch(address).then((answer) => {
      if (!answer.ok) throw new Error(`${answer.status}`);
      return answer.text();
    }));
  }
  try {
    return parsed(await parts.get(address));
  } catch (error) {
    parts.delete(address);
    throw error;
  }
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) { seen.unobserve(target); load(target); }
}, { rootMargin: "300px" });

async function load(place) {
  try {
    const found = await part(place.dataset.load);
    prepare(found);
    const home = place.parentElement;
    place.replaceWith(found);
    home.dispatchEvent(new CustomEvent("loaded", { bubbles: true }));
  } catch {
    place.textContent = "It could not be read. Load the page again.";
  }
}

// --- what an action did, drawn over its picture in the size of the screen ---

const SVG = "http://www.w3.org/2000/svg";

function shape(svg, name, attributes) {
  const element = svg.appendChild(document.createElementNS(SVG, name));
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
}

function stroke(svg, name, attributes) {
  shape(svg, name, { ...attributes, class: "halo" });
  shape(svg, name, { ...attributes, class: "line" });
}

function arrow(svg, [x0, y0], [x, y]) {
  const angle = Math.atan2(y - y0, x - x0);
  const wing = (turn) => `${x - 13 * Math.cos(angle + turn)},${y - 13 * Math.sin(angle + turn)}`;
  stroke(svg, "polyline", { points: `${wing(0.5)} ${x},${y} ${wing(-0.5)}` });
}

const DRAW = {
  click(svg, [at], { count = 1 }) {
    shape(svg, "circle", { class: "tint", cx: at[0], cy: at[1], r: 19 });
    for (let ring = 0; ring < Math.min(count, 3); ring++) stroke(svg, "circle", { cx: at[0], cy: at[1], r: 19 + 6 * ring });
    shape(svg, "circle", { class: "core", cx: at[0], cy: at[1], r: 4.5 });
  },
  move(svg, [[x, y]]) {
    stroke(svg, "path", { d: `M${x - 14} ${y}h9M${x + 5} ${y}h9M${x} ${y - 14}v9M${x} ${y + 5}v9` });
    shape(svg, "circle", { class: "core", cx: x, cy: y, r: 3 });
  },
  down(svg, [[x, y]]) { stroke(svg, "path", { d: `M${x - 16} ${y}a16 16 0 0 0 32 0` }); shape(svg, "circle", { class: "core", cx: x, cy: y, r: 4.5 }); },
  up(svg, [[x, y]]) { stroke(svg, "path", { d: `M${x - 16} ${y}a16 16 0 0 1 32 0` }); shape(svg, "circle", { class: "core", cx: x, cy: y, r: 4.5 }); },
  drag(svg, points) {
    stroke(svg, "polyline", { points: points.map((point) => point.join()).join(" ") });
    const end = points.at(-1);
    const from = points.findLast(([x, y]) => Math.hypot(x - end[0], y - end[1]) > 6) ?? points[0];
    if (points.length > 1) arrow(svg, from, end);
    shape(svg, "circle", { class: "core", cx: points[0][0], cy: points[0][1], r: 6 });
  },
  scroll(svg, [[x, y]], { by = [0, 0] }) {
    const long = Math.hypot(...by) || 1;
    const to = [x + (by[0] / long) * 64, y + (by[1] / long) * 64];
    stroke(svg, "path", { d: `M${x} ${y}L${to[0]} ${to[1]}` });
    arrow(svg, [x, y], to);
    shape(svg, "circle", { class: "core", cx: x, cy: y, r: 5 });
  },
};

function say(overlay, mark, [x, y], wide, high) {
  if (!mark.label && !mark.keys?.length) return;
  const label = overlay.appendChild(document.createElement("div"));
  label.className = `label${mark.kind === "type" ? " typed" : ""}${mark.refused ? " refused" : ""}`;
  for (const key of mark.keys ?? []) label.appendChild(document.createElement("kbd")).textContent = key;
  if (mark.label) label.append(Object.assign(document.createElement("span"), { textContent: mark.label }));
  const below = y + 30 + label.offsetHeight < high;
  label.style.left = `${clamp(x - label.offsetWidth / 2, 6, Math.max(6, wide - label.offsetWidth - 6))}px`;
  label.style.top = `${clamp(below ? y + 28 : y - 28 - label.offsetHeight, 6, Math.max(6, high - label.offsetHeight - 6))}px`;
}

function draw(overlay) {
  const stage = overlay.parentElement;
  const wide = stage.clientWidth, high = stage.clientHeight;
  if (!overlay.dataset.mark || !wide || !high) return;
  const mark = JSON.parse(overlay.dataset.mark);
  const scale = wide / Number(stage.dataset.width);
  const points = (mark.points ?? []).map(([x, y]) => [clamp(x * scale, 0, wide), clamp(y * scale, 0, high)]);
  overlay.replaceChildren();
  if (points.length && DRAW[mark.kind]) {
    const svg = overlay.appendChild(document.createElementNS(SVG, "svg"));
    if (mark.refused) svg.setAttribute("class", "refused");
    DRAW[mark.kind](svg, points, mark);
  }
  say(overlay, mark, points.at(-1) ?? [wide / 2, high - 40], wide, high);
}

const sized = new ResizeObserver((entries) => { for (const { target } of entries) all(".overlay", target).forEach(draw); });

function prepare(within) {
  for (const stage of all(".stage[data-width]", within)) {
    const { width, height } = stage.dataset;
    if (Number(width)) { stage.style.setProperty("--aspect", width / height); stage.style.setProperty("--across", width); }
    sized.observe(stage);
  }
  all("[data-load]", within).forEach((place) => seen.observe(place));
  all("li.unread[data-rows]", within).forEach((place) => { place.style.height = `${place.dataset.rows * 34}px`; });
  if (innerWidth < 760) for (const fold of all("[data-fold]", within)) fold.open = all("tr, .cells li", fold).length < 9;
  pictures(within);
}

// --- one file instead of a server: pictures are in the page, once each ---

const stored = one("#pictures") ? JSON.parse(one("#pictures").textContent) : null;

function pictures(within) {
  if (!stored) return;
  for (const image of all("img[data-picture]", within)) {
    image.src = stored[image.dataset.picture] ?? "";
    image.removeAttribute("data-picture");
  }
}

// --- an episode ---

class Player {
  constructor(element) {
    this.element = element;
    this.total = Number(element.dataset.total);
    this.number = Number(element.dataset.step);
    this.asked = this.number;
    this.scrub = one("[data-scrub]", element);
    this.scrub?.addEventListener("input", () => this.go(Number(this.scrub.value)));
    element.addEventListener("loaded", () => this.point());
    this.point(true);
    if (document.readyState === "complete") this.ahead();
    else addEventListener("load", () => this.ahead(), { once: true });
  }

  address(number) { return `${this.element.dataset.steps}${number}`; }

  async go(number) {
    this.asked = clamp(number, 0, this.total);
    this.number = this.asked;
    this.point();
    let found;
    try { found = await part(this.address(this.asked)); } catch { return toast("The step could not be read."); }
    const ready = all("img.now", found);
    prepare(found);
    const mine = this.number;
    await Promise.race([Promise.all(ready.map((image) => image.decode().catch(() => 0))), new Promise((go) => setTimeout(go, 400))]);
    if (mine !== this.asked || mine !== this.number) return;
    for (const fresh of all("[data-slot]", found)) one(`[data-slot="${fresh.dataset.slot}"]`, this.element)?.replaceChildren(...fresh.childNodes);
    this.flip(false);
    if (this.element.dataset.steps.startsWith("/") && !this.element.closest(".compare")) {
      const url = new URL(location);
      url.searchParams.set("step", mine);
      history.replaceState(null, "", url);
    }
    this.ahead();
    this.element.dispatchEvent(new CustomEvent("stepped", { bubbles: true, detail: mine }));
  }

  step(by) { return this.go(this.number + by); }

  ahead() { // the next picture is there when it is asked for
    for (const number of [this.number + 1, this.number - 1]) {
      if (number < 0 || number > this.total || this.element.dataset.steps.startsWith("#")) continue;
      part(this.address(number)).then((found) => { for (const image of all("img.now", found)) new Image().src = image.src; }).catch(() => 0);
    }
  }

  point(first = false) { // list, film strip and slider show where we are
    for (const old of all("[aria-current]", this.element)) old.removeAttribute("aria-current");
    const unread = all("li.unread", this.element).find((place) => this.number >= Number(place.dataset.begin) && this.number < Number(place.dataset.begin) + Number(place.dataset.rows));
    if (unread) { seen.unobserve(unread); load(unread); }
    let nearest = null;
    for (const link of all("[data-film] [data-step]", this.element)) if (Number(link.dataset.step) <= this.number) nearest = link;
    const row = one(`[data-actions] [data-step="${this.number}"]`, this.element);
    for (const link of [nearest, row]) if (link) { link.setAttribute("aria-current", "step"); within(link, first); }
    if (this.scrub) this.scrub.value = this.number;
    const place = one("[data-place]", this.element);
    if (place) place.textContent = this.number < this.total ? `${this.number + 1} / ${this.total}` : "end";
  }

  flip(on = !this.flipped) {
    this.flipped = on;
    const then = one(".then", this.element);
    if (then?.dataset.later) { then.src = then.dataset.later; delete then.dataset.later; }
    if (then) { then.hidden = !on; one(".now", this.element).hidden = on; one(".overlay", this.element).hidden = on; }
    one('[data-do="flip"]', this.element)?.setAttribute("aria-pressed", String(on && Boolean(then)));
  }

  marks() {
    const off = this.element.classList.toggle("unmarked");
    one('[data-do="marks"]', this.element)?.setAttribute("aria-pressed", String(!off));
  }

  full() {
    const slot = one('[data-slot="stage"]', this.element);
    slot.classList.toggle("enlarged");
  }

  small() { const on = one(".enlarged", this.element); on?.classList.remove("enlarged"); return Boolean(on); }
}

function within(link, first) { // scrolls its own list, never the page
  const box = link.closest("[data-actions], [data-film]");
  if (!box) return;
  const a = link.getBoundingClientRect(), b = box.getBoundingClientRect();
  if (first || a.top < b.top || a.bottom > b.bottom) box.scrollTop += a.top - b.top - (b.height - a.height) / 2;
  if (first || a.left < b.left || a.right > b.right) box.scrollLeft += a.left - b.left - (b.width - a.width) / 2;
}

function tab(name, focus = false) {
  for (const list of all("[data-tabs]:not([hidden] *)")) {
    const found = one(`[role="tab"][data-tab="${name}"]`, list);
    if (!found) continue;
    for (const each of all('[role="tab"]', list)) {
      const on = each === found;
      each.setAttribute("aria-selected", String(on));
      each.tabIndex = on ? 0 : -1;
      const panel = document.getElementById(each.getAttribute("aria-controls"));
      if (panel) panel.hidden = !on;
    }
    if (focus) found.focus();
  }
  try { sessionStorage.setItem("tab", name); } catch { /* a file may have no storage */ }
}

// --- lists ---

function rows(by) {
  const every = all("[data-row]").filter((row) => row.offsetParent);
  const at = every.indexOf(document.activeElement);
  every[clamp(at + by, 0, every.length - 1)]?.focus();
}

function picked() { return all('input[name="pick"]:checked'); }

function choose(box) {
  const chosen = picked();
  if (chosen.length > 2) chosen.find((each) => each !== box).checked = false;
  const bar = one("[data-pick]");
  const now = picked();
  bar.hidden = !now.length;
  one("[data-picked]", bar).textContent = now.length === 1 ? "One episode is chosen. Choose another one to compare them." : "Two episodes are chosen.";
  one("button", bar).disabled = now.length < 2;
}

function comparison() {
  const [a, b] = picked();
  if (b) location.href = `/compare?${new URLSearchParams({ a: a.value, b: b.value })}`;
}

// --- what is new ---

function listen(address) {
  let source = null;
  const open = () => { source ??= Object.assign(new EventSource(address), { onmessage: refresh }); };
  const close = () => { source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => (document.hidden ? close() : (open(), refresh())));
  addEventListener("pagehide", close);
  if (!document.hidden) open();
}

async function refresh() {
  const answer = await fetch(location.href).catch(() => null);
  if (!answer?.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const place of all("[data-live]")) {
    const found = one(`[data-live="${place.dataset.live}"]`, fresh);
    if (!found || found.isEqualNode(place.was ?? null)) continue;
    const focus = document.activeElement?.getAttribute("href") ?? document.activeElement?.value;
    const chosen = picked().map((box) => box.value);
    const opened = all("details[open] summary", place).map((each) => each.textContent);
    if (place.contains(document.activeElement) && document.activeElement.matches("input[type=search], select")) {
      document.activeElement.addEventListener("blur", refresh, { once: true }); // nobody is torn away from what they type
      continue;
    }
    place.was = found.cloneNode(true);
    place.replaceChildren(...document.importNode(found, true).childNodes);
    for (const box of all('input[name="pick"]', place)) if (chosen.includes(box.value)) { box.checked = true; choose(box); }
    for (const each of all("details", place)) each.open = each.open || opened.includes(one("summary", each)?.textContent);
    if (focus) all("a, input", place).find((each) => (each.getAttribute("href") ?? each.value) === focus)?.focus({ preventScroll: true });
    prepare(place);
  }
}

// --- one file with many episodes ---

function route() {
  const name = decodeURIComponent(location.hash.slice(1));
  const [id, step] = name.startsWith("e:") ? name.slice(2).split("/") : ["", ""];
  for (const page of all("[data-view]")) page.hidden = page.dataset.view !== id;
  const shown = all("[data-view]").find((page) => !page.hidden) ?? one("[data-view]");
  shown.hidden = false;
  const held = one("template[data-page-of]", shown);
  if (held) { held.replaceWith(held.content.cloneNode(true)); prepare(shown); start(shown); }
  if (id && step) playing()?.go(Number(step));
  if (!step) scrollTo(0, 0);
}

// --- keys and clicks ---

let players = [];
const playing = () => players.find((player) => player.element.offsetParent);
const every = (act) => players.filter((player) => player.element.offsetParent).forEach(act);

function start(within = document) {
  players.push(...all("[data-episode]", within).map((element) => new Player(element)));
  let name = "verdict";
  try { name = sessionStorage.getItem("tab") ?? name; } catch { /* a file may have no storage */ }
  if (one("[data-tabs]", within)) tab(one(`[role="tab"][data-tab="${CSS.escape(name)}"]`, within) ? name : "verdict");
}

const follow = (selector) => all(selector).find((link) => link.offsetParent)?.click();
const DO = {
  theme, keys: () => one("#keys").showModal(), back: () => every((p) => p.step(-1)), on: () => every((p) => p.step(1)),
  flip: () => every((p) => p.flip()), marks: () => every((p) => p.marks()), full: () => playing()?.full(), blend: () => one(".compare")?.dispatchEvent(new Event("blend")),
};
const KEYS = {
  ArrowLeft: DO.back, ArrowRight: DO.on, Home: () => every((p) => p.go(0)), End: () => every((p) => p.go(p.total)), m: DO.marks, f: DO.full,
  "[": () => follow('.beside [rel="prev"]'), "]": () => follow('.beside [rel="next"]'), d: theme, "?": DO.keys, b: DO.blend,
  j: () => (players.length ? DO.on() : rows(1)), k: () => (players.length ? DO.back() : rows(-1)), "/": () => one('input[type="search"]')?.focus(),
  u: () => { if (document.body.dataset.up) location.href = document.body.dataset.up; },
  c: () => (playing() ? all("[data-first]").find((each) => each.closest("[data-episode]") === playing().element) && copy(one("[data-first]", playing().element)) : comparison()),
  x: () => { const box = one('input[name="pick"]', document.activeElement?.closest("li") ?? document.createElement("li")); if (box) box.click(); },
  Escape: () => every((p) => p.small()),
};

document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("input:not([type=range], [type=checkbox]), select, textarea, [contenteditable]");
  if (field && event.key === "Escape") return field.blur();
  if (event.ctrlKey || event.metaKey || event.altKey || field || one("dialog[open]")) return undefined;
  const tabs = event.target.closest?.('[role="tablist"]');
  if (tabs && /^Arrow(Left|Right)$/.test(event.key)) {
    const names = all('[role="tab"]', tabs);
    const at = names.indexOf(event.target) + (event.key === "ArrowRight" ? 1 : -1);
    event.preventDefault();
    return tab(names.at(at % names.length).dataset.tab, true);
  }
  if (players.length && event.key === " " && !event.target.closest?.("button, summary, a, input")) {
    event.preventDefault();
    if (!event.repeat) every((p) => p.flip());
    return undefined;
  }
  if (players.length && /^[1-9]$/.test(event.key)) {
    const found = all('[role="tab"]', one("[data-tabs]", playing()?.element ?? document) ?? document)[Number(event.key) - 1];
    return found && tab(found.dataset.tab);
  }
  const act = KEYS[event.key];
  if (!act || (/^(Arrow|Home|End)/.test(event.key) && !players.length)) return undefined;
  event.preventDefault();
  return act();
});

document.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return undefined; // a new tab, as everywhere
  const target = event.target;
  const button = target.closest("[data-copy]");
  if (button) return copy(button);
  const named = target.closest("[data-tab]");
  if (named) { event.preventDefault(); tab(named.dataset.tab); if (named.getAttribute("role") !== "tab") one("[data-tabs]")?.scrollIntoView({ block: "start" }); return undefined; }
  const link = target.closest("a[data-step]");
  const player = link && players.find((each) => each.element.contains(link));
  if (player) { event.preventDefault(); return player.go(Number(link.dataset.step)); }
  const asked = target.closest("[data-do]");
  if (asked && DO[asked.dataset.do]) { event.preventDefault(); return DO[asked.dataset.do](); }
  if (target.closest(".enlarged")) return every((p) => p.small());
  return undefined;
});

document.addEventListener("change", (event) => {
  if (event.target.name === "pick") return choose(event.target);
  const form = event.target.closest("[data-filters]");
  if (form) form.requestSubmit();
  return undefined;
});

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-pick]")) { event.preventDefault(); comparison(); }
  if (event.target.matches("[data-filters]")) for (const field of all("input, select", event.target)) if (!field.value || (field.name === "order" && field.value === "id")) field.disabled = true;
});

prepare(document);
start();
if (document.body.dataset.events) listen(document.body.dataset.events);
if (one("[data-view]")) { addEventListener("hashchange", route); route(); }
