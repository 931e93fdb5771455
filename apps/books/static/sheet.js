"use strict";
// A sheet as people know it: choosing, typing, copying, filling, sorting. Every change is saved as it is made.

(() => {
  const { COLUMNS, ROWS, LETTERS, cellName, place, evaluate, shown, canonical, shifted } = Formula;
  const sheet = document.querySelector("[data-sheet]");
  const bar = document.querySelector("[data-bar]");
  const editor = sheet.querySelector("[data-editor]");
  const box = sheet.querySelector("[data-box]");
  const cells = new Map([...sheet.querySelectorAll("[data-cell]")].map((cell) => [cell.dataset.cell, cell]));
  const state = new Map();
  for (const [name, cell] of cells) {
    const { raw, format } = cell.dataset;
    if (raw || format || "bold" in cell.dataset) state.set(name, { raw, bold: "bold" in cell.dataset, format: format || "" });
  }
  const NOTHING = { raw: "", bold: false, format: "" };
  const at = (name) => state.get(name) || NOTHING;
  let values = new Map();
  let anchor = [0, 0], focus = [0, 0]; // column, row
  let editing = null; // the cell's name while it is edited
  let copied = null, dragging = null, filled = null;
  const undone = [];

  // --- what is shown ---------------------------------------------------------------------------------------------

  function work() {
    values = evaluate(new Map([...state].map(([name, cell]) => [name, cell.raw])));
    for (const [name, cell] of cells) {
      const { raw, bold, format } = at(name);
      const value = values.has(name) ? values.get(name) : null;
      const text = shown(value, format);
      if (cell.textContent !== text) cell.textContent = text;
      cell.dataset.raw = raw;
      cell.toggleAttribute("data-bold", bold);
      cell.className = value === null || typeof value === "string" ? "" : typeof value === "number" ? "right" : typeof value === "object" ? "fault" : "";
    }
    draw();
  }

  const range = () => ({
    left: Math.min(anchor[0], focus[0]), right: Math.max(anchor[0], focus[0]),
    top: Math.min(anchor[1], focus[1]), bottom: Math.max(anchor[1], focus[1]),
  });

  function* inside({ left, right, top, bottom }) {
    for (let row = top; row <= bottom; row += 1)
      for (let column = left; column <= right; column += 1) yield cellName(column, row);
  }

  const title = (r) => (r.left === r.right && r.top === r.bottom ? cellName(r.left, r.top)
    : `${cellName(r.left, r.top)}:${cellName(r.right, r.bottom)}`);

  function draw() {
    const r = range();
    const chosen = new Set(inside(r)), marked = new Set(copied ? inside(copied.range) : []), new_ = new Set(filled ? inside(filled) : []);
    for (const [name, cell] of cells) {
      cell.classList.toggle("chosen", chosen.size > 1 && chosen.has(name));
      cell.classList.toggle("copied", marked.has(name));
      cell.classList.toggle("filling", new_.has(name));
    }
    sheet.querySelectorAll("thead th").forEach((head, i) => head.classList.toggle("lit", i - 1 >= r.left && i - 1 <= r.right));
    sheet.querySelectorAll("tbody th").forEach((head, i) => head.classList.toggle("lit", i >= r.top && i <= r.bottom));
    const first = cells.get(cellName(r.left, r.top)), last = cells.get(cellName(r.right, r.bottom));
    Object.assign(box.style, {
      left: `${first.offsetLeft - 1}px`, top: `${first.offsetTop - 1}px`,
      width: `${last.offsetLeft + last.offsetWidth - first.offsetLeft + 1}px`, height: `${last.offsetTop + last.offsetHeight - first.offsetTop + 1}px`,
    });
    box.hidden = false;
    const here = at(cellName(...anchor));
    document.querySelector("[data-where]").textContent = title(r);
    if (!editing) bar.value = here.raw;
    document.querySelector('[data-tool="bold"]').setAttribute("aria-pressed", here.bold);
    document.querySelectorAll('[data-tool="format"]').forEach((tool) => tool.setAttribute("aria-pressed", tool.dataset.value === here.format));
    const numbers = [...chosen].map((name) => values.get(name)).filter((value) => typeof value === "number");
    document.querySelector("[data-sum]").textContent = numbers.length > 1 ? `Σ ${shown(numbers.reduce((a, b) => a + b, 0))}` : "";
  }

  // --- changing --------------------------------------------------------------------------------------------------

  let saving = Promise.resolve();
  const post = (body) => {
    saving = saving.then(() => fetch(`/sheets/${sheet.dataset.sheet}/cells`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    })).then((answer) => answer.ok || location.reload()).catch(() => location.reload());
  };

  function change(changes, remember = true) {
    const before = {}, after = {};
    for (const [name, parts] of Object.entries(changes)) {
      const old = at(name), now = { ...old, ...parts };
      now.raw = canonical(now.raw);
      if (now.raw === old.raw && now.bold === old.bold && now.format === old.format) continue;
      before[name] = old;
      after[name] = now;
      now.raw || now.bold || now.format ? state.set(name, now) : state.delete(name);
    }
    if (Object.keys(after).length) {
      if (remember) undone.push(before);
      post({ cells: after });
    }
    work();
  }

  function undo() {
    const last = undone.pop();
    if (last) change(last, false);
  }

  function style(parts) {
    change(Object.fromEntries([...inside(range())].map((name) => [name, parts])));
  }

  // --- moving ----------------------------------------------------------------------------------------------------

  const within = (value, most) => Math.max(0, Math.min(most - 1, value));

  function go(column, row, extend = false) {
    focus = [within(column, COLUMNS), within(row, ROWS)];
    if (!extend) anchor = [...focus];
    const cell = cells.get(cellName(...focus)), head = sheet.querySelector("thead").offsetHeight, side = 42;
    if (cell.offsetTop - head < sheet.scrollTop) sheet.scrollTop = cell.offsetTop - head;
    if (cell.offsetTop + cell.offsetHeight > sheet.scrollTop + sheet.clientHeight) sheet.scrollTop = cell.offsetTop + cell.offsetHeight - sheet.clientHeight;
    if (cell.offsetLeft - side < sheet.scrollLeft) sheet.scrollLeft = cell.offsetLeft - side;
    if (cell.offsetLeft + cell.offsetWidth > sheet.scrollLeft + sheet.clientWidth) sheet.scrollLeft = cell.offsetLeft + cell.offsetWidth - sheet.clientWidth;
    draw();
  }

  // --- editing ---------------------------------------------------------------------------------------------------

  function edit(text) {
    focus = [...anchor];
    editing = cellName(...anchor);
    const cell = cells.get(editing);
    Object.assign(editor.style, {
      left: `${cell.offsetLeft - 1}px`, top: `${cell.offsetTop - 1}px`, width: `${Math.max(cell.offsetWidth + 2, 120)}px`, height: `${cell.offsetHeight + 2}px`,
    });
    editor.value = text ?? at(editing).raw;
    bar.value = editor.value;
    editor.hidden = false;
    editor.focus();
    draw();
  }

  function finish(keep, columns = 0, rows = 0) {
    const name = editing, text = document.activeElement === bar ? bar.value : editor.value;
    editing = null;
    editor.hidden = true;
    if (name && keep) change({ [name]: { raw: text } });
    sheet.focus({ preventScroll: true });
    go(anchor[0] + columns, anchor[1] + rows);
  }

  function onEditKey(event) {
    if (event.key === "Enter") finish(true, 0, event.shiftKey ? -1 : 1);
    else if (event.key === "Tab") finish(true, event.shiftKey ? -1 : 1, 0);
    else if (event.key === "Escape") finish(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  editor.addEventListener("keydown", onEditKey);
  bar.addEventListener("keydown", onEditKey);
  editor.addEventListener("input", () => { bar.value = editor.value; });
  bar.addEventListener("focus", () => { editing = cellName(...anchor); });
  for (const field of [editor, bar])
    field.addEventListener("blur", (event) => {
      if (!editing || event.relatedTarget === bar || event.relatedTarget === editor) return;
      const name = editing;
      editing = null;
      editor.hidden = true;
      change({ [name]: { raw: field.value } });
    });

  // --- keys ------------------------------------------------------------------------------------------------------

  const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

  sheet.addEventListener("keydown", (event) => {
    if (editing) return;
    const control = event.ctrlKey || event.metaKey, step = STEPS[event.key];
    if (step) control ? jump(step, event.shiftKey) : go(focus[0] + step[0], focus[1] + step[1], event.shiftKey);
    else if (event.key === "Enter") go(anchor[0], anchor[1] + (event.shiftKey ? -1 : 1));
    else if (event.key === "Tab") go(anchor[0] + (event.shiftKey ? -1 : 1), anchor[1]);
    else if (event.key === "Home") go(0, control ? 0 : focus[1], event.shiftKey);
    else if (event.key === "PageDown" || event.key === "PageUp") go(focus[0], focus[1] + (event.key === "PageDown" ? 15 : -15), event.shiftKey);
    else if (event.key === "F2") edit();
    else if (event.key === "Delete" || event.key === "Backspace") style({ raw: "" });
    else if (event.key === "Escape") { copied = null; draw(); }
    else if (control && event.key.toLowerCase() === "b") style({ bold: !at(cellName(...anchor)).bold });
    else if (control && event.key.toLowerCase() === "z") undo();
    else if (control && event.key.toLowerCase() === "a") { anchor = [0, 0]; focus = [COLUMNS - 1, ROWS - 1]; draw(); }
    else if (event.key.length === 1 && !control && !event.altKey) edit(event.key);
    else return;
    event.preventDefault();
  });

  function jump([right, down], extend) {
    const filledAt = (column, row) => Boolean(at(cellName(column, row)).raw);
    let [column, row] = focus;
    const inGrid = () => column + right >= 0 && column + right < COLUMNS && row + down >= 0 && row + down < ROWS;
    const along = inGrid() && filledAt(column, row) && filledAt(column + right, row + down);
    while (inGrid() && (along ? filledAt(column + right, row + down) : true)) {
      column += right;
      row += down;
      if (!along && filledAt(column, row)) break;
    }
    go(column, row, extend);
  }

  // --- copying ---------------------------------------------------------------------------------------------------

  const onSheet = () => document.activeElement === sheet && !editing;

  function copy(event) {
    if (!onSheet()) return;
    const r = range(), lines = [];
    for (let row = r.top; row <= r.bottom; row += 1)
      lines.push(LETTERS.slice(r.left, r.right + 1).split("").map((_, i) => shown(values.get(cellName(r.left + i, row)) ?? null, at(cellName(r.left + i, row)).format)).join("\t"));
    copied = { range: r, text: lines.join("\n"), cells: Object.fromEntries([...inside(r)].map((name) => [name, at(name)])), cut: event.type === "cut" };
    event.clipboardData.setData("text/plain", copied.text);
    event.preventDefault();
    draw();
  }

  document.addEventListener("copy", copy);
  document.addEventListener("cut", copy);
  document.addEventListener("paste", (event) => {
    if (!onSheet()) return;
    event.preventDefault();
    const text = event.clipboardData.getData("text/plain").replace(/\r/g, "");
    if (copied && text === copied.text) pasteOwn();
    else pasteText(text);
  });

  function pasteOwn() {
    const from = copied.range, to = range(), changes = {};
    const wide = from.right - from.left + 1, high = from.bottom - from.top + 1;
    const columns = Math.max(1, Math.floor((to.right - to.left + 1) / wide)) * wide, rows = Math.max(1, Math.floor((to.bottom - to.top + 1) / high)) * high;
    if (copied.cut) for (const name of inside(from)) changes[name] = NOTHING;
    for (let row = 0; row < rows && to.top + row < ROWS; row += 1)
      for (let column = 0; column < columns && to.left + column < COLUMNS; column += 1) {
        const source = [from.left + (column % wide), from.top + (row % high)], target = [to.left + column, to.top + row];
        const cell = copied.cells[cellName(...source)];
        changes[cellName(...target)] = { ...cell, raw: copied.cut ? cell.raw : shifted(cell.raw, target[0] - source[0], target[1] - source[1]) };
      }
    if (copied.cut) copied = null;
    change(changes);
    focus = [within(to.left + columns - 1, COLUMNS), within(to.top + rows - 1, ROWS)];
    anchor = [to.left, to.top];
    draw();
  }

  function pasteText(text) {
    const { left, top } = range(), changes = {};
    text.replace(/\n$/, "").split("\n").forEach((line, row) => line.split("\t").forEach((part, column) => {
      if (left + column < COLUMNS && top + row < ROWS) changes[cellName(left + column, top + row)] = { raw: part };
    }));
    change(changes);
  }

  // --- the mouse -------------------------------------------------------------------------------------------------

  const under = (event) => {
    const cell = document.elementsFromPoint(event.clientX, event.clientY).find((each) => each.dataset && each.dataset.cell);
    return cell ? place(cell.dataset.cell) : null;
  };

  sheet.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target === editor) return;
    if (event.target.dataset.grip) dragging = { kind: "width", letter: event.target.dataset.grip, x: event.clientX };
    else if ("handle" in event.target.dataset) dragging = { kind: "fill" };
    else if (event.target.dataset.letter) { anchor = [LETTERS.indexOf(event.target.dataset.letter), 0]; focus = [anchor[0], ROWS - 1]; draw(); }
    else {
      const cell = under(event);
      if (!cell) return;
      if (editing) (document.activeElement === bar ? bar : editor).blur();
      dragging = { kind: "choose" };
      go(...cell, event.shiftKey);
    }
    sheet.focus({ preventScroll: true });
    event.preventDefault();
  });

  document.addEventListener("pointermove", (event) => {
    if (!dragging) return;
    if (dragging.kind === "width") {
      resize(event.clientX);
      draw();
      return;
    }
    const cell = under(event);
    if (!cell) return;
    if (dragging.kind === "choose") go(...cell, true);
    else {
      filled = stretch(cell);
      draw();
    }
  });

  document.addEventListener("pointerup", (event) => {
    if (dragging && dragging.kind === "width") {
      post({ widths: { [dragging.letter]: resize(event.clientX) } });
      draw();
    }
    if (dragging && dragging.kind === "fill" && filled) fill();
    dragging = null;
    filled = null;
  });

  sheet.addEventListener("dblclick", (event) => {
    if (under(event) && !editing) edit();
  });

  function resize(x) {
    const column = sheet.querySelector(`[data-col="${dragging.letter}"]`);
    dragging.width ??= parseInt(column.style.width, 10);
    const width = Math.round(Math.max(30, Math.min(400, dragging.width + x - dragging.x)));
    column.style.width = `${width}px`;
    return width;
  }

  function stretch([column, row]) {
    const r = range(), down = row - r.bottom, right = column - r.right;
    if (down <= 0 && right <= 0) return null;
    return down >= right ? { ...r, top: r.bottom + 1, bottom: row } : { ...r, left: r.right + 1, right: column };
  }

  function fill() {
    const r = range(), down = filled.top > r.bottom, changes = {};
    const count = down ? r.bottom - r.top + 1 : r.right - r.left + 1;
    for (const name of inside(filled)) {
      const [column, row] = place(name), far = down ? row - r.bottom - 1 : column - r.right - 1;
      const source = down ? [column, r.top + (far % count)] : [r.left + (far % count), row];
      const cell = at(cellName(...source));
      const line = [...Array(count).keys()].map((i) => at(down ? cellName(column, r.top + i) : cellName(r.left + i, row)).raw);
      const series = continued(line, far);
      changes[name] = { ...cell, raw: series ?? shifted(cell.raw, column - source[0], row - source[1]) };
    }
    const { right, bottom } = filled;
    change(changes);
    anchor = [r.left, r.top];
    focus = [right, bottom];
    filled = null;
    draw();
  }

  function continued(line, far) {
    const numbers = line.map(Number);
    if (line.length < 2 || line.some((text) => !/^-?\d+(\.\d+)?$/.test(text))) return null;
    const step = numbers[1] - numbers[0];
    if (numbers.some((number, i) => i && Math.abs(number - numbers[i - 1] - step) > 1e-9)) return null;
    return shown(numbers.at(-1) + step * (far + 1));
  }

  // --- tools -----------------------------------------------------------------------------------------------------

  document.querySelector(".sheet-bar").addEventListener("click", (event) => {
    const tool = event.target.closest("[data-tool]");
    if (!tool) return;
    if (tool.dataset.tool === "bold") style({ bold: !at(cellName(...anchor)).bold });
    else if (tool.dataset.tool === "format") style({ format: tool.dataset.value });
    else undo();
    sheet.focus({ preventScroll: true });
  });

  const sorting = document.getElementById("sort");
  sorting.addEventListener("opening", () => {
    const r = range();
    sorting.querySelector("[data-range]").textContent = title(r);
    sorting.querySelector("select").replaceChildren(...LETTERS.slice(r.left, r.right + 1).split("").map((letter) => new Option(letter, letter)));
  });
  sorting.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    delete event.target.dataset.sent;
    sort(LETTERS.indexOf(event.target.elements.column.value), event.target.elements.order.value === "down");
    sorting.close();
    sheet.focus({ preventScroll: true });
  });
  sorting.querySelector("form").addEventListener("submit", (event) => { delete event.target.dataset.sent; }, true);

  function sort(column, downwards) {
    const r = range(), rows = [];
    for (let row = r.top; row <= r.bottom; row += 1) rows.push(row);
    const key = (row) => values.get(cellName(column, row)) ?? null;
    const kind = (value) => (value === null ? 3 : typeof value === "number" ? 0 : typeof value === "string" ? 1 : 2);
    rows.sort((a, b) => {
      const [one, two] = [key(a), key(b)];
      if (kind(one) === 3 || kind(two) === 3 || kind(one) !== kind(two)) return kind(one) - kind(two);
      const [x, y] = kind(one) === 1 ? [one.toLowerCase(), two.toLowerCase()] : [one, two];
      return (x < y ? -1 : x > y ? 1 : 0) * (downwards ? -1 : 1);
    });
    const changes = {};
    rows.forEach((from, i) => {
      for (let at_ = r.left; at_ <= r.right; at_ += 1) {
        const cell = at(cellName(at_, from));
        changes[cellName(at_, r.top + i)] = { ...cell, raw: shifted(cell.raw, 0, r.top + i - from) };
      }
    });
    change(changes);
  }

  window.addEventListener("load", () => sheet.focus({ preventScroll: true }));
  work();
})();
