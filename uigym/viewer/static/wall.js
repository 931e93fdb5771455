// The wall: asks twice a second what runs, while the page is looked at. What strangers wrote is put in as text.

const one = (id) => document.getElementById(id);
const large = one("large"), stage = one("stage"), shot = one("large-picture");
const TICK_MS = 500, HELD_TICK_MS = 150, AGAIN_MS = 280, REST_MS = 400, STILL_PX = 4;
const tiles = new Map(); // address of a slot -> its tile and what it says
const onScreen = new Set();
let chosen = "", held = false, timer = 0, asking = false;

const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) isIntersecting ? onScreen.add(target) : onScreen.delete(target);
});

function made(tag, parent, values = {}) {
  const element = Object.assign(document.createElement(tag), values);
  parent.append(element);
  return element;
}

const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
const address = (process, slot) => [process.run, process.process, String(slot)].map(encodeURIComponent).join("/");
const pictureOf = (key, image, small) => `/live/picture/${key}/${encodeURIComponent(image)}${small ? "?small=true" : ""}`;

// --- the wall ---

function section(process) {
  const id = `process-${process.run}-${process.process}`;
  let found = one(id);
  if (!found) {
    found = made("section", one("processes"), { id, className: "process" });
    const head = made("h2", found);
    made("span", head, { textContent: process.run.replaceAll("~", " / ") });
    made("small", head, { textContent: process.harness });
    made("ul", found, { className: "tiles" });
  }
  return found;
}

function tile(key, list) {
  const item = made("li", list), button = made("button", item, { className: "tile", type: "button" });
  const screen = made("span", button, { className: "screen" });
  const parts = { key, item, button, image: "", img: made("img", screen, { alt: "", decoding: "async" }) };
  parts.hand = made("span", screen, { className: "by-hand", textContent: "a person", hidden: true });
  parts.fill = made("i", made("span", button, { className: "bar" }));
  parts.fill.parentElement.style.display = "block";
  const said = made("span", button, { className: "tile-said" });
  for (const name of ["task", "place", "last"]) parts[name] = made("span", said, { className: `tile-${name}` });
  button.addEventListener("click", () => open(key));
  watcher.observe(button);
  return parts;
}

function show(process, slot, number) {
  const key = address(process, number);
  if (!tiles.has(key)) tiles.set(key, tile(key, section(process).querySelector(".tiles")));
  const parts = tiles.get(key);
  Object.assign(parts, { slot, process });
  parts.button.disabled = !slot.episode;
  parts.task.textContent = slot.episode ? `${slot.task}, seed ${slot.seed}` : "between two episodes";
  parts.place.textContent = slot.episode ? `step ${slot.steps} of ${slot.limit}${slot.over ? `, over: ${slot.over.replaceAll("_", " ")}` : ""}` : "";
  parts.last.textContent = slot.episode ? slot.error || slot.action || "thinks" : "";
  parts.fill.style.width = slot.episode ? `${Math.min(100, (100 * slot.steps) / slot.limit)}%` : "0";
  parts.hand.hidden = !slot.taken;
  if (slot.image && slot.image !== parts.image && onScreen.has(parts.button)) {
    parts.image = slot.image;
    parts.img.src = pictureOf(key, slot.image, true);
    parts.img.alt = `what ${slot.task} shows`;
  }
}

async function look() {
  const answer = await fetch("/live/state");
  if (!answer.ok) throw new Error(answer.status);
  const { processes } = await answer.json();
  const there = new Set();
  for (const process of processes) process.slots.forEach((slot, number) => {
    there.add(address(process, number));
    show(process, slot, number);
  });
  for (const [key, parts] of tiles) if (!there.has(key)) {
    watcher.unobserve(parts.button);
    onScreen.delete(parts.button);
    parts.item.remove();
    tiles.delete(key);
  }
  for (const process of document.querySelectorAll(".process")) if (!process.querySelector("li")) process.remove();
  const count = there.size, runs = new Set(processes.map((process) => process.run)).size;
  const words = count ? `${many(count, "browser")} in ${many(runs, "run")}` : "Nothing runs";
  if (one("count").textContent !== words) one("count").textContent = words;
  one("nothing").hidden = count > 0;
  if (chosen) enlarge(tiles.get(chosen));
}

async function tick() {
  clearTimeout(timer);
  if (document.hidden || asking) return;
  asking = true;
  try {
    await look();
    if (held) await ask({ do: "look" });
  } catch {
    one("count").textContent = "The viewer does not answer";
  } finally {
    asking = false;
    timer = setTimeout(tick, held ? HELD_TICK_MS : TICK_MS);
  }
}

document.addEventListener("visibilitychange", tick);

// --- one of them, large ---

function open(key) {
  chosen = key;
  note("");
  enlarge(tiles.get(key));
  large.showModal();
}

function note(text) {
  one("large-note").textContent = text;
}

function enlarge(parts) {
  if (!parts) { // the process has ended
    note("This run is over.");
    hold(false);
    return;
  }
  const { slot, process } = parts;
  if (held && !slot.taken) hold(false, slot.over ? `Over: ${slot.over}.` : "");
  if (!slot.episode) return;
  one("large-task").textContent = `${slot.task}, seed ${slot.seed}`;
  one("large-instruction").textContent = slot.instruction;
  one("large-line").textContent = `step ${slot.steps} of ${slot.limit}${slot.action ? `: ${slot.action}` : ""}${slot.words ? ` “${slot.words.slice(0, 300)}”` : ""}`;
  if (slot.error) note(`refused: ${slot.error}`);
  if (shot.dataset.image !== slot.image) {
    shot.dataset.image = slot.image;
    shot.src = pictureOf(parts.key, slot.image, false);
    shot.alt = `what ${slot.task} shows`;
  }
  one("hand").hidden = !process.takeover;
  const dialog = slot.open?.dialog;
  one("dialog").hidden = !(held && dialog);
  one("dialog-text").textContent = dialog ? `${dialog.type}: ${dialog.message}` : "";
}

function hold(on, words = "") {
  held = on;
  large.classList.toggle("held", on);
  for (const button of document.querySelectorAll("[data-hand]")) {
    const name = button.dataset.hand;
    if (name === "take") button.hidden = on;
    if (name === "let_go" || name === "done") button.hidden = !on;
  }
  one("say").hidden = one("hand-words").hidden = !on;
  if (words) note(words);
  if (on) stage.focus();
}

function close() {
  if (held) act({ do: "let_go" }).then(() => hold(false));
  chosen = "";
  large.close();
}

large.addEventListener("cancel", (event) => { event.preventDefault(); if (!held) close(); });
one("close").addEventListener("click", close);

// --- a person's hand ---

let line = Promise.resolve(); // one after another, in their order

async function ask(told) {
  const answer = await fetch(`/live/do/${chosen}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(told) });
  if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).error ?? `${answer.status}`);
}

function act(told) {
  line = line.then(() => ask(told)).then(() => note(""), (error) => note(error.message));
  return line;
}

const perform = (action) => { flush(); return act({ do: "act", action }); };

const does = {
  take: async () => { await act({ do: "take" }); if (!one("large-note").textContent) hold(true); },
  let_go: async () => { flush(); await act({ do: "let_go" }); hold(false); },
  done: () => perform({ action: "done" }),
  answer: () => { const text = one("say-text").value.trim(); if (text) perform({ action: "answer", text }); else note("An answer needs a text."); },
  accept: () => perform({ action: "dialog", accept: true, text: one("say-text").value }),
  dismiss: () => perform({ action: "dialog", accept: false }),
};
for (const button of document.querySelectorAll("[data-hand]")) button.addEventListener("click", () => does[button.dataset.hand]());
one("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = one("say-text").value;
  if (text) perform({ action: "type", text });
  one("say-text").value = "";
});

function place(event) {
  const { slot } = tiles.get(chosen), box = shot.getBoundingClientRect();
  const at = (value, from, size, px) => Math.min(Math.max(((value - from) / size) * px, 0), px - 1);
  return [at(event.clientX, box.left, box.width, slot.width), at(event.clientY, box.top, box.height, slot.height)].map(Math.round);
}

const modifiers = (event) => ["Alt", "Control", "Meta", "Shift"].filter((name) => event.getModifierState(name));
const BUTTONS = ["left", "middle", "right"];
let path = null, click = null, clicking = 0, turn = null, turning = 0, typed = "", typing = 0;

shot.addEventListener("pointerdown", (event) => {
  if (!held) return;
  event.preventDefault();
  stage.focus();
  shot.setPointerCapture(event.pointerId);
  path = [place(event)];
});
shot.addEventListener("pointermove", (event) => { if (path && path.length < 400) path.push(place(event)); });
shot.addEventListener("pointerup", (event) => {
  if (!held || !path) return;
  const [start, end] = [path[0], place(event)];
  const button = BUTTONS[event.button] ?? "left", moved = path.some(([x, y]) => Math.hypot(x - start[0], y - start[1]) > STILL_PX);
  const whole = [...path, end].filter(([x, y], n, all) => !n || x !== all[n - 1][0] || y !== all[n - 1][1]);
  path = null;
  if (moved) {
    pressed();
    perform({ action: "drag", path: whole, button, modifiers: modifiers(event) });
    return;
  }
  const again = click && click.count < 3 && click.button === button && Math.hypot(click.x - end[0], click.y - end[1]) <= STILL_PX;
  if (click && !again) pressed();
  click = again ? { ...click, count: click.count + 1 } : { action: "click", x: end[0], y: end[1], button, count: 1, modifiers: modifiers(event) };
  clearTimeout(clicking);
  clicking = setTimeout(pressed, AGAIN_MS);
});

function pressed() { // a click whose second has not come
  clearTimeout(clicking);
  const done = click;
  click = null;
  if (done) perform(done);
}

stage.addEventListener("contextmenu", (event) => { if (held) event.preventDefault(); });
stage.addEventListener("wheel", (event) => {
  if (!held) return;
  event.preventDefault();
  const [x, y] = place(event), unit = event.deltaMode === 1 ? 40 : 1;
  turn = turn ? { ...turn, dx: turn.dx + event.deltaX * unit, dy: turn.dy + event.deltaY * unit } : { action: "scroll", x, y, dx: event.deltaX * unit, dy: event.deltaY * unit };
  clearTimeout(turning);
  turning = setTimeout(() => { const done = turn; turn = null; perform(done); }, 200);
}, { passive: false });

function flush() { // what was typed comes before what follows
  clearTimeout(typing);
  const text = typed;
  typed = "";
  if (text) act({ do: "act", action: { action: "type", text } });
}

window.addEventListener("keydown", (event) => {
  if (!large.open) return;
  event.stopImmediatePropagation();
  if (!held || document.activeElement !== stage || event.isComposing) return;
  if (["Alt", "Control", "Meta", "Shift", "AltGraph", "Dead"].includes(event.key)) return;
  const pastes = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v";
  if (pastes) return; // the paste event brings the text
  event.preventDefault();
  pressed();
  const plain = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (plain) {
    typed += event.key;
    clearTimeout(typing);
    typing = setTimeout(flush, REST_MS);
    return;
  }
  const key = event.key === " " ? "Space" : event.key.length === 1 ? event.key.toUpperCase() : event.key;
  perform({ action: "key", chord: [...modifiers(event), key].join("+") });
}, true);
window.addEventListener("paste", (event) => {
  if (!held || document.activeElement !== stage) return;
  event.preventDefault();
  const text = event.clipboardData.getData("text/plain");
  if (text) perform({ action: "type", text: text.slice(0, 4000) });
});

tick();
