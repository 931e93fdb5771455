// What a browser's own window does beside the page, and a headless one does not: tooltips, keys that are the browser's.
// Runs in our world, which the page cannot see.
(() => {
  let pressed;
  addEventListener(
    "keydown",
    (event) => {
      if (event.isTrusted) pressed = event;
    },
    true,
  );

  // Whether the last key came to this frame, and the page did not keep it for itself.
  globalThis.leftKey = () => {
    const key = pressed;
    pressed = undefined;
    return key !== undefined && !key.defaultPrevented;
  };

  let dragging;
  addEventListener("dragstart", (event) => (dragging = event), true);
  addEventListener("dragend", () => (dragging = undefined), true);
  // Whether a drag and drop has begun in this frame and goes on.
  globalThis.carried = () => dragging !== undefined && !dragging.defaultPrevented;

  const last = (root) => [...root.querySelectorAll(":hover:not(_)")].at(-1); // with a bare :hover only links match in quirks mode
  const hovered = () => {
    let element = last(document);
    for (let inner = element; inner; inner = element.shadowRoot && last(element.shadowRoot)) element = inner;
    return element;
  };
  const title = (element) =>
    element instanceof SVGElement ? element.querySelector(":scope > title")?.textContent : element.getAttribute("title");

  // The title under the pointer; empty if there is none in this frame.
  globalThis.tooltip = () => {
    for (let element = hovered(); element && !element.matches("iframe"); element = element.parentElement ?? element.getRootNode().host) {
      const text = title(element);
      if (text != null) return text.trim();
    }
    return "";
  };
})();
