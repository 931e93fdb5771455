// Tells what the page asks for beside the picture, and keeps the session's clipboard apart from the machine's. Runs in
// the world of settle.js, before the page's scripts: the listeners here come first, and the page cannot see them.
(() => {
  const SECRET = "__SECRET__";
  const MAX_CHARACTERS = 1_000_000;
  const TYPES = ["text/plain", "text/html"];
  const tell = (kind, word) => globalThis.besideBinding?.(JSON.stringify({ kind, word }));
  const silence = (event) => {
    event.stopImmediatePropagation();
    event.preventDefault();
  };

  let set = {}; // what the page has put into the event of the current copy
  addEventListener(SECRET + "say", (event) => {
    const { kind, word } = JSON.parse(event.detail);
    if (kind === "set") Object.assign(set, word);
    else if (kind === "copied") copied(word);
    else tell(kind, word);
  });

  // --- download links ---
  addEventListener("click", (event) => {
    const link = event.composedPath().find((node) => node.localName === "a" && node.hasAttribute("download") && node.href);
    if (link) queueMicrotask(() => event.defaultPrevented || tell("saving", ""));
  });

  // --- copying: the machine's clipboard gets it as ever, the session remembers it ---
  const copied = (content) => {
    const kept = {};
    for (const type of TYPES) if (content[type]) kept[type] = content[type].slice(0, MAX_CHARACTERS);
    if (Object.keys(kept).length) tell("copied", kept);
  };
  const focused = () => {
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    return element;
  };
  const selected = () => {
    const field = focused();
    if (/^(input|textarea)$/.test(field?.localName) && field.selectionStart !== null)
      return { "text/plain": field.value.slice(field.selectionStart, field.selectionEnd) };
    const selection = getSelection();
    const html = selection.rangeCount && !selection.isCollapsed ? markup(selection.getRangeAt(0)) : "";
    return { "text/plain": selection.toString(), "text/html": html };
  };
  // Cloned into a document where images do not load and custom elements do not wake.
  const markup = (range) => {
    let root = range.commonAncestorContainer;
    while (root.nodeType !== Node.ELEMENT_NODE || (getComputedStyle(root).display === "inline" && root.parentElement)) root = root.parentElement;
    const inert = document.implementation.createHTMLDocument("");
    const copy = inert.importNode(root, true);
    const twin = (node) => {
      if (node === root) return copy;
      return twin(node.parentNode).childNodes[[...node.parentNode.childNodes].indexOf(node)];
    };
    const part = inert.createRange();
    part.setStart(twin(range.startContainer), range.startOffset);
    part.setEnd(twin(range.endContainer), range.endOffset);
    const box = inert.createElement("div");
    box.append(part.cloneContents());
    for (let at = part.commonAncestorContainer; at !== copy; at = at.parentNode) {
      if (at.nodeType !== Node.ELEMENT_NODE) continue; // the formatting around the selection comes with it
      const around = at.cloneNode(false);
      around.append(...box.childNodes);
      box.append(around);
    }
    return box.innerHTML;
  };

  let giving = null; // what goes onto the machine's clipboard just now
  const last = (event) => {
    heard = null;
    copied(event.defaultPrevented ? Object.fromEntries(TYPES.map((type) => [type, event.clipboardData.getData(type)])) : selected());
  };
  let heard = null; // a copy whose last listener has not been reached: the page may have stopped it on its way
  const first = (event) => {
    if (giving) {
      silence(event);
      if (event.clipboardData) for (const type in giving) event.clipboardData.setData(type, giving[type]);
    } else if (event.isTrusted && event.type !== "beforecopy") {
      set = {};
      heard = event;
      const before = selected();
      removeEventListener(event.type, last);
      addEventListener(event.type, last); // behind all of the page's
      setTimeout(() => {
        if (heard === event) copied(event.defaultPrevented ? set : before);
      });
    }
  };
  for (const type of ["beforecopy", "copy", "cut"]) addEventListener(type, first, true);

  // --- pasting: only what this session has copied, whatever the machine's clipboards hold ---
  let expected = null;
  let spoilt = false; // something else was to be pasted, and was not
  const plain = (text) => (text ?? "").replace(/\r\n?/g, "\n");
  const fits = (data) => {
    const html = data.getData("text/html");
    return plain(data.getData("text/plain")) === plain(expected["text/plain"]) && (!html || html === expected["text/html"]) && !data.files.length;
  };
  addEventListener("paste", (event) => {
    if (!event.isTrusted || (expected && fits(event.clipboardData))) return;
    silence(event);
    spoilt = true;
  }, true);
  globalThis.expectPaste = (content) => {
    expected = content;
    spoilt = false;
  };
  globalThis.pasteSpoilt = () => spoilt;
  globalThis.giveClipboard = (content) => {
    giving = content;
    document.execCommand("copy");
    giving = null;
  };
  globalThis.answerRead = (id, content) => {
    dispatchEvent(new CustomEvent(SECRET + "given", { detail: JSON.stringify({ id, content }) }));
  };

  // --- full screen, which Escape leaves ---
  globalThis.leaveFullscreen = () => {
    const full = !!document.fullscreenElement;
    if (full) document.exitFullscreen();
    return full;
  };
})();
