// Draws pickers as Chromium does, in a page of our own that lies over the product's: its input arrives here as
// mouse and keyboard events, and the controller reads what came of it. Nothing of the product's runs here: its
// texts arrive as data and are set as text.
const overlay = (() => {
  const ROWS = 20;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    * { ${CSS.supports("caret-animation", "manual") ? "caret-animation: manual" : "caret-color: transparent"} }
    html, body { margin: 0; overflow: hidden; background: transparent; cursor: default; user-select: none }
    .panel { position: fixed; box-sizing: border-box; border: 1px solid #bfbfbf; background: white; outline: none;
      color: #101010; font: 12px Arial, sans-serif; border-radius: 2px; overflow: hidden }
    .list { border: 1px solid #767676; border-radius: 0 }
    .rows { overflow-y: auto; overflow-x: hidden }
    .row { display: flex; align-items: center; min-height: 1.8em; padding: 0 4px; white-space: pre; box-sizing: border-box }
    .row > span { overflow: hidden; text-overflow: ellipsis }
    .row.head { font-weight: bold } .row.inner { padding-inline-start: 20px }
    .row.line { min-height: 0; height: 1px; background: #767676; margin: 4px 4px; padding: 0 }
    .row.off { color: #6d6d6d !important } .row.lit { background: #1967d2; color: white !important }
    .row .note { margin-inline-start: auto; padding-inline-start: 12px; color: #6d6d6d; font-size: 90% }
    .row.lit .note { color: white }
    .thumb { position: absolute; right: 1px; width: 5px; border-radius: 3px; background: #0006 }
  `);
  document.adoptedStyleSheets = [sheet];

  const make = (name, props = {}, ...children) => {
    const node = document.createElement(name);
    const { style, ...rest } = props;
    Object.assign(node, rest);
    Object.assign(node.style, style);
    node.append(...children);
    return node;
  };

  let panel = null;
  let part = null; // {key(event), aim(index), turn()}
  let result = null; // {done, value, show, passed}
  const drawers = {};

  // `passed`: the key that closed it is the page's, too.
  const close = (value = null, passed = false) => {
    result = { ...result, done: true, value, passed };
  };
  // A value that is shown in the control, and chosen if a click elsewhere closes the picker.
  const show = (value) => {
    result = { ...result, show: value };
  };

  const place = (box, rtl) => {
    const zoom = Math.min(1, innerWidth / panel.offsetWidth, innerHeight / panel.offsetHeight);
    const [width, height] = [panel.offsetWidth * zoom, panel.offsetHeight * zoom];
    const [above, below] = [box.top, innerHeight - box.bottom];
    let top = below >= height || below >= above ? box.bottom : box.top - height;
    top = Math.max(0, Math.min(top, innerHeight - height));
    const left = Math.max(0, Math.min(rtl ? box.right - width : box.left, innerWidth - width));
    Object.assign(panel.style, { left: `${Math.round(left) / zoom}px`, top: `${Math.round(top) / zoom}px`, zoom });
  };

  // --- lists: of a select, and of suggestions ---
  const drawList = (spec, box) => {
    const choosing = spec.kind === "list";
    const [scale, style] = [box.scale, spec.style];
    const clear = /^rgba\(.*, 0(\.\d+)?\)$|transparent/.test(style.backgroundColor);
    const font = { fontFamily: style.fontFamily, fontStyle: style.fontStyle, fontWeight: style.fontWeight };
    const size = parseFloat(style.fontSize) * scale;
    const rows = make("div", { className: "rows" });
    panel.classList.add("list");
    Object.assign(panel.style, font, { fontSize: `${size}px`, color: style.color, direction: style.direction });
    panel.style.background = clear ? "white" : style.backgroundColor;
    const texts = (item) => [make("span", { textContent: item.text || "\u00a0" }), ...(item.note ? [make("span", { className: "note", textContent: item.note })] : [])];
    const nodes = spec.items.map((item) => {
      const kinds = ["row", item.head && "head", item.line && "line", item.off && "off", item.inGroup && "inner"];
      return make("div", { className: kinds.filter(Boolean).join(" "), style: { color: item.color || "" } }, ...(item.line ? [] : texts(item)));
    });
    rows.append(...nodes);
    const thumb = make("div", { className: "thumb" });
    panel.append(rows, thumb);

    const able = spec.items.map((item) => !item.off && !item.head && !item.line);
    let at = spec.items.findIndex((item) => item.index === spec.at && able[spec.items.indexOf(item)]);
    const light = (index) => {
      nodes[at]?.classList.remove("lit");
      at = index;
      nodes[at]?.classList.add("lit");
    };
    const pick = (index) => able[index] && close(choosing ? spec.items[index].index : spec.items[index].value);
    const next = (from, step) => {
      for (let i = from + step; i >= 0 && i < nodes.length; i += step) if (able[i]) return i;
      return from < 0 || from >= nodes.length ? -1 : from;
    };
    const go = (index) => {
      if (index < 0) return;
      light(index);
      nodes[index].scrollIntoView({ block: "nearest" });
    };
    const jump = (rowsAway) => {
      let goal = at;
      for (let i = 0; i < Math.abs(rowsAway); i++) goal = next(goal, Math.sign(rowsAway));
      go(goal);
    };

    rows.addEventListener("mousemove", (event) => {
      const index = nodes.indexOf(event.target.closest(".row"));
      if (able[index]) light(index);
    });
    rows.addEventListener("click", (event) => pick(nodes.indexOf(event.target.closest(".row"))));
    const mark = () => {
      const ratio = rows.clientHeight / rows.scrollHeight;
      thumb.hidden = ratio >= 1;
      const height = Math.max(16, rows.clientHeight * ratio);
      const travel = rows.scrollTop / (rows.scrollHeight - rows.clientHeight || 1);
      Object.assign(thumb.style, { height: `${height}px`, top: `${travel * (rows.clientHeight - height)}px` });
    };
    rows.addEventListener("scroll", mark);

    const one = Math.max(...nodes.map((node) => node.offsetHeight));
    const room = Math.max(box.top, innerHeight - box.bottom, 3 * one) - 2;
    const whole = Math.max(1, Math.min(ROWS, Math.floor(room / one)));
    if (rows.scrollHeight > whole * one) rows.style.height = `${whole * one}px`;
    panel.style.minWidth = `${Math.min(box.right - box.left, innerWidth)}px`;
    panel.style.maxWidth = `${innerWidth}px`;
    if (at >= 0) {
      light(at);
      nodes[at].scrollIntoView({ block: "center" });
    }
    mark();

    let typed = "";
    const seek = (character) => {
      typed += character.toLowerCase();
      const same = [...typed].every((c) => c === typed[0]);
      const goal = same ? typed[0] : typed;
      const start = same ? at + 1 : Math.max(at, 0);
      for (let n = 0; n < nodes.length; n++) {
        const i = (start + n) % nodes.length;
        if (able[i] && spec.items[i].text.toLowerCase().startsWith(goal)) return go(i);
      }
    };
    const keys = {
      ArrowDown: () => go(next(at, 1)), ArrowUp: () => go(next(at < 0 ? nodes.length : at, -1)),
      ArrowRight: () => go(next(at, 1)), ArrowLeft: () => go(next(at, -1)),
      Home: () => go(next(-1, 1)), End: () => go(next(nodes.length, -1)),
      PageDown: () => jump(whole - 1), PageUp: () => jump(1 - whole),
      Enter: () => (at >= 0 ? pick(at) : close(null, !choosing)), Escape: () => close(), Tab: () => (at >= 0 ? pick(at) : close()),
      F4: () => pick(at),
    }; // prettier-ignore
    return {
      key(event) {
        const { key, altKey, ctrlKey, metaKey } = event;
        if (altKey && key.startsWith("Arrow")) keys.Enter();
        else if (key === " " && !typed) keys.Enter();
        else if (keys[key]) keys[key]();
        else if (key.length === 1 && !ctrlKey && !altKey && !metaKey) seek(key);
      },
      turn: () => (typed = ""),
      // Where to click for an item, or how far to turn the wheel first.
      aim(index) {
        const i = spec.items.findIndex((item) => item.index === index);
        if (i < 0) return { kind: "absent" };
        const [row, frame] = [nodes[i].getBoundingClientRect(), rows.getBoundingClientRect()];
        const [x, y] = [(frame.left + frame.right) / 2, (row.top + row.bottom) / 2];
        const middle = (frame.top + frame.bottom) / 2;
        if (y > frame.top && y < frame.bottom) return { kind: "point", x, y };
        return { kind: "scroll", x, y: middle, dx: 0, dy: y - middle };
      },
    };
  };
  drawers.list = drawers.suggestions = drawList;

  addEventListener("keydown", (event) => {
    if (!part || result.done) return;
    if (event.target.localName !== "input" || ["Enter", "Escape"].includes(event.key)) {
      part.key(event);
      event.preventDefault();
    }
  });

  return {
    drawers, make, close, show,
    style(text) {
      const more = new CSSStyleSheet();
      more.replaceSync(text);
      document.adoptedStyleSheets.push(more);
    },
    // Draw a picker under, or over, the control's box (CSS px of the viewport).
    open(spec, box) {
      panel?.remove();
      result = { done: false, value: null, show: null, passed: false };
      panel = make("div", { className: "panel" });
      document.body.append(panel);
      part = drawers[spec.kind](spec, box, panel);
      place(box, spec.style.direction === "rtl");
      return overlay.state();
    },
    clear() {
      panel?.remove();
      panel = part = null;
    },
    // What the last input came to, and where the panel is.
    state() {
      part?.turn?.();
      const { left, top, right, bottom } = panel.getBoundingClientRect();
      return { ...result, left, top, right, bottom };
    },
    aim: (index) => part?.aim?.(index) ?? { kind: "absent" },
  }; // prettier-ignore
})();
