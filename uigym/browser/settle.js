// Waits until what an input caused is over and drawn. Runs in a world of its own, which the page cannot see;
// causes.js, in the page's world, says whether any work is still to come.
(() => {
  const SECRET = "__SECRET__";
  const FINISH_MS = 1000; // animations up to this length are brought to their end; longer ones play on
  const FINISHES = 10; // and so are those that follow on them, if there are not too many
  const READY_MS = 300; // a picture or font that has arrived is ready within this time
  const WORKING = 0, CALM = 1, CALMED = 2, LEFT = 3; // prettier-ignore

  let busy = false;
  let endless = false;
  let wake = () => {};
  const words = {
    busy: () => (busy = true),
    endless: () => (endless = true),
    idle: () => wake(),
  };
  const say = (word) => dispatchEvent(new CustomEvent(SECRET + word));
  const working = () => {
    busy = false;
    say("ask");
    return busy;
  };
  const pause = (ms) =>
    new Promise((go) => {
      wake = go;
      setTimeout(go, ms);
    });
  // The browser may hold idle callbacks back until it has drawn.
  let pauses = 0;
  const stir = () => {
    if (++pauses % 5 === 0) requestAnimationFrame(() => {});
  };
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

  // What is on its way from a server is settle.py's to wait for; here it is made ready.
  const seen = new WeakMap();
  const young = (thing) => {
    if (!seen.has(thing)) seen.set(thing, performance.now());
    return performance.now() - seen.get(thing) < READY_MS;
  };
  const loading = () => {
    if (document.readyState !== "complete" && young(document)) return true;
    if (document.fonts.status !== "loading") seen.delete(document.fonts);
    else if (young(document.fonts)) return true;
    for (const image of document.images) if (!image.complete && image.loading !== "lazy" && young(image)) return true;
    return false;
  };

  // A blinking caret would make equal pages unequal.
  const caret = new CSSStyleSheet();
  caret.replaceSync(CSS.supports("caret-animation", "manual") ? "* { caret-animation: manual !important }" : "* { caret-color: transparent !important }");
  // The page may have taken the sheet away, and with document.open() the listeners.
  const steady = () => {
    if (!document.adoptedStyleSheets.includes(caret)) document.adoptedStyleSheets.push(caret);
    for (const word in words) addEventListener(SECRET + word, words[word]);
  };
  steady();
  const still = globalThis.still ?? (() => {}); // still.js, where the clock stands still

  // Resolves to CALM if nothing was going on, to CALMED once everything is over, to LEFT if some of it seems to have
  // no end, and to WORKING if it takes longer than `ms`. `fresh` is false where the same step has asked before.
  globalThis.settle = async (ms, frames, fresh) => {
    const end = performance.now() + ms;
    let result = CALM;
    let finishes = 0;
    steady();
    if (fresh) say("begin");
    while (frames-- > 0) await frame();
    for (let calm = false; performance.now() < end; ) {
      if (finishes < FINISHES && finish()) {
        finishes++;
        await frame();
      } else if (working()) {
        stir();
        await pause(20);
      } else if (loading()) await pause(10);
      else if (calm) {
        still();
        return endless ? ((endless = false), LEFT) : result;
      } else {
        calm = true;
        await turn();
        continue;
      }
      calm = false;
      result = CALMED;
    }
    say("forget");
    still();
    return WORKING;
  };
})();
