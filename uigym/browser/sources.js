// What work may come from, in pages and in workers: requests, storage, locks, messages. See causes.js.
(tracker) => {
  const { LIFE_MS, scope, apply, construct, getOwnPropertyDescriptor, min, now, later, own, table, nothing, then, span } = tracker;
  const { hold, alive, descend, enter, replace, on, attempt, within, schedule, current, resume, root } = tracker;
  const proto = (name) => scope[name] && scope[name].prototype;
  const NOISE_MS = 500; // a channel is silent if nothing came of itself for so long, and no two messages for thrice as long
  const REPLY_MS = 150; // on one that is not, answers come within this time
  const PATIENCE_MS = 1000; // on a silent one, the first answer comes within this, unless one failed to come
  const PICTURE_MS = 1000; // one that takes longer is known by its end on the network alone
  const LULL_MS = 30; // and further ones follow at most so much later

  // --- correspondence: nothing links what comes from a channel to what was said to it ---
  const letters = (patience) => ({ cause: null, until: 0, last: 0, turn: 0, heard: -Infinity, before: -Infinity, noisy: false, answered: false, done: nothing, patience, full: patience }); // prettier-ignore
  const wait = (record, ms) => {
    const turn = ++record.turn;
    record.until = min(now() + ms, record.last);
    later(() => {
      if (record.turn !== turn) return; // it was prolonged meanwhile
      if (!record.noisy) record.patience = record.answered ? record.full : record.full / 6;
      record.done();
    }, record.until - now());
  };
  // Something was said that may have an answer.
  const say = (record) => {
    const next = descend("call");
    if (!next) return;
    record.done();
    record.cause = next;
    record.answered = false;
    record.last = now() + record.full;
    record.noisy = now() - record.heard < NOISE_MS || now() - record.before < 3 * NOISE_MS;
    record.done = hold(record.full + LULL_MS);
    wait(record, record.noisy ? min(REPLY_MS, record.full) : record.patience);
  };
  // Something came: is it an answer?
  const isAnswer = (record) => {
    if (now() >= record.until) {
      record.before = record.heard;
      record.heard = now();
      return false;
    }
    record.answered = true;
    if (!record.noisy) wait(record, LULL_MS);
    return true;
  };

  // Streams by which a server may tell what a request has changed.
  const streams = own(new Set(), "add", "delete", "forEach");
  const changed = () => streams.forEach(say);
  const isSafe = (method) => method === undefined || method === "GET" || method === "get" || method === "HEAD";

  // --- promises ---
  const promised = (kind, arrive = nothing) => ({
    apply(native, self, args) {
      const next = descend(kind);
      const done = next ? hold(kind === "read" ? next.silence : LIFE_MS) : nothing;
      const promise = attempt(native, self, args, done);
      const go = () => {
        enter(next);
        if (next) arrive(args);
        done();
      };
      apply(then, promise, [go, go]); // before the page's own reactions
      return promise;
    },
  });
  tracker.promised = promised("read");
  replace(scope, "fetch", promised("call", (args) => args[1] && !isSafe(args[1].method) && changed()));
  replace(scope, "createImageBitmap", promised("read"));
  const BODY = ["json", "text", "arrayBuffer", "blob", "formData", "bytes"];
  const KEYS = ["decrypt", "deriveBits", "deriveKey", "digest", "encrypt", "exportKey", "generateKey", "importKey", "sign", "unwrapKey", "verify", "wrapKey"];
  const PROMISES = {
    Request: BODY,
    Response: BODY,
    Blob: BODY,
    ReadableStream: ["pipeTo"],
    ReadableStreamDefaultReader: ["read"],
    ReadableStreamBYOBReader: ["read"],
    SubtleCrypto: KEYS,
    CacheStorage: ["delete", "has", "keys", "match", "open"],
    Cache: ["add", "addAll", "delete", "keys", "match", "matchAll", "put"],
    CookieStore: ["delete", "get", "getAll", "set"],
    StorageManager: ["estimate", "getDirectory", "persist", "persisted"],
    FileSystemDirectoryHandle: ["getDirectoryHandle", "getFileHandle", "removeEntry"],
    FileSystemFileHandle: ["createWritable", "getFile"],
    FileSystemWritableFileStream: ["close", "seek", "truncate", "write"],
    IDBFactory: ["databases"],
    Clipboard: ["read", "readText", "write", "writeText"],
    Permissions: ["query"],
    FontFace: ["load"],
    FontFaceSet: ["load"],
    HTMLImageElement: ["decode"],
    OffscreenCanvas: ["convertToBlob"],
    BaseAudioContext: ["decodeAudioData"],
    ServiceWorkerContainer: ["getRegistration", "getRegistrations", "register"],
    ServiceWorkerRegistration: ["unregister", "update"],
    Scheduler: ["yield"],
    LockManager: ["query"],
  }; // prettier-ignore
  for (const name in PROMISES) for (const method of PROMISES[name]) replace(proto(name), method, promised("read"));
  replace(proto("ServiceWorkerContainer"), "ready", promised("read"), "get");
  for (const method of ["compile", "compileStreaming", "instantiate", "instantiateStreaming"]) replace(scope.WebAssembly, method, promised("read"));
  replace(Reflect.getPrototypeOf(new ReadableStream().values()), "next", promised("read"));
  replace(proto("HTMLCanvasElement"), "toBlob", schedule("blob", () => descend("read")));

  // A task runs as a timer does, and its promise follows it.
  replace(proto("Scheduler"), "postTask", {
    apply(native, self, args) {
      const callback = args[0];
      if (typeof callback !== "function") return apply(native, self, args);
      const delay = span(args[1] && args[1].delay);
      const next = alive() && delay <= current().delay ? descend("timer", delay) : null;
      const done = next ? hold() : nothing;
      args[0] = within(callback, next, nothing);
      const promise = attempt(native, self, args, done);
      const go = () => {
        enter(next);
        done();
      };
      apply(then, promise, [go, go]);
      return promise;
    },
  });
  const Waiting = Promise;
  // A lock may be kept for ever: only its coming is waited for.
  replace(proto("LockManager"), "request", {
    apply(native, self, args) {
      const last = args.length - 1;
      const callback = args[last];
      if (typeof callback !== "function") return apply(native, self, args);
      const next = descend("read");
      const done = next ? hold(500) : nothing;
      let freed = nothing;
      const free = () => (freed = hold(100)); // the lock goes back through another process
      args[last] = within((lock) => {
        const work = callback(lock);
        if (next && work instanceof Waiting) apply(then, work, [free, free]);
        return work;
      }, next, done); // prettier-ignore
      const promise = attempt(native, self, args, done);
      const go = () => {
        enter(next);
        done();
        freed();
      };
      apply(then, promise, [go, go]);
      return promise;
    },
  });

  // --- what reports by events: the first listener of each object is ours ---
  const records = table(WeakMap);
  // These dispatch events before they return: what was going on goes on afterwards.
  const during = (prepare) => ({
    apply(native, self, args) {
      const earlier = current();
      prepare(self, args);
      try {
        return apply(native, self, args);
      } finally {
        resume(earlier);
      }
    },
  });
  const reporter = (name, events, starts, stops) => {
    replace(scope, name, {
      construct(native, args, made) {
        const one = construct(native, args, made);
        const record = { cause: null, done: nothing, method: "GET" };
        records.set(one, record);
        on(one, events, () => enter(record.cause));
        on(one, ["loadend"], () => {
          enter(record.cause);
          if (record.cause && !isSafe(record.method)) changed();
          record.done();
        });
        return one;
      },
    });
    const start = (one) => {
      const record = records.get(one);
      if (!record) return;
      record.done();
      record.cause = descend("call");
      record.done = record.cause ? hold() : nothing;
    };
    for (const method of starts) replace(proto(name), method, during(start));
    for (const method of stops) replace(proto(name), method, during(nothing));
  };
  const PROGRESS = ["loadstart", "progress", "load", "error", "abort", "timeout"];
  reporter("XMLHttpRequest", ["readystatechange", ...PROGRESS], ["send"], ["abort"]);
  reporter("FileReader", PROGRESS, ["readAsArrayBuffer", "readAsBinaryString", "readAsDataURL", "readAsText"], ["abort"]);
  replace(proto("XMLHttpRequest"), "open", during((request, args) => {
    const record = records.get(request);
    if (record && typeof args[0] === "string") record.method = args[0];
  })); // prettier-ignore

  // A picture: the network tells that it has come, or not, a little before the page hears of it.
  const pictures = table(WeakMap);
  const pictured = (image) => {
    const record = pictures.get(image);
    enter(record.cause);
    record.done();
  };
  replace(proto("HTMLImageElement"), "src", {
    apply(native, self, args) {
      const result = apply(native, self, args);
      const next = self.complete || self.loading === "lazy" ? null : descend("read");
      if (!next) return result;
      const known = pictures.get(self);
      if (known) known.done();
      else on(self, ["load", "error"], () => pictured(self));
      pictures.set(self, { cause: next, done: hold(PICTURE_MS) });
      return result;
    },
  }, "set"); // prettier-ignore

  // --- IndexedDB: requests, which a cursor repeats, and transactions ---
  const expect = (thing, ends, others) => {
    const next = descend("read");
    let record = records.get(thing);
    if (!record) {
      record = { cause: null, done: nothing };
      records.set(thing, record);
      on(thing, others, () => enter(record.cause));
      on(thing, ends, () => {
        enter(record.cause);
        record.done();
      });
    }
    record.cause = next;
    record.done = next ? hold() : nothing;
  };
  const answered = (request) => expect(request, ["success", "error"], ["upgradeneeded", "blocked"]);
  const requesting = {
    apply(native, self, args) {
      const request = apply(native, self, args);
      answered(request);
      return request;
    },
  };
  const READS = ["count", "get", "getAll", "getAllKeys", "getAllRecords", "getKey", "openCursor", "openKeyCursor"];
  const REQUESTS = {
    IDBFactory: ["open", "deleteDatabase"],
    IDBObjectStore: [...READS, "add", "put", "delete", "clear"],
    IDBIndex: READS,
    IDBCursor: ["update", "delete"],
  };
  for (const name in REQUESTS) for (const method of REQUESTS[name]) replace(proto(name), method, requesting);
  const requestOf = scope.IDBCursor && getOwnPropertyDescriptor(IDBCursor.prototype, "request").get;
  for (const method of ["advance", "continue", "continuePrimaryKey"]) {
    replace(proto("IDBCursor"), method, {
      apply(native, self, args) {
        apply(native, self, args);
        answered(apply(requestOf, self, []));
      },
    });
  }
  replace(proto("IDBDatabase"), "transaction", {
    apply(native, self, args) {
      const transaction = apply(native, self, args);
      expect(transaction, ["complete", "abort"], []);
      return transaction;
    },
  });

  // --- sockets and server-sent events ---
  const hearers = table(WeakMap);
  const GREETING_MS = 80; // what a server has to say at once, when a connection is made
  const stream = (name, begun) =>
    replace(scope, name, {
      construct(native, args, made) {
        const one = construct(native, args, made);
        const record = { greeting: letters(GREETING_MS), said: letters(PATIENCE_MS), told: letters(2 * REPLY_MS) };
        records.set(one, record);
        const heard = () => enter(isAnswer(record.said) ? record.said.cause : isAnswer(record.told) ? record.told.cause : isAnswer(record.greeting) ? record.greeting.cause : null); // prettier-ignore
        hearers.set(one, heard);
        const next = descend("call");
        const done = next ? hold(PATIENCE_MS) : nothing;
        on(one, ["open"], () => {
          enter(next);
          streams.add(record.told);
          say(record.greeting);
          done();
        });
        on(one, ["message"], heard);
        on(one, ["close", "error"], () => {
          enter(next);
          streams.delete(record.told);
          done();
        });
        begun();
        return one;
      },
    });
  // Server-sent events have names of the page's own.
  let named = false;
  const listenToNames = () => {
    if (named) return;
    named = true;
    replace(EventTarget.prototype, "addEventListener", {
      apply(native, self, args) {
        const heard = hearers.get(self);
        if (heard && typeof args[0] === "string" && args[0] !== "open" && args[0] !== "error") on(self, [args[0]], heard);
        return apply(native, self, args);
      },
    });
  };
  stream("WebSocket", nothing);
  stream("EventSource", listenToNames);
  replace(proto("WebSocket"), "send", during((socket) => records.get(socket) && say(records.get(socket).said)));
  replace(proto("EventSource"), "close", during((source) => records.get(source) && streams.delete(records.get(source).told)));

  // --- messages: how frameworks slice their rendering ---
  const MESSAGE_MS = 50; // a port that was given away never answers
  const peers = table(WeakMap);
  const take = (queue) => {
    if (queue.first === queue.last) return { next: root, done: nothing }; // the other end was given away
    const sent = queue[queue.first];
    delete queue[queue.first++];
    return sent;
  };
  replace(scope, "MessageChannel", {
    construct(native, args, made) {
      const channel = construct(native, args, made);
      const ends = [channel.port1, channel.port2];
      for (let i = 0; i < 2; i++) {
        const queue = { first: 0, last: 0 };
        peers.set(ends[1 - i], queue);
        on(ends[i], ["message"], () => {
          const sent = take(queue);
          enter(sent ? sent.next : null);
          if (sent) sent.done();
        });
      }
      return channel;
    },
  });
  const correspond = (one, patience) => {
    const record = letters(patience);
    records.set(one, record);
    on(one, ["message"], () => enter(isAnswer(record) ? record.cause : root));
    return record;
  };
  const speak = during((one) => records.get(one) && say(records.get(one)));
  replace(proto("MessagePort"), "postMessage", {
    apply(native, self, args) {
      const queue = peers.get(self);
      if (queue) {
        const next = descend("port");
        queue[queue.last++] = next ? { next, done: hold(MESSAGE_MS) } : null;
      } else if (alive()) say(records.get(self) || correspond(self, MESSAGE_MS));
      return apply(native, self, args);
    },
  });
  const companion = (name, target, patience) =>
    replace(scope, name, {
      construct(native, args, made) {
        const one = construct(native, args, made);
        correspond(target(one), patience);
        return one;
      },
    });
  companion("SharedWorker", (worker) => worker.port, PATIENCE_MS);
  companion("BroadcastChannel", (channel) => channel, MESSAGE_MS);
  replace(proto("BroadcastChannel"), "postMessage", speak);
  const container = scope.navigator && navigator.serviceWorker;
  const answers = container && correspond(container, PATIENCE_MS);
  if (answers) replace(proto("ServiceWorker"), "postMessage", during(() => say(answers)));

  // --- a worker: says itself what it is still at, so that only its start needs a hold ---
  replace(scope, "Worker", {
    construct(native, args, made) {
      const worker = construct(native, args, made);
      const record = { cause: null };
      records.set(worker, record);
      const done = descend("call") ? hold(REPLY_MS) : nothing; // until it is there to be asked
      on(worker, ["message", "error"], () => {
        enter(record.cause);
        done();
      });
      return worker;
    },
  });
  replace(proto("Worker"), "postMessage", during((worker) => {
    const next = descend("port");
    const record = records.get(worker);
    if (next && record) record.cause = next;
  })); // prettier-ignore
}
