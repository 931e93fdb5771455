// Knows which of a page's or worker's work descends from an input, and whether any of it is still to come.
//
// Runs in the page's own world before its scripts. Every callback that the page hands to the browser remembers
// the cause that was current when it was handed over, and makes it current again while it runs; promises are
// followed by keeping the cause until the next turn of the event loop. What the page does by itself (polls,
// clocks) has no cause and is not waited for. Work that nobody can follow (a module that was imported, a script
// that was inserted, an event that the browser sends of its own accord) counts for a while after an input as its
// descendant. Chains that go on and on (timers that arm themselves, frame loops) lose their cause after a while,
// and are known from then on.
//
// Nothing here can be reached from the page: all state is in this closure, and the page's functions are replaced
// by proxies that print as the functions they stand for.
() => {
  const LIFE_MS = 3200; // a little over the wait of settle.js: work older than this counts no more
  // How far a cause reaches: ms of timers in a row, the longest of them, the longest period, ms of silence of a
  // stream; frames, requests, other calls and messages in a row. A page's loading reaches less far than an input.
  const REACH = {
    input: { timer: 2000, delay: 1000, period: 300, silence: 3200, frame: 150, call: 20, read: 2000, port: 200, awaited: true },
    message: { timer: 2000, delay: 1000, period: 300, silence: 3200, frame: 150, call: 20, read: 2000, port: 200, awaited: false },
    load: { timer: 800, delay: 500, period: 50, silence: 300, frame: 20, call: 6, read: 200, port: 50, awaited: false },
  }; // prettier-ignore
  const STRAYS = 20; // so much work that nobody can follow counts after an input

  // The page may replace any of these later: keep the browser's own.
  const scope = globalThis;
  const { apply, construct, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
  const { max, min } = Math;
  const then = Promise.prototype.then;
  const listen = EventTarget.prototype.addEventListener;
  const print = Function.prototype.toString;
  const nativeTimeout = setTimeout;
  const nativeFrame = scope.requestAnimationFrame;
  const clock = performance;
  const nativeNow = performance.now;
  const now = () => apply(nativeNow, clock, []);
  const later = (callback, ms) => apply(nativeTimeout, scope, [callback, ms]);
  const atFrame = (callback) => apply(nativeFrame, scope, [callback]);
  const own = (collection, ...names) => {
    for (const name of names) collection[name] = collection[name];
    return collection;
  };
  const table = (Kind) => own(new Kind(), "get", "set", "delete");
  const nothing = () => {};

  // --- work that is still to come ---
  const holds = own(new Set(), "add", "delete", "forEach", "clear");
  let count = 0;
  let turning = false; // a turn of the event loop is still to come
  let owing = false; // it follows on work that has a cause
  let endless = false; // an input's work went on for too long: it is left alone, and said so once
  let whenIdle = nothing;

  const quiet = () => {
    if (owing || count > 0) return;
    const told = whenIdle;
    whenIdle = nothing;
    told();
  };
  const drop = (one) => {
    if (holds.delete(one)) count--;
    quiet();
  };
  const hold = (ms = LIFE_MS) => {
    const time = now() + ms;
    const own = cause && cause !== root;
    const one = { until: own ? min(time, cause.until) : time, awaited: own && cause.awaited && ms >= LIFE_MS };
    holds.add(one);
    count++;
    return () => drop(one);
  };
  const expire = () => {
    const time = now();
    holds.forEach((one) => {
      if (one.until >= time || !holds.delete(one)) return;
      count--;
      if (one.awaited) endless = true;
    });
  };
  const busy = () => {
    if (count) expire();
    return owing || count > 0;
  };
  // True, and false from then on, if an input's work was left alone.
  const gaveUp = () => {
    const was = endless;
    endless = false;
    return was;
  };

  // --- causes ---
  let forgotten = 0;
  const begin = (reach) => {
    const time = now();
    return { ...reach, chained: false, born: time, until: time + LIFE_MS };
  };
  // Of all that nobody can follow. While a document loads, that is its loading.
  const root = { ...REACH.load, chained: false };
  let strays = Infinity;
  let cause = root;

  const alive = () => {
    if (cause === root) return strays > 0;
    return cause !== null && cause.born >= forgotten && now() <= cause.until;
  };
  const descend = (kind, cost = 1) => {
    if (!alive()) return null;
    if (cause[kind] < cost) {
      if (cause.awaited) endless = true;
      return null;
    }
    const next = cause === root ? begin(root) : { ...cause };
    if (cause === root) strays--;
    next.chained = true;
    next[kind] -= cost;
    return next;
  };
  // Whoever waited has lost patience: what is going on now counts no more.
  const forget = () => {
    holds.clear();
    count = 0;
    endless = false;
    forgotten = now();
  };

  let afterTurn = nothing;
  const turns = new MessageChannel();
  const post = MessagePort.prototype.postMessage;
  turns.port1.onmessage = () => {
    const worked = owing;
    turning = owing = false;
    cause = root;
    if (worked) afterTurn();
    quiet();
  };
  // Make a cause current for this callback and for the microtasks after it.
  const enter = (next) => {
    cause = next;
    if (next && next !== root) owing = true;
    if (turning || next === root || !(next || strays > 0)) return;
    turning = true;
    apply(post, turns.port2, [0]);
  };

  // --- taking the place of the browser's functions ---
  const originals = table(WeakMap);
  const replace = (object, name, handler, part = "value") => {
    let owner = object; // a worker's functions belong to what its global object inherits from
    while (owner && !getOwnPropertyDescriptor(owner, name)) owner = getPrototypeOf(owner);
    const slot = owner && getOwnPropertyDescriptor(owner, name);
    if (!slot || typeof slot[part] !== "function") return;
    const native = slot[part];
    slot[part] = new Proxy(native, handler);
    originals.set(slot[part], originals.get(native) || native);
    defineProperty(owner, name, slot);
    if (handler.construct) native.prototype.constructor = slot[part];
  };
  replace(Function.prototype, "toString", {
    apply: (native, self, args) => apply(native, originals.get(self) || self, args),
  });
  const on = (target, names, listener) => {
    for (let i = 0; i < names.length; i++) apply(listen, target, [names[i], listener, { capture: true, passive: true }]);
  };
  // Nothing is to come of a call that throws.
  const attempt = (native, self, args, done) => {
    try {
      return apply(native, self, args);
    } catch (error) {
      done();
      throw error;
    }
  };
  // The callback in a cause; `done` when it has run.
  const within = (callback, next, done) =>
    function () {
      enter(next);
      try {
        return apply(callback, this, arguments);
      } finally {
        done();
      }
    };

  // --- timers and frames ---
  // A callback that armed itself for too long once is known by its text, for which functions of the browser have none.
  const known = own(new Set(), "add", "has");
  let knows = false;
  const textOf = (callback) => apply(print, callback, []);
  const nameless = textOf(nothing.bind());
  const tire = (callback) => {
    const text = textOf(callback);
    if (text === nameless) return;
    known.add(text);
    knows = true;
  };
  const isKnown = (callback) => knows && known.has(textOf(callback));
  const follow = (kind, cost, callback) => {
    if (!alive() || (cause.chained && isKnown(callback))) return null;
    const next = descend(kind, cost);
    if (!next && cause && cause.awaited) tire(callback);
    return next;
  };

  const span = (ms) => max(typeof ms === "number" || typeof ms === "string" ? +ms || 0 : 0, 4);
  const pending = table(Map);
  const schedule = (kind, ask) => ({
    apply(native, self, args) {
      const callback = args[0];
      if (typeof callback !== "function") return apply(native, self, args);
      const next = ask(callback, args[1]);
      if (!next) {
        args[0] = within(callback, null, nothing);
        return apply(native, self, args);
      }
      const done = hold();
      args[0] = within(callback, next, () => {
        pending.delete(kind + id);
        done();
      });
      const id = attempt(native, self, args, done);
      pending.set(kind + id, done);
      return id;
    },
  });
  const repeat = {
    apply(native, self, args) {
      const callback = args[0];
      if (typeof callback !== "function") return apply(native, self, args);
      const period = span(args[1]);
      let next = alive() && period <= cause.period && !isKnown(callback) ? descend("timer", period) : null;
      let left = next ? next.timer : 0;
      const done = next ? hold() : nothing;
      args[0] = function () {
        left -= period;
        if (next && left < 0) {
          if (next.awaited) endless = true;
          if (next.awaited) tire(callback);
          next = null;
          done();
        }
        enter(next);
        return apply(callback, this, arguments);
      };
      const id = attempt(native, self, args, done);
      if (next) pending.set("timer" + id, done);
      return id;
    },
  };
  const cancel = (kind) => ({
    apply(native, self, args) {
      const done = pending.get(kind + args[0]);
      pending.delete(kind + args[0]);
      if (done) done();
      return apply(native, self, args);
    },
  });
  const timed = (callback, ms) => (alive() && span(ms) <= cause.delay ? follow("timer", span(ms), callback) : null);
  replace(scope, "setTimeout", schedule("timer", timed));
  replace(scope, "setInterval", repeat);
  for (const name of ["clearTimeout", "clearInterval"]) replace(scope, name, cancel("timer"));
  replace(scope, "requestAnimationFrame", schedule("frame", (callback) => follow("frame", 1, callback)));
  replace(scope, "cancelAnimationFrame", cancel("frame"));
  replace(scope, "requestIdleCallback", schedule("idle", (callback) => follow("frame", 1, callback)));
  replace(scope, "cancelIdleCallback", cancel("idle"));

  return {
    LIFE_MS, REACH, scope, apply, construct, getOwnPropertyDescriptor, now, later, atFrame, own, table, nothing, then, span, min,
    hold, busy, forget, gaveUp, begin, alive, descend, enter, replace, on, attempt, within, schedule,
    root,
    current: () => cause,
    isTurning: () => turning,
    // What nobody can follow counts again.
    restart: () => (strays = STRAYS),
    resume: (earlier) => (cause = earlier),
    onTurn: (callback) => (afterTurn = callback),
    onIdle: (callback) => (whenIdle = callback),
  }; // prettier-ignore
}
