// Where a person would put the pointer on an element, or how far to turn the wheel first.
// Runs on the element; returns {kind: "point" | "scroll" | "hidden" | "covered", ...} in CSS px of its own frame.
(element, wanted) => {
  const parentOf = (node) => {
    if (node.assignedSlot) return node.assignedSlot;
    if (node.parentElement) return node.parentElement;
    const root = node.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  };
  const within = (node, other) => {
    for (let n = node; n; n = parentOf(n)) if (n === other) return true;
    return false;
  };
  const at = (x, y) => {
    let found = document.elementFromPoint(x, y);
    while (found && found.shadowRoot) {
      const inner = found.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === found) break;
      found = inner;
    }
    return found;
  };
  const labels = [...(element.labels || [])];
  const hits = (x, y) => {
    const found = at(x, y);
    return !!found && (within(found, element) || labels.some((label) => within(found, label)));
  };
  const named = (node) => {
    const classes = typeof node.className === "string" && node.className.trim() ? "." + node.className.trim().split(/\s+/).join(".") : "";
    return node.tagName.toLowerCase() + (node.id ? "#" + node.id : "") + classes;
  };
  const inView = (x, y) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
  const largest = (node) =>
    [...node.getClientRects()].sort((a, b) => b.width * b.height - a.width * a.height)[0] || node.getBoundingClientRect();
  const shown = (node) => node.checkVisibility({ visibilityProperty: true }) && largest(node).width > 0 && largest(node).height > 0;

  // A control that is styled away (a 1 px or transparent check box) is worked through its label, as people do.
  const tiny = (box) => box.width < 3 || box.height < 3;
  let target = element;
  if (!shown(element) || tiny(largest(element))) target = labels.find(shown) || element;
  if (!shown(target)) return { kind: "hidden" };

  const rect = largest(target);
  const point = wanted ? [rect.left + wanted.x, rect.top + wanted.y] : [rect.left + rect.width / 2, rect.top + rect.height / 2];
  const origin = element.getBoundingClientRect();
  const result = (kind, more) => ({ kind, framed: window !== window.top, left: origin.left, top: origin.top, ...more });
  if (inView(...point) && hits(...point)) return result("point", { x: point[0], y: point[1] });

  const root = document.scrollingElement || document.documentElement;
  const room = (node, axis, sign) => {
    const [size, client, offset] = axis === "y" ? [node.scrollHeight, node.clientHeight, node.scrollTop] : [node.scrollWidth, node.clientWidth, node.scrollLeft];
    return sign > 0 ? size - client - offset : offset;
  };
  const scrolls = (node, axis) => {
    const style = getComputedStyle(node);
    const value = axis === "y" ? style.overflowY : style.overflowX;
    return node === root ? value !== "hidden" : value === "auto" || value === "scroll";
  };
  const boxOf = (node) => {
    const box = node === root ? { left: 0, top: 0, right: innerWidth, bottom: innerHeight } : node.getBoundingClientRect();
    return { left: Math.max(0, box.left), top: Math.max(0, box.top), right: Math.min(innerWidth, box.right), bottom: Math.min(innerHeight, box.bottom) };
  };
  const grid = (box, visit) => {
    const found = [];
    for (let i = 0; i < 9; i++)
      for (let j = 0; j < 9; j++) {
        const p = [box.left + ((i + 0.5) / 9) * (box.right - box.left), box.top + ((j + 0.5) / 9) * (box.bottom - box.top)];
        if (inView(...p) && visit(...p)) found.push(p);
      }
    return found;
  };
  const nearest = (points, x, y) =>
    points.sort((a, b) => Math.hypot(a[0] - x, a[1] - y) - Math.hypot(b[0] - x, b[1] - y))[0];

  // How the wheel would bring a point to the middle of a scroller; `far` only if it is outside of it now.
  const turn = (node, goal, far) => {
    const box = boxOf(node);
    if (box.right - box.left < 4 || box.bottom - box.top < 4) return null;
    for (const axis of ["y", "x"]) {
      const [low, high, value] = axis === "y" ? [box.top, box.bottom, goal[1]] : [box.left, box.right, goal[0]];
      const delta = value - (low + high) / 2;
      const sign = Math.sign(delta);
      if ((far && value >= low && value < high) || Math.abs(delta) < 4 || !scrolls(node, axis)) continue;
      const distance = Math.min(Math.abs(delta), room(node, axis, sign));
      if (distance < 1) continue;
      const takes = (x, y) => {
        for (let n = at(x, y); n; n = parentOf(n)) if (scrolls(n, axis) && room(n, axis, sign) >= 1) return n === node;
        return node === root;
      };
      const middle = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      const [x, y] = nearest(grid(box, takes), ...middle) || middle;
      return result("scroll", { x, y, dx: axis === "x" ? sign * distance : 0, dy: axis === "y" ? sign * distance : 0, at: goal[axis === "y" ? 1 : 0] });
    }
    return null;
  };
  const scrollers = [];
  for (let n = parentOf(target); n; n = parentOf(n)) if (n !== root && n !== document.body) scrollers.push(n);
  scrollers.push(root);
  // From the innermost out: what an outer one must show is the inner one, where the point is out of that one's sight.
  const moves = (far) => {
    let goal = point;
    for (const node of scrollers) {
      const move = turn(node, goal, far);
      if (move) return move;
      const box = node.getBoundingClientRect();
      if (node !== root && (scrolls(node, "x") || scrolls(node, "y")))
        goal = [Math.min(Math.max(goal[0], box.left), box.right), Math.min(Math.max(goal[1], box.top), box.bottom)];
    }
    return null;
  };
  const move = moves(true);
  if (move) return move;
  if (!wanted) {
    const seen = grid(rect, hits);
    if (seen.length) {
      const mean = (axis) => seen.reduce((sum, p) => sum + p[axis], 0) / seen.length;
      const [x, y] = nearest(seen, mean(0), mean(1));
      return result("point", { x, y });
    }
  }
  const aside = moves(false); // from under a sticky header, say
  if (aside) return aside;
  const above = inView(...point) ? at(...point) : null;
  return result("covered", { by: above ? named(above) : "the edge of the viewport" });
}
