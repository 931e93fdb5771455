// Makes everything that tells the date say the same: __NOW__, ms since 1970. Runs in the page's own world before its
// scripts. Timers, frames and performance.now() run on, else what waits or fades would never end.
(() => {
  const stopped = __NOW__;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const Native = Date;
  const now = Date.now;
  const parse = Date.parse;
  const origin = performance.timeOrigin;
  const DAY_MS = 86400000;
  const QUARTER_MS = 900000;

  // Replaces a function, or with "get" a getter, by a proxy, which prints as native code.
  const replace = (owner, name, handler, part = "value") => {
    const slot = owner && getOwnPropertyDescriptor(owner, name);
    if (!slot || typeof slot[part] !== "function") return;
    slot[part] = new Proxy(slot[part], handler);
    defineProperty(owner, name, slot);
    if (handler.construct) slot.value.prototype.constructor = slot.value;
  };
  const or = (date) => (date === undefined ? stopped : date);

  replace(Native, "now", { apply: () => stopped });
  replace(window, "Date", {
    construct: (native, args, made) => construct(native, args.length ? args : [stopped], made),
    apply: () => new Native(stopped).toString(),
  });

  const { get, set } = WeakMap.prototype;
  const formats = new WeakMap();
  replace(Intl.DateTimeFormat.prototype, "format", {
    apply(native, self, args) {
      const format = apply(native, self, args);
      if (!apply(get, formats, [format])) {
        apply(set, formats, [format, new Proxy(format, { apply: (inner, that, [date]) => inner(or(date)) })]);
      }
      return apply(get, formats, [format]);
    },
  }, "get"); // prettier-ignore
  replace(Intl.DateTimeFormat.prototype, "formatToParts", { apply: (native, self, [date]) => apply(native, self, [or(date)]) });

  if (globalThis.Temporal) {
    const { Now, Instant } = Temporal;
    const zone = Now.timeZoneId;
    const instant = Instant.fromEpochMilliseconds(stopped);
    const there = (name) => instant.toZonedDateTimeISO(name === undefined ? zone() : name);
    replace(Now, "instant", { apply: () => Instant.fromEpochMilliseconds(stopped) });
    replace(Now, "zonedDateTimeISO", { apply: (native, self, [name]) => there(name) });
    replace(Now, "plainDateTimeISO", { apply: (native, self, [name]) => there(name).toPlainDateTime() });
    replace(Now, "plainDateISO", { apply: (native, self, [name]) => there(name).toPlainDate() });
    replace(Now, "plainTimeISO", { apply: (native, self, [name]) => there(name).toPlainTime() });
  }

  replace(window, "File", {
    construct(native, args, made) {
      if (args.length > 1 && args[2]?.lastModified === undefined) args[2] = { ...args[2], lastModified: stopped };
      return construct(native, args, made);
    },
  });
  const two = (number) => (number < 10 ? "0" : "") + number;
  replace(Document.prototype, "lastModified", {
    apply(native, self, args) {
      const said = apply(native, self, args);
      const ago = now() - parse(said);
      const odd = ((ago % QUARTER_MS) + QUARTER_MS) % QUARTER_MS; // it is told in the time zone of the machine
      if (Math.abs(ago) > DAY_MS || odd > 5000) return said; // the server's word, not the present time
      const date = new Native(stopped);
      const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
      return `${two(date.getMonth() + 1)}/${two(date.getDate())}/${date.getFullYear()} ${time}`;
    },
  }, "get"); // prettier-ignore

  // The browser's own clock goes on: a cookie that lasts until a date of the stopped one could be over already.
  replace(Document.prototype, "cookie", {
    apply(native, self, [cookie]) {
      const lasting = (all, date) => (parse(date) ? `;max-age=${Math.floor((parse(date) - stopped) / 1000)}` : all);
      const text = String(cookie);
      return apply(native, self, [/;\s*max-age\s*=/i.test(text) ? text : text.replace(/;\s*expires\s*=([^;]*)/i, lasting)]);
    },
  }, "set"); // prettier-ignore

  // The document began at the stopped time: what is measured from there stays right.
  replace(Performance.prototype, "timeOrigin", { apply: () => stopped }, "get");
  replace(Performance.prototype, "toJSON", { apply: (native, self, args) => ({ ...apply(native, self, args), timeOrigin: stopped }) });
  if (globalThis.PerformanceTiming) {
    for (const name of ownKeys(PerformanceTiming.prototype)) {
      replace(PerformanceTiming.prototype, name, {
        apply(native, self, args) {
          const time = apply(native, self, args);
          return typeof time === "number" && time ? Math.round(time - origin + stopped) : time;
        },
      }, "get"); // prettier-ignore
    }
  }
})();
