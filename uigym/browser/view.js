// What a person reads in this frame, line by line: text that is drawn, in shadow trees too, and not what fields hold.
(() => {
  const OMITTED = /^(script|style|noscript|template|textarea|select|option|datalist|iframe|object|embed|canvas|video|audio|title)$/;
  const isDrawn = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const lines = [""];
  const add = (text) => (lines[lines.length - 1] += text);
  const breakLine = () => lines[lines.length - 1] && lines.push("");
  const flat = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    const assigned = node.localName === "slot" ? node.assignedNodes({ flatten: true }) : [];
    return assigned.length ? assigned : node.childNodes;
  };
  const walk = (node, style) => {
    if (node.nodeType === Node.TEXT_NODE) {
      if (style.visibility !== "visible") return;
      if (!/^pre/.test(style.whiteSpaceCollapse ?? style.whiteSpace)) return add(node.data.replace(/\s+/g, " "));
      const [first, ...rest] = node.data.split("\n");
      add(first);
      for (const line of rest) lines.push(line);
    } else if (node.nodeType === Node.ELEMENT_NODE) {
      if (node.localName === "br") return void lines.push("");
      if (OMITTED.test(node.localName)) return;
      const own = getComputedStyle(node);
      const isBox = own.display !== "contents";
      if (own.display === "none" || own.opacity === "0" || (isBox && !node.checkVisibility({ opacityProperty: true }))) return;
      const isBlock = isBox && !/^(inline|ruby|table-cell)/.test(own.display);
      if (isBlock) breakLine();
      for (const child of flat(node)) walk(child, own);
      if (isBlock) breakLine();
      else if (own.display === "table-cell") add("\t");
      else if (/^inline-/.test(own.display)) add(" ");
    }
  };
  let owner = null;
  try {
    owner = window.frameElement;
  } catch {} // of another origin
  const shown = innerWidth > 0 && innerHeight > 0 && (!owner || isDrawn(owner));
  if (shown && document.body) walk(document.body, getComputedStyle(document.body));
  const text = lines.map((line) => line.replace(/ *\t */g, "\t").replace(/ {2,}/g, " ").trim()).join("\n");
  return { shown, url: location.href, title: document.title, text: text.replace(/\n{2,}/g, "\n").trim() };
})();
