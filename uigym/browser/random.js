// Makes randomness a function of the seed and of where the document stands. Runs in the page's own world before its
// scripts. The secret keys that crypto.subtle makes stay secret: no picture shows them.
(() => {
  const { apply, defineProperty, getOwnPropertyDescriptor } = Reflect;
  const { imul } = Math;
  const Bytes = Uint8Array;

  // A 32-bit mixing generator: its start comes from words, so that frames and documents differ.
  const generator = (...words) => {
    let state = 2166136261;
    for (const unit of words.join("|")) state = imul(state ^ unit.codePointAt(0), 16777619);
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
      return (mixed ^ (mixed >>> 14)) >>> 0;
    };
  };
  const replace = (owner, name, handler) => {
    const slot = getOwnPropertyDescriptor(owner, name);
    if (!slot) return; // randomUUID is there on safe origins alone
    slot.value = new Proxy(slot.value, handler);
    defineProperty(owner, name, slot);
  };

  const next = generator(__SEED__, location.pathname);
  replace(Math, "random", { apply: () => next() / 4294967296 });

  // Products keep these as names of records: a page that is opened again must not give the same ones again.
  const visit = performance.getEntriesByType("navigation")[0]?.type;
  const unique = generator(__SEED__, location.pathname + location.search, history.length, visit);
  const fill = (bytes) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = unique() >>> 24;
    return bytes;
  };
  replace(Crypto.prototype, "getRandomValues", {
    apply(native, self, args) {
      const array = apply(native, self, args); // refuses what has to be refused
      fill(new Bytes(array.buffer, array.byteOffset, array.byteLength));
      return array;
    },
  });
  replace(Crypto.prototype, "randomUUID", {
    apply() {
      const bytes = fill(new Bytes(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      let text = "";
      for (let i = 0; i < 16; i++) text += (i === 4 || i === 6 || i === 8 || i === 10 ? "-" : "") + (256 + bytes[i]).toString(16).slice(1);
      return text;
    },
  });
})();
