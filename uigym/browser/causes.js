// Knows which of the page's work descends from an input, and whether any of it is still to come.
//
// Runs in the page's own world before its scripts. Every callback that the page hands to the browser remembers
// the cause that was current when it was handed over, and makes it current again while it runs; promises are
// followed by keeping the cause until the next turn of the event loop. What the page does by itself (polls,
// clocks) has no cause and is not waited for. Chains that go on and on (timers that arm themselves, frame loops)
// lose their cause after a number of hops.
//
// Nothing here can be reached from the page: all state is in this closure, the page's functions are replaced by
// proxies, which print as native code, and settle.js asks from its own world by events with a secret name.
(() => {
  const SECRET = "__SECRET__";
  const LIFE_MS = 3200; // a little over the wait of settle.js: work older than this counts no more
  const REPLY_MS = 150; // nothing links a socket's reply to what was sent: the replies within this time count
  const HOPS = {
    input: { delay: 1000, timer: 6, frame: 60, call: 20, port: 200 },
    load: { delay: 200, timer: 3, frame: 4, call: 10, port: 50 },
  };

  // The page may replace any of these later: keep the browser's own.
  const { apply, construct, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const then = Promise.prototype.then;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const listen = EventTarget.prototype.addEventListener;
  const Signal = CustomEvent;
  const nativeTimeout = setTimeout;
  const clock = performance;
  const nativeNow = performance.now;
  const now = () => apply(nativeNow, clock, []);
  const own = (collection, ...names) => {
    for (const name of names) collection[name] = collection[name];
    return collection;
  };
  const table = (Kind) => own(new Kind(), "get", "set", "delete");

  // --- work that is still to come ---
  const holds = own(new Set(), "add", "delete", "forEach");
  let count = 0;
  let turning = false; // a turn of the event loop is still to come
  let asked = false;

  const drop = (hold) => {
    if (holds.delete(hold)) count--;
    quiet();
  };
  const hold = (ms = LIFE_MS) => {
    const one = { until: now() + ms };
    holds.add(one);
    count++;
    return () => drop(one);
  };
  const busy = () => {
    if (count) {
      const time = now();
      holds.forEach((one) => {
        if (one.until < time && holds.delete(one)) count--;
      });
    }
    return turning || count > 0;
  };
  const quiet = () => {
    if (asked && !turning && count === 0) {
      asked = false;
      apply(dispatch, window, [new Signal(SECRET + "idle")]);
    }
  };
  const nothing = () => {};

  // --- causes ---
  const begin = (hops) => ({ until: now() + LIFE_MS, ...hops });
  let base = begin(HOPS.load); // until the document is loaded, everything descends from its loading
  let cause = base;
  let loaded = false;

  const descend = (kind) => {
    if (!cause || cause[kind] < 1 || now() > cause.until) return null;
    const next = { ...cause };
    next[kind]--;
    return next;
  };
  const turns = new MessageChannel();
  const post = MessagePort.prototype.postMessage;
  turns.port1.onmessage = () => {
    turning = false;
    if (loaded) base = null;
    cause = base;
    quiet();
  };
  // Make a cause current for this callback and for the microtasks after it.
  const enter = (next) => {
    cause = next || base;
    if (next && !turning) {
      turning = true;
      apply(post, turns.port2, [0]);
    }
  };

  const replace = (owner, name, handler) => {
    const slot = owner && getOwnPropertyDescriptor(owner, name);
    if (!slot || typeof slot.value !== "function") return;
    const native = slot.value;
    slot.value = new Proxy(native, handler);
    defineProperty(owner, name, slot);
    if (handler.construct) native.prototype.constructor = slot.value;
  };
  const on = (target, names, listener) => {
    for (let i = 0; i < names.length; i++) apply(listen, target, [names[i], listener, { capture: true, passive: true }]);
  };

  // --- input and its echoes ---
  // One input comes as several events in a row (pointerdown, mousedown, focusin): they share a cause.
  const caused = (hops) => {
    let last = null;
    return (event) => {
      if (!event.isTrusted || (turning && cause === last)) return;
      last = begin(hops);
      enter(last);
    };
  };
  on(window, [
    "pointerdown", "pointerup", "pointermove", "pointerover", "pointerout", "mousedown", "mouseup", "mousemove", "mouseover", "mouseout",
    "click", "dblclick", "auxclick", "contextmenu", "wheel", "keydown", "keypress", "keyup", "beforeinput", "input", "change", "submit",
    "select", "focusin", "focusout", "dragstart", "dragover", "drop", "dragend", "copy", "cut", "paste", "toggle",
  ], caused(HOPS.input)); // prettier-ignore
  on(window, ["scroll", "transitionend", "animationend", "popstate", "hashchange"], caused(HOPS.load));
  on(window, ["load"], (event) => {
    if (event.target !== document || loaded) return;
    loaded = true;
    enter(base);
  });

  // Nothing is to come of a call that throws.
  const attempt = (native, self, args, done) => {
    try {
      return apply(native, self, args);
    } catch (error) {
      done();
      throw error;
    }
  };

  // --- timers and frames ---
  const timers = table(Map);
  const schedule = (kind, times) => ({
    apply(native, self, args) {
      const callback = args[0];
      if (typeof callback !== "function") return apply(native, self, args);
      const late = kind === "timer" && args[1] > (cause ? cause.delay : 0);
      const next = late ? null : descend(kind);
      const done = next ? hold() : nothing;
      let left = times;
      args[0] = function () {
        left--;
        enter(left >= 0 ? next : null);
        try {
          return apply(callback, this, arguments);
        } finally {
          if (left <= 0) done();
          if (times === 1) timers.delete(kind + id);
        }
      };
      const id = attempt(native, self, args, done);
      if (next) timers.set(kind + id, done);
      return id;
    },
  });
  const cancel = (kind) => ({
    apply(native, self, args) {
      const done = timers.get(kind + args[0]);
      timers.delete(kind + args[0]);
      if (done) done();
      return apply(native, self, args);
    },
  });
  replace(window, "setTimeout", schedule("timer", 1));
  replace(window, "setInterval", schedule("timer", 6));
  replace(window, "requestAnimationFrame", schedule("frame", 1));
  for (const name of ["clearTimeout", "clearInterval"]) replace(window, name, cancel("timer"));
  replace(window, "cancelAnimationFrame", cancel("frame"));

  // --- promises of the browser ---
  const promised = {
    apply(native, self, args) {
      const next = descend("call");
      const done = next ? hold() : nothing;
      const resume = () => {
        enter(next);
        done();
      };
      const promise = attempt(native, self, args, done);
      apply(then, promise, [resume, resume]); // before the page's own reactions
      return promise;
    },
  };
  replace(window, "fetch", promised);
  replace(window, "createImageBitmap", promised);
  for (const name of ["json", "text", "arrayBuffer", "blob", "formData", "bytes"]) replace(Response.prototype, name, promised);
  replace(ReadableStreamDefaultReader.prototype, "read", promised);
  replace(HTMLImageElement.prototype, "decode", promised);

  // --- requests and sockets: the first listener of each object is ours ---
  const requests = table(WeakMap);
  replace(window, "XMLHttpRequest", {
    construct(native, args, made) {
      const request = construct(native, args, made);
      const record = { cause: null, done: nothing };
      requests.set(request, record);
      on(request, ["readystatechange", "progress", "load", "error", "abort", "timeout", "loadend"], (event) => {
        enter(record.cause);
        if (event.type === "loadend") record.done();
      });
      return request;
    },
  });
  // These dispatch events before they return: what was going on goes on afterwards.
  const within = (prepare) => ({
    apply(native, self, args) {
      const current = cause;
      prepare(self);
      try {
        return apply(native, self, args);
      } finally {
        cause = current;
      }
    },
  });
  replace(XMLHttpRequest.prototype, "open", within(nothing));
  replace(XMLHttpRequest.prototype, "abort", within(nothing));
  replace(XMLHttpRequest.prototype, "send", within((request) => {
    const record = requests.get(request);
    if (record && (record.cause = descend("call"))) record.done = hold();
  }));
  const sockets = table(WeakMap);
  replace(window, "WebSocket", {
    construct(native, args, made) {
      const socket = construct(native, args, made);
      const record = { cause: null, until: 0 };
      sockets.set(socket, record);
      on(socket, ["message"], () => enter(now() < record.until ? record.cause : null));
      return socket;
    },
  });
  replace(WebSocket.prototype, "send", {
    apply(native, self, args) {
      const record = sockets.get(self);
      const next = record && descend("call");
      if (next) {
        record.cause = next;
        record.until = now() + REPLY_MS;
        apply(nativeTimeout, window, [hold(), REPLY_MS]);
      }
      return apply(native, self, args);
    },
  });

  // --- message channels: how frameworks slice their rendering ---
  const peers = table(WeakMap);
  replace(window, "MessageChannel", {
    construct(native, args, made) {
      const channel = construct(native, args, made);
      const ends = [channel.port1, channel.port2];
      for (const index of [0, 1]) {
        const queue = { first: 0, last: 0 };
        peers.set(ends[1 - index], queue);
        on(ends[index], ["message"], () => {
          const sent = queue[queue.first];
          delete queue[queue.first++];
          enter(sent ? sent.next : null);
          if (sent) sent.done();
        });
      }
      return channel;
    },
  });
  replace(MessagePort.prototype, "postMessage", {
    apply(native, self, args) {
      const queue = peers.get(self);
      const next = queue && descend("port");
      if (queue) queue[queue.last++] = next ? { next, done: hold(50) } : null; // a port that was given away never answers
      return apply(native, self, args);
    },
  });
  // The history moves through another process; what follows is a navigation or a popstate.
  for (const name of ["back", "forward", "go"]) {
    replace(History.prototype, name, {
      apply(native, self, args) {
        if (cause) hold(100);
        return apply(native, self, args);
      },
    });
  }

  // __ASKS__

  on(window, [SECRET + "ask"], () => {
    asked = busy();
    if (asked) apply(dispatch, window, [new Signal(SECRET + "busy")]);
  });
})();
