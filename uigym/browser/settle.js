// Waits until what an input caused is over and drawn. Runs in a world of its own, which the page cannot see;
// causes.js, in the page's world, says whether any work is still to come.
(() => {
  const SECRET = "__SECRET__";
  const FINISH_MS = 1000; // animations up to this length are brought to their end; longer ones play on
  const LIFE_MS = 3000;

  let busy = false;
  let wake = () => {};
  addEventListener(SECRET + "busy", () => {
    busy = true;
  });
  addEventListener(SECRET + "idle", () => wake());
  const working = () => {
    busy = false;
    dispatchEvent(new CustomEvent(SECRET + "ask"));
    return busy;
  };
  const pause = (ms) =>
    new Promise((go) => {
      wake = go;
      setTimeout(go, ms);
    });
  const turn = () =>
    new Promise((go) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        go();
      };
      port2.postMessage(0);
    });
  // A hidden page draws no frames: do not wait for one for ever.
  const frame = () =>
    new Promise((go) => {
      requestAnimationFrame(go);
      setTimeout(go, 100);
    });

  const finish = () => {
    let finished = 0;
    for (const animation of document.getAnimations()) {
      if (animation.playState !== "running" || animation.timeline !== document.timeline || animation.playbackRate <= 0) continue;
      const end = animation.effect?.getComputedTiming().endTime;
      if (end > 0 && end <= FINISH_MS) {
        animation.finish();
        finished++;
      }
    }
    return finished > 0;
  };

  const seen = new WeakMap();
  const young = (thing) => {
    if (!seen.has(thing)) seen.set(thing, document.readyState === "complete" ? performance.now() : 0);
    return performance.now() - seen.get(thing) < LIFE_MS;
  };
  const loading = () => {
    if (document.fonts.status === "loading" && young(document.fonts)) return true;
    for (const image of document.images) if (!image.complete && image.loading !== "lazy" && young(image)) return true;
    return false;
  };

  // A blinking caret would make equal pages unequal.
  const caret = new CSSStyleSheet();
  caret.replaceSync(CSS.supports("caret-animation", "manual") ? "* { caret-animation: manual !important }" : "* { caret-color: transparent !important }");
  const steady = () => {
    if (!document.adoptedStyleSheets.includes(caret)) document.adoptedStyleSheets.push(caret);
  };
  steady();

  // Resolves to true once everything is over, to false if that takes longer than `ms`.
  globalThis.settle = async (ms, frames) => {
    const end = performance.now() + ms;
    steady();
    while (frames-- > 0) await frame();
    let calm = false;
    while (performance.now() < end) {
      if (working()) {
        calm = false;
        await pause(20);
      } else if (finish()) {
        calm = false;
        await frame();
      } else if (loading()) {
        calm = false;
        await pause(10);
      } else if (calm) {
        return true;
      } else {
        calm = true;
        await turn();
      }
    }
    return false;
  };
})();
