// Every text of this page that no person sees, by where it is; and what a person does see.
() => {
  const hidden = [], seen = [];
  const note = (place, text) => { if (text && text.trim()) hidden.push([place, String(text).slice(0, 20000)]); };
  const roots = [document];
  for (const root of roots) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_COMMENT);
    for (let node = walker.currentNode; node; node = walker.nextNode()) {
      if (node.nodeType === Node.COMMENT_NODE) { note("a comment", node.data); continue; }
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      if (node.shadowRoot) roots.push(node.shadowRoot);
      const name = node.localName;
      if (name === "script" || name === "template" || name === "noscript") { note(`a <${name}>`, name === "template" ? node.innerHTML : node.textContent); continue; }
      if (name === "meta") { note("a <meta>", node.content); continue; }
      if (name === "input" && node.type === "hidden") note(`the hidden field ${node.name || node.id || "without a name"}`, node.value);
      else if (name === "input" || name === "textarea") seen.push(node.value, node.placeholder);
      for (const attribute of node.attributes) if (attribute.name.startsWith("data-")) note(`the attribute ${attribute.name}`, attribute.value);
      const own = [...node.childNodes].filter(child => child.nodeType === Node.TEXT_NODE).map(child => child.data).join(" ").trim();
      const drawn = node.checkVisibility ? node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) : true;
      if (own && !drawn && name !== "style" && name !== "option") note("text that is not drawn", own);
    }
  }
  for (const [kind, store] of [["localStorage", () => localStorage], ["sessionStorage", () => sessionStorage]]) {
    try { for (const [key, value] of Object.entries(store())) note(`${kind}.${key}`, value); } catch { /* this page has none */ }
  }
  const bodies = performance.getEntriesByType("resource").map(entry => entry.name).filter(url => url.startsWith(location.origin));
  return { hidden, seen: [document.title, document.body ? document.body.innerText : "", ...seen].join("\n"), urls: [location.href, ...bodies] };
}
