// Finds the native picker that an input opened, says what it offers, and brings home what was chosen.
// Runs in the world of settle.js, after it, in every frame; the page cannot see it.
//
// Chromium draws these pickers in windows of their own, which no click of ours reaches. `:open` tells of each one,
// however it was opened. The controller closes it and draws another. A choice goes home through Chromium's own
// handling of a key, which the page is not shown, so that it gets the events that it would get from a person.
(() => {
  const TEMPORAL = ["date", "time", "datetime-local", "month", "week"];
  const WRITTEN = ["text", "search", "url", "tel", "email", "number"]; // may have suggestions
  const MAX_OPTIONS = 5000;
  const MAX_TEXT = 300;
  const PATIENCE_MS = 60;

  let control = null; // whose picker is open
  let before = ""; // its value when it was opened
  let shown = ""; // the last value that was shown in it without being chosen yet
  let shut = null; // the control whose picker the present click has closed
  let announced = null; // the control whose native picker the controller is closing
  let asked = null; // a field whose suggestions were asked for
  let guard = null; // while keys of ours are under way: {press, back, reached, seen, fallback}

  const kindOf = (node) => {
    if (node.localName === "select") return "list";
    if (TEMPORAL.includes(node.type) || node.type === "color") return node.type;
    return "suggestions";
  };
  const suggests = (node) =>
    node instanceof HTMLInputElement && WRITTEN.includes(node.type) && !!node.list && !node.readOnly && !node.disabled;
  const short = (text) => text.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT);
  const until = async (test, ms) => {
    const end = performance.now() + ms;
    while (!test() && performance.now() < end) await new Promise((go) => setTimeout(go, 3));
    return test();
  };
  const inDocument = (node) => node.isConnected && node.checkVisibility() && !node.matches(":disabled");

  // The element with the focus, through the shadow roots that can be seen; and those roots.
  const closed = new WeakMap(); // host -> its closed root, as the controller found it
  const rootOf = (host) => host.shadowRoot || closed.get(host);
  const focused = () => {
    const roots = [document];
    let node = document.activeElement;
    while (node && rootOf(node)) {
      roots.push(rootOf(node));
      node = rootOf(node).activeElement;
    }
    return { node, roots };
  };
  const hasFocus = () => document.hasFocus() && focused().node === control;
  // What has the focus without being able to take it holds something in a closed root that has it.
  const hidesItsRoot = (node) =>
    node && node !== document.body && !closed.has(node) && !node.isContentEditable &&
    (node.localName.includes("-") || (node.tabIndex < 0 && !node.hasAttribute("tabindex"))); // prettier-ignore

  // A list with `appearance: base-select` is in the page, and is left to it.
  const isNative = (node) => node.matches("select:open, input:open") && getComputedStyle(node).appearance !== "base-select";
  const opened = (everywhere) => {
    const { node, roots } = focused();
    if (node && isNative(node)) return node;
    return everywhere ? roots.flatMap((root) => [...root.querySelectorAll("select:open, input:open")]).find(isNative) : null;
  };
  // Each native picker is told of once, as soon as it is open: a picture may have to wait until it is closed.
  const lookForNative = (everywhere) => {
    const native = opened(everywhere);
    if (!native || native === announced) return native;
    announced = control = native;
    before = shown = native.value;
    picker(native === shut ? "again" : "native");
    return native;
  };
  const look = () => {
    const native = lookForNative(true);
    shut = null;
    if (native) return;
    if (asked && focused().node === asked && matching(asked).length) {
      control = asked;
      picker("suggestions");
    } else if (hidesItsRoot(focused().node)) {
      picker("hidden");
    }
  };
  const { port1, port2 } = new MessageChannel(); // a turn later the browser has done what an event makes it do
  let turning = false;
  port1.onmessage = () => {
    turning = false;
    lookForNative(false);
  };
  const soon = (event) => {
    if (!event.isTrusted || turning || guard) return;
    turning = true;
    port2.postMessage(0);
  };
  for (const type of ["mousedown", "click", "keydown"]) addEventListener(type, soon, true);
  const settle = globalThis.settle;
  globalThis.settle = async (...limits) => {
    const settled = await settle(...limits);
    look();
    return settled;
  };

  // --- what a picker offers ---
  const options = (select) => {
    const items = [];
    const add = (node, more) => {
      const style = getComputedStyle(node);
      if (items.length < MAX_OPTIONS && style.display !== "none") items.push({ color: style.color, ...more });
    };
    const walk = (parent, off, inGroup) => {
      for (const node of parent.children) {
        if (node.localName === "option")
          add(node, { text: short(node.label), index: node.index, off: off || node.disabled, inGroup });
        else if (node.localName === "optgroup") {
          add(node, { text: short(node.label), head: true, off: node.disabled });
          walk(node, node.disabled, true);
        } else if (node.localName === "hr") add(node, { line: true });
      }
    };
    walk(select, false, false);
    return items;
  };
  const matching = (field) => {
    const typed = field.value.toLowerCase();
    const fits = (option) => (option.value + "\n" + option.label).toLowerCase().includes(typed);
    const found = [...field.list.options].filter((option) => option.value && !option.disabled && fits(option));
    return found.slice(0, MAX_OPTIONS).map((option, index) => {
      const label = option.label === option.value ? "" : short(option.label);
      return { text: short(option.value), note: label, value: option.value, index };
    });
  };
  const describe = () => {
    if (!control || !inDocument(control) || control.readOnly) return null;
    const kind = kindOf(control);
    const style = getComputedStyle(control);
    const { fontFamily, fontSize, fontWeight, fontStyle, color, backgroundColor, direction } = style;
    const spec = {
      kind,
      name: short(control.labels?.[0]?.innerText || ""),
      width: control.offsetWidth,
      style: { fontFamily, fontSize, fontWeight, fontStyle, color, backgroundColor, direction },
      value: control.value,
      min: control.min || "",
      max: control.max || "",
      step: control.step || "",
      base: control.defaultValue || "",
    };
    if (kind === "list") return { ...spec, items: options(control), at: control.selectedIndex };
    if (kind !== "suggestions") return spec;
    const items = asked === control && focused().node === control ? matching(control) : [];
    return items.length ? { ...spec, items, at: -1 } : null;
  };

  // --- bringing a choice home ---
  const stop = (event) => event.stopImmediatePropagation();
  const keyed = (event) => {
    if (!guard || !event.isTrusted) return;
    stop(event);
    if (event.type !== "keydown") return;
    if (guard.press) guard.press();
    else event.preventDefault();
    guard.press = null;
  };
  const told = (event) => {
    if (!guard || !guard.reached || !event.isTrusted) return;
    if (guard.reached()) guard.seen.add(event.type);
    else stop(event);
  };
  for (const type of ["keydown", "keypress", "keyup", "click"]) addEventListener(type, keyed, true);
  const watched = (listen) => {
    for (const target of new Set([window, control.getRootNode()]))
      for (const type of ["input", "change"]) target[listen](type, told, true);
  };
  const begin = (reached) => {
    guard = { press: null, reached, seen: new Set() };
    watched("addEventListener");
    return guard;
  };

  // The option before the wanted one is selected without a word; the arrow key does the rest.
  const bringOption = (index) => {
    const option = control.options[index];
    if (!option || index === control.selectedIndex) return [];
    const able = (other) => !other.disabled && !other.parentNode.disabled && getComputedStyle(other).display !== "none";
    let previous = index - 1;
    while (previous >= 0 && !able(control.options[previous])) previous--;
    begin(() => control.selectedIndex === index).fallback = () => (control.selectedIndex = index);
    if (!hasFocus()) return [];
    guard.press = () => (control.selectedIndex = previous);
    return ["ArrowDown"];
  };
  // The native picker is opened on the wanted value, the old one put back behind it: Enter then is a change.
  const bringDate = (value) => {
    control.value = value;
    const wanted = control.value;
    control.value = shown = before;
    if (wanted === before) return [];
    begin(() => control.value === wanted).fallback = () => (control.value = wanted);
    if (!wanted || control.type === "color") return []; // Enter would choose another one
    guard.back = () => (control.value = before);
    try {
      control.value = wanted;
      control.showPicker();
      control.value = before;
      return ["Enter"];
    } catch {
      guard.press = () => {}; // a frame of another site may not open it; a key may
      if (hasFocus()) return ["Space", "Enter"];
    }
    control.value = before;
    return [];
  };
  const FOCUS = ["blur", "focusout", "focus", "focusin"];
  const bringText = (value) => {
    asked = null;
    if (control.value === value) return [];
    begin(() => control.value === value).fallback = () => (control.value = value);
    if (!hasFocus()) return [];
    control.select();
    document.execCommand("insertText", false, value);
    for (const type of FOCUS) addEventListener(type, stop, true);
    control.blur(); // a change is told when a field is left
    if (document.activeElement === document.body) control.focus({ preventScroll: true });
    for (const type of FOCUS) removeEventListener(type, stop, true);
    return [];
  };

  globalThis.pickers = {
    control: () => control,
    host: () => focused().node,
    describe,
    // What a closed shadow root keeps from us.
    open(host, root) {
      closed.set(host, root);
      look();
    },
    // Keys that follow are kept from the page, until `heard` or `finish`.
    hush() {
      guard = { press: null, reached: null, seen: new Set() };
      return describe();
    },
    heard: () => (guard = announced = null),
    // Whether the native picker has closed.
    gone: () => until(() => !control?.matches(":open"), PATIENCE_MS),
    // Show a value that is not chosen yet.
    show(value) {
      control.value = shown = value;
    },
    hide() {
      if (control && shown !== before && control.value === shown) control.value = before;
      shut = control;
      control = asked = null;
    },
    // The keys that make the choice; `finish` must follow.
    bring(value) {
      if (!describe()) return null;
      if (kindOf(control) === "list") return bringOption(value);
      return kindOf(control) === "suggestions" ? bringText(value) : bringDate(value);
    },
    back: () => guard?.back?.(),
    // Whether the choice has come home: a native picker answers a little after its key, and may miss one at first.
    come: () => until(() => !guard || guard.seen.size === 2, PATIENCE_MS),
    // Whether the control has the choice. Chromium's own events are made up for where they did not come.
    finish() {
      if (!guard) return true;
      const { reached, seen, fallback } = guard;
      watched("removeEventListener");
      guard = null;
      if (!seen.size && !reached()) fallback();
      for (const type of ["input", "change"])
        if (!seen.has(type)) control.dispatchEvent(new Event(type, { bubbles: true, composed: type === "input" }));
      return seen.size > 0 || reached();
    },
  };

  const target = (event) => event.composedPath()[0];
  const ask = (event) => {
    if (event.isTrusted && !guard && suggests(target(event))) asked = target(event);
  };
  addEventListener("click", ask, true);
  addEventListener("input", ask, true);
  addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") ask(event);
    else if (event.key === "Escape" || event.key === "Enter") asked = null;
  }, true); // prettier-ignore
  addEventListener("focusout", () => (asked = null), true);
})();
