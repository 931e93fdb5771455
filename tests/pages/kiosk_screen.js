// What is wrong with the screen that is shown: text cut off or on top of other text, buttons that overlap or are too small,
// letters too small or too faint to read. Returns sentences; none means that the screen is fine.
() => {
  const problems = [];
  const top = document.querySelector(".sheet") || document.querySelector(".screen");
  const seen = (element) => element.getClientRects().length > 0;
  const name = (element) => `${element.tagName.toLowerCase()}.${element.className} "${element.textContent.trim().replace(/\s+/g, " ")}"`;
  const taps = [...top.querySelectorAll("a, button, label, input[type=text]")].filter(seen);

  // Colours: the nearest painted background behind an element.
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (element) => {
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(behind(element))].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };

  const pieces = [];
  const walk = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, element = node.parentElement;
    if (!node.textContent.trim() || !seen(element)) continue;
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (size < 13) problems.push(`${name(element)} is ${size} px small`);
    if (contrast(element) < 4.5) problems.push(`${name(element)} has a contrast of ${contrast(element).toFixed(1)}`);
    const box = (element.closest("a, button, label, .row, .sheet, aside, header, footer, main") || top).getBoundingClientRect();
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      const middle = (line.top + line.bottom) / 2;
      const ink = { left: line.left, right: line.right, top: middle - size * 0.4, bottom: middle + size * 0.4 };
      const out = Math.max(box.left - ink.left, ink.right - box.right, box.top - ink.top, ink.bottom - box.bottom, -ink.left, ink.right - innerWidth, ink.bottom - innerHeight);
      if (out > 0.5) problems.push(`${name(element)} is cut off by ${out.toFixed(1)} px`);
      pieces.push({ ...ink, element });
    }
  }
  const overlap = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const pairs = (list, what, limit, box) => {
    for (let i = 0; i < list.length; i++)
      for (let j = i + 1; j < list.length; j++) {
        const by = overlap(box(list[i]), box(list[j]));
        if (by > limit) problems.push(`${what} overlap by ${by.toFixed(1)} px: ${name(list[i].element || list[i])}, ${name(list[j].element || list[j])}`);
      }
  };
  pairs(pieces, "texts", 0.5, (piece) => piece);
  const nested = (a, b) => a.contains(b) || b.contains(a);
  pairs(taps.filter((tap) => !taps.some((other) => other !== tap && nested(tap, other))), "buttons", 0.5, (tap) => tap.getBoundingClientRect());
  for (const tap of taps) {
    const box = tap.getBoundingClientRect();
    if (box.height < 25.9 || box.width < 25.9) problems.push(`${name(tap)} is only ${box.width.toFixed(0)} x ${box.height.toFixed(0)} px`);
    if (box.left < 0 || box.top < 0 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) problems.push(`${name(tap)} is outside the screen`);
  }
  return problems;
}
