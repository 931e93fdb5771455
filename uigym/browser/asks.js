// What the page asks of the person or of the machine, beside the picture. Each word of it goes to
// beside.js, in its own world, by an event with a secret name; objects without a prototype, so that the page's own
// changes to Object.prototype never see them.
(tracker, secret) => {
  const { apply, then, getOwnPropertyDescriptor, table, nothing, later, descend, enter, hold, attempt, replace, always, promised } = tracker;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const Signal = CustomEvent;
  const { stringify, parse } = JSON;
  const detail_of = getOwnPropertyDescriptor(Signal.prototype, "detail").get;
  const say = (kind, word) => {
    const detail = stringify({ __proto__: null, kind, word });
    apply(dispatch, window, [new Signal(secret + "say", { __proto__: null, detail })]);
  };

  // --- permissions, and choosers of devices ---
  const decided = (name, given) => say("permission", `${name}: ${given ? "granted" : "denied"}`);
  const refused = (answer) => answer === false || answer === "denied" || answer?.length === 0;
  const asking = (name) => ({
    apply(native, self, args) {
      const promise = promised.apply(native, self, args);
      apply(then, promise, [(answer) => decided(name, !refused(answer)), () => decided(name, false)]);
      return promise;
    },
  });
  const asks = [
    [self.Notification, "requestPermission", "notifications"],
    [self.MediaDevices?.prototype, "getUserMedia", "camera or microphone"],
    [self.MediaDevices?.prototype, "getDisplayMedia", "screen"],
    [self.StorageManager?.prototype, "persist", "persistent storage"],
    [self.Navigator?.prototype, "requestMIDIAccess", "midi"],
    [self.Bluetooth?.prototype, "requestDevice", "bluetooth"],
    [self.USB?.prototype, "requestDevice", "usb"],
    [self.HID?.prototype, "requestDevice", "hid"],
    [self.Serial?.prototype, "requestPort", "serial"],
    [self.IdleDetector, "requestPermission", "idle detection"],
    [self.WakeLock?.prototype, "request", "wake lock"],
    [window, "getScreenDetails", "window management"],
  ];
  for (let i = 0; i < asks.length; i++) replace(asks[i][0], asks[i][1], asking(asks[i][2]));

  const locating = {
    apply(native, self, args) {
      const next = descend("call");
      const done = next ? hold() : nothing;
      let told = false;
      const answered = (callback, given) =>
        typeof callback !== "function" ? callback : function () {
          enter(next);
          done();
          if (!told) decided("geolocation", given);
          told = true;
          return apply(callback, this, arguments);
        };
      const failed = args[1] ?? nothing;
      return attempt(native, self, [answered(args[0], true), answered(failed, false), args[2]], done);
    },
  };
  replace(self.Geolocation?.prototype, "getCurrentPosition", locating);
  replace(self.Geolocation?.prototype, "watchPosition", locating);

  // --- the pointer is never locked: headless Chromium then answers neither mouse nor pictures for seconds ---
  const { DOMException: Refusal, Event: Plain, Promise: Later } = window;
  replace(Element.prototype, "requestPointerLock", {
    apply() {
      decided("pointer lock", false);
      later(() => apply(dispatch, document, [new Plain("pointerlockerror", { __proto__: null, bubbles: true })]), 0);
      return new Later((_, fail) => fail(new Refusal("The pointer was not locked.", "NotAllowedError")));
    },
  });

  // --- printing ---
  replace(window, "print", {
    apply(native, self, args) {
      say("print", "");
      return apply(native, self, args);
    },
  });

  // --- downloads: beside.js sees the links of the document; one that is nowhere is clicked by a script alone ---
  const connected = getOwnPropertyDescriptor(Node.prototype, "isConnected").get;
  const has = Element.prototype.hasAttribute;
  const Link = HTMLAnchorElement;
  replace(HTMLElement.prototype, "click", {
    apply(native, self, args) {
      if (self instanceof Link && apply(has, self, ["download"]) && !apply(connected, self, [])) say("saving", "");
      return apply(native, self, args);
    },
  });

  // --- the clipboard: the session's own, for the machine's is shared with other sessions ---
  replace(DataTransfer.prototype, "setData", {
    apply(native, self, args) {
      const result = apply(native, self, args);
      say("set", { __proto__: null, [`${args[0]}`]: `${args[1]}` });
      return result;
    },
  });
  const own_clipboard = () => {
    const { Blob, ClipboardItem, Clipboard, DOMException, Promise } = window;
    const activation = navigator.userActivation;
    const is_active = getOwnPropertyDescriptor(UserActivation.prototype, "isActive").get;
    const types_of = getOwnPropertyDescriptor(ClipboardItem.prototype, "types").get;
    const { getType } = ClipboardItem.prototype;
    const { text } = Blob.prototype;
    const is_text = (type) => type === "text/plain" || type === "text/html";
    const waiting = table(Map);
    let number = 0;
    always(window, [secret + "given"], (event) => {
      const { id, content } = parse(apply(detail_of, event, []));
      waiting.get(id)(content);
      waiting.delete(id);
    });
    const refusal = (what) => new DOMException(`${what} permission denied.`, "NotAllowedError");
    const ask = () =>
      new Promise((go, fail) => {
        number++;
        waiting.set(number, (content) => (content ? go(content) : fail(refusal("Read"))));
        say("read", number);
      });
    const keep = (content) => {
      if (!apply(is_active, activation, [])) throw refusal("Write");
      say("copied", content);
    };
    const instead = (act) => ({ apply: (native, self, args) => promised.apply(act, self, args) });
    const { prototype } = Clipboard;
    replace(prototype, "writeText", instead(async (what) => keep({ __proto__: null, "text/plain": `${what}` })));
    replace(prototype, "write", instead(async (items) => {
      const content = { __proto__: null };
      for (const item of items)
        for (const type of apply(types_of, item, [])) {
          if (!is_text(type)) throw refusal("Write");
          content[type] = await apply(text, await apply(getType, item, [type]), []);
        }
      keep(content);
    }));
    replace(prototype, "readText", instead(async () => (await ask())["text/plain"] ?? ""));
    replace(prototype, "read", instead(async () => {
      const content = await ask();
      const blobs = {};
      for (const type in content) blobs[type] = new Blob([content[type]], { type });
      return content["text/plain"] || content["text/html"] ? [new ClipboardItem(blobs)] : [];
    }));
  };
  if (self.Clipboard && self.ClipboardItem) own_clipboard();
}
