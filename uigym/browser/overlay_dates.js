// Calendars, columns of times and the colour field, for overlay.js.
(() => {
  const { make, close, show, drawers } = overlay;
  const DAY_MS = 86_400_000;
  const language = navigator.language;
  overlay.style(`
    .sides { display: flex } .sides > * + * { border-left: 1px solid #bfbfbf }
    .calendar { box-sizing: border-box; padding: 8px 9px; width: 215px } .calendar.weeks { width: 251px }
    .top { display: flex; align-items: center; height: 28px; margin-bottom: 8px }
    .title { font-weight: bold; padding: 4px 2px; flex: 1; white-space: nowrap } .title::after { content: " ▾" }
    .arrow { width: 32px; height: 28px; line-height: 26px; text-align: center; font-size: 20px }
    .grid { display: grid; grid-template-columns: repeat(7, 28px); text-align: center; line-height: 28px }
    .weeks .grid { grid-template-columns: 36px repeat(7, 28px) } .weeks .number { color: #6d6d6d }
    .grid > * { border-radius: 2px; height: 28px; box-sizing: border-box } .grid.months { grid-template-columns: repeat(4, 1fr) }
    .grid.months > * { height: 34px; line-height: 34px }
    .pick:hover, .cell:hover, .title:hover, .arrow:hover, .link:hover { background: #e8f0fe; border-radius: 2px }
    .aside { color: #7a7a7a } .off { color: #c4c4c4 } .today { box-shadow: inset 0 0 0 1px #101010 }
    .on, .on:hover { background: #0075ff; color: white; font-weight: bold } .grid .on { box-shadow: inset 0 0 0 2px #101010 }
    .foot { display: flex; justify-content: space-between; align-items: center; height: 28px; margin-top: 4px }
    .link { color: #0075d0; padding: 5px 8px } .typed { padding: 5px 0; font-weight: bold } .typed.bad { color: #c5221f }
    .times { display: flex; padding: 4px; gap: 4px } .column { width: 52px; height: 252px; overflow-y: auto }
    .cell { height: 36px; line-height: 36px; text-align: center; font-size: 14px; border-radius: 3px }
    .colour { width: 232px } .field { position: relative; height: 138px; width: 100% } .hue { position: relative; height: 12px; flex: 1; border-radius: 6px;
      background: linear-gradient(to right, #f00, #ff0, #0f0, #0ff, #00f, #f0f, #f00) }
    .knob { position: absolute; width: 12px; height: 12px; box-sizing: border-box; margin: -6px; border: 2px solid white; border-radius: 50%; box-shadow: 0 0 2px black }
    .mix { display: flex; gap: 12px; align-items: center; padding: 12px } .dot { width: 32px; height: 32px; border-radius: 50%; box-shadow: inset 0 0 0 1px #0003 }
    .hex { margin: 0 12px 12px; width: 208px; box-sizing: border-box; height: 28px; text-align: center; font: 14px Arial, sans-serif; border: 1px solid #bfbfbf; border-radius: 2px; outline: none }
    .hex:focus { border-color: #0075ff }
  `);

  const two = (number) => String(number).padStart(2, "0");
  const day = (year, month, date) => new Date(Date.UTC(year, month, date));
  const iso = (date) => date.toISOString().slice(0, 10);
  const name = (date, options) => new Intl.DateTimeFormat(language, { ...options, timeZone: "UTC" }).format(date);
  const now = () => {
    const d = new Date();
    return { date: day(d.getFullYear(), d.getMonth(), d.getDate()), time: `${two(d.getHours())}:${two(d.getMinutes())}` };
  };
  const weekStart = () => {
    const locale = new Intl.Locale(language);
    return (locale.getWeekInfo?.() ?? locale.weekInfo ?? { firstDay: 7 }).firstDay % 7;
  };
  const monday = (date) => new Date(date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY_MS);
  const weekOf = (date) => {
    const thursday = new Date(monday(date).getTime() + 3 * DAY_MS);
    const year = thursday.getUTCFullYear();
    return `${year}-W${two(1 + Math.floor((thursday - day(year, 0, 1)) / DAY_MS / 7))}`;
  };
  const fromWeek = (value) => {
    const [year, week] = value.split("-W").map(Number);
    return new Date(monday(day(year, 0, 4)).getTime() + (week - 1) * 7 * DAY_MS);
  };

  // The browser's own judgement of a value, by the control's limits and steps.
  const judge = (spec) => {
    const probe = make("input", { type: spec.kind, defaultValue: spec.base, min: spec.min, max: spec.max, step: spec.step });
    return (value) => {
      probe.value = value;
      const { rangeUnderflow, rangeOverflow, stepMismatch } = probe.validity;
      return probe.value !== "" && !(rangeUnderflow || rangeOverflow || stepMismatch);
    };
  };

  // A date in digits: ISO, or in the order of the locale.
  const read = (text) => {
    if (!/^(\d{8}|\d{1,2}\D\d{1,2}\D\d{4}|\d{4}\D\d{1,2}\D\d{1,2}\D?)$/.test(text) || /^\d{4}-\d\d-\d\d$/.test(text)) return text;
    const order = new Intl.DateTimeFormat(language).formatToParts().map((p) => p.type).filter((type) => type !== "literal");
    let parts = text.split(/\D/).filter(Boolean);
    if (parts.length === 1) {
      let rest = text;
      parts = order.map((type) => [rest.slice(0, type === "year" ? 4 : 2), (rest = rest.slice(type === "year" ? 4 : 2))][0]);
    }
    const found = Object.fromEntries(order.map((type, i) => [type, parts[i]]));
    return `${found.year}-${two(found.month)}-${two(found.day)}`;
  };
  // Text typed while a picker is open, shown in its foot; Enter takes it.
  const typing = (spec, judged, settle) => {
    const line = make("div", { className: "typed", hidden: true });
    let text = "";
    const value = () => {
      const typed = spec.kind === "date" ? read(text) : text.replace(/^(\d{4}-\d\d-\d\d)\s/, "$1T");
      return judged(typed) ? typed : null;
    };
    return {
      line,
      // Whether the key was part of a text.
      takes(key) {
        if (key === "Delete") settle("");
        else if (key === "Backspace") text = text.slice(0, -1);
        else if (/^[\dTW:./-]$/.test(key) || (key === " " && text)) text += key;
        else if (key === "Enter" && text) value() !== null && settle(value());
        else return false;
        line.textContent = text;
        line.hidden = !text;
        line.classList.toggle("bad", text.length > 9 && value() === null);
        return true;
      },
    };
  };

  // --- calendar of days, weeks or months ---
  const calendar = (spec, { valid, start, chosen, value, pick, foot }) => {
    const [weekly, monthly] = [spec.kind === "week", spec.kind === "month"];
    const first = weekly ? 1 : weekStart();
    const root = make("div", { className: weekly ? "calendar weeks" : "calendar" });
    let cursor = start;
    let months = monthly;
    let selected = chosen;

    const move = (date) => {
      if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 1 || date.getUTCFullYear() > 9999) return;
      cursor = date;
      draw();
    };
    const turn = (by) => {
      const month = day(cursor.getUTCFullYear(), cursor.getUTCMonth() + by, 1);
      const last = day(month.getUTCFullYear(), month.getUTCMonth() + 1, 0).getUTCDate();
      move(day(month.getUTCFullYear(), month.getUTCMonth(), Math.min(cursor.getUTCDate(), last)));
    };
    const take = (date) => {
      if (!valid(value(date))) return;
      selected = value(date);
      move(date);
      pick(selected);
    };
    const arrow = (sign, by) => make("div", { className: "arrow", textContent: sign, onclick: () => turn(months ? by * 12 : by) });
    const head = () => {
      const title = months ? name(cursor, { year: "numeric" }) : name(cursor, { month: "long", year: "numeric" });
      const flip = () => {
        months = monthly || !months;
        draw();
      };
      return make("div", { className: "top" }, make("div", { className: "title", textContent: title, onclick: flip }), arrow("↑", -1), arrow("↓", 1));
    };
    const days = () => {
      const [year, month] = [cursor.getUTCFullYear(), cursor.getUTCMonth()];
      const begin = day(year, month, 1);
      const from = begin.getTime() - ((begin.getUTCDay() - first + 7) % 7) * DAY_MS;
      const today = iso(now().date);
      const cells = weekly ? [make("div", { className: "number", textContent: "Week" })] : [];
      for (let i = 0; i < 7; i++) cells.push(make("div", { textContent: name(new Date(from + i * DAY_MS), { weekday: "narrow" }) }));
      for (let i = 0; i < 42; i++) {
        const date = new Date(from + i * DAY_MS);
        if (weekly && i % 7 === 0) cells.push(make("div", { className: "number", textContent: weekOf(date).slice(-2) }));
        const off = !valid(value(date));
        const marks = ["pick", date.getUTCMonth() !== month && "aside", off && "off", iso(date) === today && "today", value(date) === (selected || value(cursor)) && "on"];
        const cell = make("div", { className: marks.filter(Boolean).join(" "), textContent: date.getUTCDate(), onclick: () => take(date) });
        cells.push(cell);
      }
      return make("div", { className: "grid" }, ...cells);
    };
    const year = () => {
      const cells = [...Array(12).keys()].map((month) => {
        const date = day(cursor.getUTCFullYear(), month, 1);
        const here = month === cursor.getUTCMonth();
        const off = monthly && !valid(value(date));
        const marks = ["pick", off && "off", here && "on"];
        const choose = () => {
          if (monthly) return take(date);
          months = false;
          turn(month - cursor.getUTCMonth());
        };
        return make("div", { className: marks.filter(Boolean).join(" "), textContent: name(date, { month: "short" }), onclick: choose });
      });
      return make("div", { className: "grid months" }, ...cells);
    };
    const draw = () => root.replaceChildren(head(), months ? year() : days(), foot);
    draw();

    const step = (days_, months_) => () => {
      selected = "";
      if (monthly) turn(months_);
      else move(new Date(cursor.getTime() + days_ * (weekly ? (Math.abs(days_) === 1 ? 7 : 1) : 1) * DAY_MS));
    };
    const keys = {
      ArrowLeft: step(-1, -1), ArrowRight: step(1, 1), ArrowUp: step(-7, -4), ArrowDown: step(7, 4),
      PageUp: () => ((selected = ""), turn(monthly ? -12 : -1)), PageDown: () => ((selected = ""), turn(monthly ? 12 : 1)),
      Home: () => ((selected = ""), move(day(cursor.getUTCFullYear(), cursor.getUTCMonth(), 1))),
      End: () => ((selected = ""), move(day(cursor.getUTCFullYear(), cursor.getUTCMonth() + 1, 0))),
    }; // prettier-ignore
    return { root, value: () => value(cursor), take, key: (key) => keys[key] && (keys[key](), true) };
  };

  const footer = (line, clear, present, presently) => {
    const links = [make("div", { className: "link", textContent: "Clear", onclick: clear }), line];
    if (present) links.push(make("div", { className: "link", textContent: present, onclick: presently }));
    return make("div", { className: "foot" }, ...links);
  };

  const OF = {
    date: { value: iso, parse: (text) => new Date(text + "T00:00Z"), present: "Today" },
    month: { value: (date) => iso(date).slice(0, 7), parse: (text) => new Date(text + "-01T00:00Z"), present: "This month" },
    week: { value: weekOf, parse: fromWeek, present: "This week" },
  };
  const drawCalendar = (spec, box, panel) => {
    const { value, parse, present } = OF[spec.kind];
    const valid = judge(spec);
    const typed = typing(spec, valid, close);
    const start = spec.value ? parse(spec.value) : now().date;
    const foot = footer(typed.line, () => close(""), present, () => shown.take(now().date));
    const shown = calendar(spec, { valid, value, start, chosen: spec.value, pick: close, foot });
    panel.append(shown.root);
    return {
      key({ key }) {
        if (typed.takes(key) || shown.key(key)) return;
        if (key === "Enter" || key === "F4") valid(shown.value()) && close(shown.value());
        else if (key === "Escape" || key === "Tab") close();
      },
    };
  };
  for (const kind of Object.keys(OF)) drawers[kind] = drawCalendar;

  // --- columns of hours, minutes and seconds ---
  const times = (spec, valid, changed) => {
    const half = new Intl.DateTimeFormat(language, { hour: "numeric" }).resolvedOptions().hour12;
    const current = (spec.value.split("T").pop() || now().time).split(/[:.]/).map(Number);
    const seconds = spec.step === "any" ? current.length > 2 : spec.step !== "" && Number(spec.step) % 60 !== 0;
    const time = { hour: current[0], minute: current[1], second: current[2] || 0 };
    const write = ({ hour, minute, second }) => [hour, minute, ...(seconds || second ? [second] : [])].map(two).join(":");
    const fits = (change) => valid(write({ ...time, ...change }));
    const range = (count) => [...Array(count).keys()];
    const minutes = range(60).filter((minute) => range(24).some((hour) => valid(write({ hour, minute, second: time.second }))));
    const able = {
      hour: (hour) => (minutes.length ? minutes : range(60)).find((minute) => fits({ hour, minute })),
      minute: (minute) => (fits({ minute }) ? minute : undefined),
      second: (second) => (fits({ second }) ? second : undefined),
    };
    const columns = [];
    const column = (unit, values, label, isOn, choose) => {
      const cells = values.map((value) => make("div", { className: "cell", textContent: label(value), onclick: () => choose(value) }));
      const redraw = () => cells.forEach((cell, i) => {
        cell.classList.toggle("on", isOn(values[i]));
        cell.classList.toggle("off", able[unit](unit === "hour" && half ? toHour(values[i]) : values[i]) === undefined);
      });
      const root = make("div", { className: "column" }, ...cells);
      columns.push({ root, redraw, cells, values, isOn, choose });
    };
    const set = (change) => {
      if (change.hour !== undefined && !fits(change)) change.minute = able.hour(change.hour);
      if (change.minute === undefined && !fits(change)) return;
      Object.assign(time, change);
      columns.forEach((one) => one.redraw());
      changed(write(time));
    };
    const toHour = (value) => (typeof value === "string" ? (time.hour % 12) + (value === "PM" ? 12 : 0) : value + (time.hour >= 12 ? 12 : 0));
    // The present value comes first, as in Chromium; the others follow round the clock.
    const from = (values, first) => [...values.slice(values.indexOf(first)), ...values.slice(0, Math.max(0, values.indexOf(first)))];
    if (half) column("hour", from(range(12), time.hour % 12), (h) => two(h || 12), (h) => time.hour % 12 === h, (h) => set({ hour: toHour(h) }));
    else column("hour", from(range(24), time.hour), two, (h) => time.hour === h, (hour) => set({ hour }));
    const offered = minutes.length ? minutes : range(60);
    column("minute", offered.includes(time.minute) ? from(offered, time.minute) : offered, two, (m) => time.minute === m, (minute) => set({ minute }));
    if (seconds) column("second", from(range(60), time.second), two, (s) => time.second === s, (second) => set({ second }));
    if (half) column("hour", ["AM", "PM"], (p) => p, (p) => (time.hour >= 12) === (p === "PM"), (p) => set({ hour: toHour(p) }));
    columns.forEach((one) => one.redraw());

    let lane = 0;
    const go = (by) => {
      const { cells, values, isOn, choose } = columns[lane];
      const to = (values.findIndex(isOn) + by + values.length) % values.length;
      choose(values[to]);
      cells[to].scrollIntoView({ block: "nearest" });
    };
    const keys = {
      ArrowDown: () => go(1), ArrowUp: () => go(-1),
      ArrowRight: () => (lane = Math.min(lane + 1, columns.length - 1)), ArrowLeft: () => (lane = Math.max(lane - 1, 0)),
    }; // prettier-ignore
    const root = make("div", { className: "times" }, ...columns.map((one) => one.root));
    return { root, value: () => write(time), key: (key) => keys[key] && (keys[key](), true) };
  };

  drawers.time = (spec, box, panel) => {
    const valid = judge(spec);
    const typed = typing(spec, valid, close);
    const shown = times(spec, valid, show);
    typed.line.style.textAlign = "center";
    panel.append(shown.root, typed.line);
    return {
      key({ key }) {
        if (typed.takes(key) || shown.key(key)) return;
        if (key === "Enter" || key === "F4") valid(shown.value()) && close(shown.value());
        else if (key === "Escape" || key === "Tab") close();
      },
    };
  };

  drawers["datetime-local"] = (spec, box, panel) => {
    const valid = judge(spec);
    const typed = typing(spec, valid, close);
    const [date, time] = spec.value ? spec.value.split("T") : [iso(now().date), ""];
    let dates = null;
    const whole = () => `${dates.value()}T${clock.value()}`;
    const tell = () => valid(whole()) && show(whole());
    const anyTime = (text) => !spec.min && !spec.max ? true : (!spec.min || text >= spec.min.slice(0, 10)) && (!spec.max || text <= spec.max.slice(0, 10));
    const clock = times({ ...spec, value: time }, (text) => valid(`${dates ? dates.value() : date}T${text}`), tell);
    const foot = footer(typed.line, () => close(""), "Today", () => dates.take(now().date));
    dates = calendar({ ...spec, kind: "date" }, { valid: anyTime, value: iso, start: OF.date.parse(date), chosen: date, pick: tell, foot });
    panel.append(make("div", { className: "sides" }, dates.root, clock.root));
    return {
      key({ key }) {
        if (typed.takes(key)) return;
        if (key === "Enter" || key === "F4") valid(whole()) && close(whole());
        else if (key === "Escape" || key === "Tab") close();
        else if (dates.key(key)) tell();
      },
    };
  };

  // --- colour ---
  const toHex = (h, s, v) => {
    const channel = (n) => {
      const k = (n + h * 6) % 6;
      return Math.round(255 * (v - v * s * Math.max(0, Math.min(k, 4 - k, 1))));
    };
    return "#" + [5, 3, 1].map((n) => channel(n).toString(16).padStart(2, "0")).join("");
  };
  const fromHex = (hex) => {
    const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
    const [high, low] = [Math.max(r, g, b), Math.min(r, g, b)];
    const d = high - low;
    const h = d === 0 ? 0 : high === r ? ((g - b) / d + 6) % 6 : high === g ? (b - r) / d + 2 : (r - g) / d + 4;
    return [h / 6, high ? d / high : 0, high];
  };
  drawers.color = (spec, box, panel) => {
    let [h, s, v] = fromHex(spec.value);
    const [spot, slide] = [make("div", { className: "knob" }), make("div", { className: "knob" })];
    const field = make("div", { className: "field" }, spot);
    const hue = make("div", { className: "hue" }, slide);
    const dot = make("div", { className: "dot" });
    const hex = make("input", { className: "hex", spellcheck: false, autocomplete: "off" });
    const draw = () => {
      const pure = toHex(h, 1, 1);
      field.style.background = `linear-gradient(to top, black, transparent), linear-gradient(to right, white, ${pure})`;
      Object.assign(spot.style, { left: `${s * 100}%`, top: `${(1 - v) * 100}%` });
      Object.assign(slide.style, { left: `${h * 100}%`, top: "50%" });
      dot.style.background = toHex(h, s, v);
    };
    const mixed = () => {
      hex.value = toHex(h, s, v);
      show(hex.value);
      draw();
    };
    const slides = (node, set) => {
      const at = (event) => {
        const frame = node.getBoundingClientRect();
        const share = (value, low, high) => Math.max(0, Math.min(1, (value - low) / (high - low)));
        set(share(event.clientX, frame.left, frame.right), share(event.clientY, frame.top, frame.bottom));
        mixed();
      };
      node.onpointerdown = (event) => {
        node.setPointerCapture(event.pointerId);
        at(event);
        event.preventDefault();
      };
      node.onpointermove = (event) => event.buttons && at(event);
    };
    slides(field, (x, y) => ([s, v] = [x, 1 - y]));
    slides(hue, (x) => (h = x));
    const written = () => {
      const found = /^#?([0-9a-f]{6})$/i.exec(hex.value.trim());
      return found && `#${found[1].toLowerCase()}`;
    };
    hex.oninput = () => {
      if (!written()) return;
      [h, s, v] = fromHex(written());
      show(written());
      draw();
    };
    hex.value = spec.value;
    panel.append(make("div", { className: "colour" }, field, make("div", { className: "mix" }, dot, hue), hex));
    draw();
    hex.focus();
    hex.select();
    return {
      key({ key }) {
        if (key === "Enter") written() && close(written());
        else if (key === "Escape" || key === "Tab") close();
      },
    };
  };
})();
