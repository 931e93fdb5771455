// What this origin keeps in the browser, as rows of text.
(async () => {
  const MAX_ROWS = 10_000;
  const plain = (key, value) => {
    if (value instanceof Date) return value.toISOString();
    if (value instanceof Map) return [...value];
    if (value instanceof Set) return [...value];
    if (value instanceof Blob) return { type: value.type, size: value.size };
    if (value instanceof ArrayBuffer) return [...new Uint8Array(value)];
    if (ArrayBuffer.isView(value)) return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
    return typeof value === "bigint" || value === undefined ? String(value) : value;
  };
  const text = (value) => {
    try {
      return JSON.stringify(value, plain) ?? "null";
    } catch {
      return String(value); // it contains itself
    }
  };
  const done = (request) =>
    new Promise((good, bad) => {
      request.onsuccess = () => good(request.result);
      request.onerror = () => bad(request.error);
      request.onupgradeneeded = () => request.transaction.abort(); // it has gone meanwhile: do not make it anew
    });
  const area = (storage) => Object.keys(storage).sort().map((key) => [key, storage.getItem(key)]);
  const rows = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name)).catch(() => null);
    if (!database) continue;
    for (const store of database.objectStoreNames) {
      const found = database.transaction(store).objectStore(store);
      const [keys, values] = await Promise.all([done(found.getAllKeys(null, MAX_ROWS)), done(found.getAll(null, MAX_ROWS))]);
      keys.forEach((key, at) => rows.push([name, store, text(key), text(values[at])]));
    }
    database.close();
  }
  return { local: area(localStorage), session: area(sessionStorage), databases: rows };
})();
