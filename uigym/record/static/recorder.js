// The recorder's page: shows the product as it is, sends what hands do in it, and asks for what is beside it.

const $ = (id) => document.getElementById(id);
const body = document.body, screen_ = $("screen"), picture = $("picture"), keys = $("keys");
let state = { phase: "starting", width: 1280, height: 720, version: "" };
let over = false;

// --- what hands do --------------------------------------------------------------------------------------------------
const waiting = []; // events that the server has not got yet
let sending = false, drawn = 0;

function tell(event) {
  if (state.phase !== "showing") return;
  const last = waiting.at(-1);
  if (event.kind === "move" && !pressed && last?.kind === "move") waiting.pop();
  waiting.push({ ...event, t: performance.now() });
  if (event.kind === "move" || event.kind === "wheel") drawn ||= requestAnimationFrame(() => { drawn = 0; send(); });
  else send();
}
async function send() {
  if (sending || !waiting.length) return;
  sending = true;
  try {
    while (waiting.length) await post("input", { events: waiting.splice(0, 500), now: performance.now() });
  } catch { lost(); } finally { sending = false; }
}
async function post(path, told) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(told) });
  if (!answer.ok) {
    const { error } = await answer.json().catch(() => ({ error: "The recorder did not understand." }));
    $("note").textContent = error;
  }
}
async function ask(name, text = "") {
  try {
    while (sending || waiting.length) { await send(); await new Promise((go) => setTimeout(go, 10)); }
    await post("ask", { name, text });
  } catch { lost(); }
}

const mac = /mac/i.test(navigator.platform);
function held(event) {
  const down = { Alt: event.altKey, Control: event.ctrlKey || (mac && event.metaKey), Meta: event.metaKey && !mac, Shift: event.shiftKey };
  if (event.getModifierState("AltGraph")) down.Alt = down.Control = false; // it makes characters, and is no chord
  return Object.keys(down).filter((name) => down[name]);
}
function place(event) {
  const box = picture.getBoundingClientRect();
  const on = (at, from, length, size) => Math.round(Math.max(0, Math.min(size - 0.1, (at - from) * size / length)) * 10) / 10;
  return { x: on(event.clientX, box.left, box.width, state.width), y: on(event.clientY, box.top, box.height, state.height) };
}
const BUTTONS = ["left", "middle", "right"];
let pressed = 0; // bits of the buttons that are down, by DOM's numbers
function press(kind, event, button) {
  const at = place(event);
  tell({ kind, ...at, button, modifiers: held(event) });
  $("spot").textContent = `${Math.floor(at.x)}, ${Math.floor(at.y)}`;
}
keys.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  keys.focus({ preventScroll: true });
  if (!(event.button in BUTTONS)) return;
  keys.setPointerCapture(event.pointerId);
  pressed |= 1 << event.button;
  press("down", event, BUTTONS[event.button]);
  ripple(event);
});
keys.addEventListener("pointermove", (event) => {
  // A second button's press comes as a movement.
  for (const button of [0, 1, 2]) {
    const bit = [1, 4, 2][button], now = Boolean(event.buttons & bit), before = Boolean(pressed & 1 << button);
    if (pressed && now !== before) { pressed ^= 1 << button; press(now ? "down" : "up", event, BUTTONS[button]); }
  }
  const at = place(event);
  tell({ kind: "move", ...at, modifiers: held(event) });
  $("spot").textContent = `${Math.floor(at.x)}, ${Math.floor(at.y)}`;
});
for (const name of ["pointerup", "pointercancel"]) keys.addEventListener(name, (event) => {
  for (const button of [0, 1, 2]) if (pressed & 1 << button && (name === "pointercancel" || button === event.button || !event.buttons)) {
    pressed &= ~(1 << button); press("up", event, BUTTONS[button]);
  }
});
for (const name of ["contextmenu", "dragstart", "drop", "mousedown", "auxclick"]) keys.addEventListener(name, (event) => event.preventDefault());
keys.addEventListener("wheel", (event) => {
  event.preventDefault();
  const unit = [1, 32, state.height][event.deltaMode];
  tell({ kind: "wheel", ...place(event), dx: event.deltaX * unit, dy: event.deltaY * unit, modifiers: held(event) });
}, { passive: false });
function ripple(event) {
  const box = screen_.getBoundingClientRect(), mark = document.createElement("i");
  mark.className = "ripple";
  screen_.append(mark);
  mark.style.left = `${event.clientX - box.left}px`; mark.style.top = `${event.clientY - box.top}px`;
  mark.addEventListener("animationend", () => mark.remove());
}

const down = new Map(); // code -> what was told of the key
let copying = 0;
function isOurs(event) {
  return event.isComposing || ["Process", "Dead", "Unidentified", "Compose", "AltGraph", "CapsLock", "F11", "F12"].includes(event.key);
}
keys.addEventListener("keydown", (event) => {
  if (isOurs(event)) return;
  const modifiers = held(event), chord = modifiers.some((name) => name !== "Shift");
  if (event.ctrlKey && event.altKey && event.code === "KeyP") { event.preventDefault(); $("done").focus(); return; }
  const key = mac && event.key === "Meta" ? "Control" : event.key;
  if (chord && key.toLowerCase() === "v" && modifiers.includes("Control")) return; // it comes as a paste
  if (chord && modifiers.includes("Control") && /^[cx]$/i.test(key)) copying = performance.now();
  event.preventDefault();
  if (key.length === 1 && !chord && (key < " " || key > "~")) { tell({ kind: "text", text: key }); return; } // no key of ours has it
  const told = { key, modifiers };
  down.set(event.code, told);
  tell({ kind: "keydown", ...told, repeat: event.repeat });
});
keys.addEventListener("keyup", (event) => {
  const told = down.get(event.code);
  if (told && down.delete(event.code)) tell({ kind: "keyup", ...told });
});
keys.addEventListener("blur", () => {
  for (const told of down.values()) tell({ kind: "keyup", ...told });
  down.clear();
  keys.value = "";
});
keys.addEventListener("compositionupdate", (event) => tell({ kind: "compose", text: event.data.slice(0, 4000) }));
keys.addEventListener("compositionend", (event) => {
  tell(event.data ? { kind: "text", text: event.data.slice(0, 4000) } : { kind: "compose", text: "" });
  keys.value = "";
});
keys.addEventListener("input", (event) => {
  if (event.isComposing || event.inputType.includes("omposition")) return;
  if (event.inputType.startsWith("insert") && event.data) type(event.data);
  keys.value = "";
});
keys.addEventListener("paste", (event) => {
  event.preventDefault();
  const text = event.clipboardData.getData("text/plain").replaceAll("\r\n", "\n");
  if (text.length <= 4000 && text) tell({ kind: "paste", text }); else type(text);
});
function type(text) {
  for (let from = 0; from < text.length; from += 2000) tell({ kind: "text", text: text.slice(from, from + 2000) });
}

// --- what is shown --------------------------------------------------------------------------------------------------
const WORDS = {
  starting: "Bringing up the product with its data\u2026", undoing: "Beginning again, and doing all but the last step\u2026",
  checking: "Playing it again from the same seed, to see whether it counts\u2026",
};
function fit() {
  const stage = $("stage"), pad = parseFloat(getComputedStyle(stage).paddingLeft) * 2;
  const wide = stage.clientWidth - pad, high = innerWidth > 820 ? stage.clientHeight - pad : Infinity;
  const scale = body.classList.contains("actual") ? 1 : Math.max(0.05, Math.min(1, wide / state.width, high / state.height));
  const width = Math.floor(state.width * scale);
  picture.style.width = `${width}px`; picture.style.height = `${width * state.height / state.width}px`;
  $("what").textContent = `${state.width} \u00d7 ${state.height} px` + (scale < 1 ? `, shown at ${Math.round(scale * 100)} %` : "");
}
function show(told) {
  const before = state;
  state = told;
  body.dataset.phase = told.phase;
  document.title = told.instruction ? `${told.instruction} \u00b7 Recorder` : "Recorder";
  $("task").textContent = `${told.harness} / ${told.task}, seed ${told.seed}`;
  $("progress").textContent = told.total > 1 ? `${told.number} of ${told.total}` : "";
  $("instruction").textContent = told.instruction || "\u2026";
  $("veil").querySelector("p").textContent = told.trouble ? `It broke off. ${told.trouble}` : WORDS[told.phase] || "";
  $("note").textContent = told.phase === "showing" ? told.note : "";
  steps(told);
  beside(told);
  judged(told);
  const showing = told.phase === "showing", broken = told.phase === "broken";
  for (const id of ["done", "answer"]) $(id).disabled = !showing;
  $("undo").disabled = !showing || !told.count;
  $("again").disabled = !(showing || broken);
  $("discard").disabled = !(showing || broken);
  $("send").disabled = !showing || !$("answer").value.trim();
  if (told.clipboard && told.clipboard !== before.clipboard && performance.now() - copying < 3000) navigator.clipboard?.writeText(told.clipboard).catch(() => {});
  if (told.width !== before.width || told.height !== before.height || before.version === "") fit();
  if (showing && before.phase !== "showing") { $("answer").value = ""; waiting.length = 0; pressed = 0; if (document.activeElement === body) keys.focus({ preventScroll: true }); }
  if (told.phase === "ended") end("That was all", `${told.counted} ${told.counted === 1 ? "demonstration counts" : "demonstrations count"}. You can close this page.`);
}
function element(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
let listed = "";
function steps(told) {
  const now = JSON.stringify([told.steps, told.count]);
  if (now === listed) return;
  listed = now;
  const first = told.count - told.steps.length + 1;
  $("steps").replaceChildren(...told.steps.map(({ kind, what, where }, at) => {
    const line = document.createElement("li"), said = element("span", what);
    said.title = what;
    line.append(element("small", String(first + at)), element("b", kind), said, element("i", where));
    return line;
  }));
  $("steps").scrollTop = 1e9;
  $("count").textContent = told.count ? `${told.count} of ${told.limit}` : `at most ${told.limit}`;
  $("count").classList.toggle("many", told.count > told.limit);
}
let asked = "", answered = -1;
function answer(event) {
  answered = state.count;
  $("dialog").hidden = $("chooser").hidden = true;
  screen_.classList.remove("asked");
  keys.focus({ preventScroll: true });
  tell(event);
}
function beside(told) {
  const { dialog, chooser, tabs, shown } = told.open, may = (name) => told.grants.includes(name);
  const showing = told.phase === "showing";
  $("strip").hidden = !(tabs.length > 1 || may("back") || may("goto"));
  $("back").hidden = !may("back");
  $("address").hidden = !may("goto");
  $("tabs").replaceChildren(...tabs.map((title, index) => {
    const tab = element("button", title || "Untitled");
    tab.type = "button"; tab.role = "tab"; tab.ariaSelected = String(index === shown); tab.disabled = !may("switchtab") && index !== shown;
    tab.addEventListener("click", () => { if (index !== state.open.shown) tell({ kind: "tab", index }); });
    return tab;
  }));
  if (told.note && told.count === answered) asked = ""; // the answer was refused
  const now = showing ? JSON.stringify([dialog, chooser]) : "";
  if (now === asked) return;
  asked = now;
  screen_.classList.toggle("asked", Boolean(showing && (dialog || chooser)));
  $("dialog").hidden = !(showing && dialog);
  $("chooser").hidden = !(showing && chooser && !dialog);
  if (showing && dialog) {
    const leaving = dialog.type === "beforeunload";
    $("dialog").querySelector("h2").textContent = leaving ? "The page asks before it is left" : "The page says";
    $("dialog-text").textContent = leaving ? dialog.message || "Leave this page?" : dialog.message;
    $("dialog-input").hidden = dialog.type !== "prompt";
    $("dialog-input").value = dialog.default;
    $("dialog-no").hidden = dialog.type === "alert";
    $("dialog-no").textContent = leaving ? "Stay" : "Cancel";
    $("dialog-yes").textContent = leaving ? "Leave" : "OK";
    (dialog.type === "prompt" ? $("dialog-input") : $("dialog-yes")).focus();
  } else if (showing && chooser) {
    $("chooser-title").textContent = `The page asks for ${chooser.several ? "files" : "a file"}${chooser.accept ? ` (${chooser.accept})` : ""}`;
    $("chooser-files").replaceChildren(...chooser.files.map((name) => {
      const line = document.createElement("label"), box = document.createElement("input");
      box.type = chooser.several ? "checkbox" : "radio"; box.name = "file"; box.value = name;
      line.append(box, element("span", name));
      return line;
    }));
    if (!chooser.files.length) $("chooser-files").append(element("label", "This task has no files to give."));
    ($("chooser-files").querySelector("input") ?? $("chooser-no")).focus();
  } else if (showing) keys.focus({ preventScroll: true });
}
const SIGNS = { true: "M3 8.5 6.5 12 13 4.5", false: "M4 4l8 8M12 4l-8 8" };
function judged(told) {
  const result = told.phase === "judged" && told.result;
  const changed = $("verdict").hidden === Boolean(result);
  $("verdict").hidden = $("after").hidden = !result;
  $("controls").hidden = Boolean(result);
  if (!result) return;
  $("verdict").classList.toggle("counts", result.counts);
  $("verdict").querySelector("h2").textContent = result.counts ? "It counts" : "It does not count";
  $("checks").replaceChildren(...result.checks.map(({ what, holds }) => {
    const line = element("li", "", holds ? "holds" : ""), text = element("span", what);
    const sign = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS(sign.namespaceURI, "path");
    sign.setAttribute("viewBox", "0 0 16 16"); sign.setAttribute("role", "img"); sign.setAttribute("aria-label", holds ? "Yes:" : "No:");
    path.setAttribute("d", SIGNS[holds]); sign.append(path); line.append(sign, text);
    return line;
  }));
  $("reason").textContent = result.reason.charAt(0).toUpperCase() + result.reason.slice(1);
  $("redo").textContent = result.counts ? "Undo this attempt" : "Try again";
  $("redo").classList.toggle("main", !result.counts);
  $("next").classList.toggle("main", result.counts);
  $("next").textContent = told.number < told.total ? (result.counts ? "Next task" : "Keep it, next task") : "Finish";
  $("end").hidden = told.number >= told.total;
  if (changed) (result.counts ? $("next") : $("redo")).focus();
}
function end(title, text) {
  over = true;
  $("over").hidden = false;
  $("over").querySelector("h1").textContent = title;
  $("over").querySelector("p").textContent = text;
}
function lost() { if (!over) end("The recorder has ended", "Whatever counted is stored. You can close this page."); }

async function follow() {
  while (!over) {
    try { show(await (await fetch(`state?after=${state.version}`)).json()); } catch { lost(); }
  }
}
async function watch() {
  let name = "", before = "";
  while (!over) {
    if (document.hidden) { await new Promise((go) => document.addEventListener("visibilitychange", go, { once: true })); continue; }
    try {
      const answer = await fetch(`frame?after=${name}`);
      if (answer.status !== 200) continue;
      name = answer.headers.get("x-picture");
      const url = URL.createObjectURL(await answer.blob());
      picture.src = url;
      await picture.decode().catch(() => {});
      if (before) URL.revokeObjectURL(before);
      before = url;
    } catch { await new Promise((go) => setTimeout(go, 200)); }
  }
}

// --- beside the product ---------------------------------------------------------------------------------------------
for (const id of ["done", "undo", "again", "discard", "next", "end"]) $(id).addEventListener("click", () => ask(id));
$("redo").addEventListener("click", () => ask("again"));
$("answer").addEventListener("input", () => { $("send").disabled = state.phase !== "showing" || !$("answer").value.trim(); });
$("answer-form").addEventListener("submit", (event) => { event.preventDefault(); ask("answer", $("answer").value); });
$("dialog").addEventListener("submit", (event) => { event.preventDefault(); answer({ kind: "dialog", accept: true, text: $("dialog-input").hidden ? "" : $("dialog-input").value }); });
$("dialog-no").addEventListener("click", () => answer({ kind: "dialog", accept: false }));
$("dialog").addEventListener("keydown", (event) => { if (event.key === "Escape") answer({ kind: "dialog", accept: state.open.dialog.type === "alert" }); });
$("chooser").addEventListener("submit", (event) => {
  event.preventDefault();
  answer({ kind: "upload", files: [...$("chooser-files").querySelectorAll(":checked")].map((box) => box.value) });
});
$("chooser-no").addEventListener("click", () => answer({ kind: "upload", files: [] }));
$("chooser").addEventListener("keydown", (event) => { if (event.key === "Escape") answer({ kind: "upload", files: [] }); });
$("back").addEventListener("click", () => tell({ kind: "back" }));
$("address").addEventListener("submit", (event) => { event.preventDefault(); tell({ kind: "goto", text: $("url").value }); });
$("zoom").addEventListener("click", () => {
  const actual = body.classList.toggle("actual");
  $("zoom").ariaPressed = String(actual);
  fit();
});
new ResizeObserver(fit).observe($("stage"));
fit(); follow(); watch();
