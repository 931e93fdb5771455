// Under a clock that stands still, what moves for ever stands still, too: a spinner is drawn a quarter of a turn on,
// where little that blinks or fades is out of sight. Runs in our own world; settle.js calls it before a picture.
// Out of reach: closed shadow trees, GIFs, videos, and what a page draws by itself from the time of a frame.
(() => {
  const SVG_S = 60; // where drawings that move by themselves stand

  const hold = (animation) => {
    if (animation.playState !== "running" || animation.timeline !== document.timeline) return;
    const { delay, duration, endTime } = animation.effect.getComputedTiming();
    if (endTime !== Infinity || !(duration > 0)) return;
    animation.pause();
    animation.currentTime = delay + duration / 4;
  };
  const freeze = (svg) => {
    if (svg.ownerSVGElement || svg.animationsPaused()) return;
    svg.pauseAnimations();
    svg.setCurrentTime(SVG_S);
  };
  const visit = (tree) => {
    tree.getAnimations().forEach(hold);
    tree.querySelectorAll("svg").forEach(freeze);
    for (const element of tree.querySelectorAll("*")) if (element.shadowRoot) visit(element.shadowRoot);
  };

  globalThis.still = () => visit(document);
})();
