// Where a page's causes begin: input, loading, scrolling. And how settle.js asks, by events with a secret name.
(tracker, secret) => {
  const { REACH, apply, construct, getOwnPropertyDescriptor, now, later, atFrame, nothing, then } = tracker;
  const { hold, busy, forget, gaveUp, begin, alive, descend, enter, replace, on, within, current, isTurning, restart } = tracker;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const Signal = CustomEvent;
  const SCROLL_MS = 1500; // a scroll that glides takes no longer
  const PAUSE_MS = 100; // and ends when nothing has moved for so long

  // document.open() takes all listeners away, ours too.
  const listeners = [];
  const always = (target, names, listener) => {
    listeners[listeners.length] = () => on(target, names, listener);
    on(target, names, listener);
  };
  tracker.always = always;
  for (const name of ["open", "write", "writeln"]) {
    replace(Document.prototype, name, {
      apply(native, self, args) {
        const result = apply(native, self, args);
        for (let i = 0; i < listeners.length; i++) listeners[i]();
        return result;
      },
    });
  }

  // --- frames: what a scroll or a change of size brings about comes with the next one ---
  let drawing = false;
  const draw = () => {
    if (drawing) return;
    drawing = true;
    const done = hold(PAUSE_MS);
    atFrame(() =>
      later(() => {
        drawing = false;
        done();
      }, 0),
    );
  };
  let watched = false; // by an observer of sizes or of intersections
  for (const Observer of [window.IntersectionObserver, window.ResizeObserver]) {
    replace(Observer && Observer.prototype, "observe", {
      apply(native, self, args) {
        if (!watched) tracker.onTurn(draw);
        watched = true;
        return apply(native, self, args);
      },
    });
  }

  // --- what Chromium draws over the page: the bubble of a field that is not valid fades in, and no animation tells ---
  const BUBBLE_MS = 400;
  always(window, ["invalid"], (event) => {
    if (event.isTrusted && !event.defaultPrevented) hold(BUBBLE_MS);
  });

  // --- input and its echoes ---
  // One input comes as several events in a row (pointerdown, mousedown, focusin): they share a cause.
  const caused = (reach) => {
    let last = null;
    return (event) => {
      if (!event.isTrusted || (isTurning() && last && current() === last)) return;
      restart();
      last = begin(reach);
      enter(last);
    };
  };
  always(window, [
    "pointerdown", "pointerup", "pointermove", "pointerover", "pointerout", "mousedown", "mouseup", "mousemove", "mouseover", "mouseout",
    "click", "dblclick", "auxclick", "contextmenu", "wheel", "keydown", "keypress", "keyup", "beforeinput", "input", "change", "submit",
    "select", "focusin", "focusout", "dragstart", "dragover", "drop", "dragend", "copy", "cut", "paste", "toggle",
  ], caused(REACH.input)); // prettier-ignore
  always(window, ["scroll", "transitionend", "animationend", "popstate", "hashchange"], caused(REACH.load));
  always(document, ["DOMContentLoaded"], (event) => event.isTrusted && enter(begin(REACH.load)));
  always(window, ["load"], (event) => {
    if (event.target !== document || !event.isTrusted) return;
    enter(begin(REACH.load));
    restart();
  });

  // --- scrolling ---
  let wheeled = -Infinity; // a wheel's scrolling ends, for the browser, long after it has moved anything
  let glide = null;
  const rest = () => {
    if (glide) glide.done();
    glide = null;
  };
  const move = () => {
    if (now() - wheeled < SCROLL_MS) return;
    if (!glide) glide = { done: hold(SCROLL_MS), moves: 0 };
    const { moves } = { moves: ++glide.moves };
    later(() => glide && glide.moves === moves && rest(), PAUSE_MS);
  };
  always(window, ["wheel"], (event) => {
    if (event.isTrusted) wheeled = now();
    draw();
  });
  always(window, ["scroll"], move);
  always(window, ["scrollend"], rest);
  always(window, ["hashchange"], draw);
  const KEYS = { " ": 1, PageUp: 1, PageDown: 1, Home: 1, End: 1, ArrowUp: 1, ArrowDown: 1, ArrowLeft: 1, ArrowRight: 1, __proto__: null };
  always(window, ["keydown"], (event) => KEYS[event.key] && draw());
  const scrolling = {
    apply(native, self, args) {
      if (alive()) draw();
      return apply(native, self, args);
    },
  };
  for (const name of ["scroll", "scrollBy", "scrollTo"]) replace(window, name, scrolling);
  for (const name of ["scroll", "scrollBy", "scrollTo", "scrollIntoView", "scrollIntoViewIfNeeded"]) replace(Element.prototype, name, scrolling);
  for (const name of ["scrollTop", "scrollLeft"]) replace(Element.prototype, name, scrolling, "set");

  // --- view transitions, which play as animations and so are finished by settle.js ---
  const promiseOf = (name) => window.ViewTransition && getOwnPropertyDescriptor(ViewTransition.prototype, name).get;
  const [readyOf, finishedOf] = [promiseOf("ready"), promiseOf("finished")];
  replace(Document.prototype, "startViewTransition", {
    apply(native, self, args) {
      const next = descend("call");
      if (!next) return apply(native, self, args);
      const done = hold(1000);
      if (typeof args[0] === "function") args[0] = within(args[0], next, nothing);
      const transition = apply(native, self, args);
      const go = () => enter(next);
      const end = () => {
        enter(next);
        done();
      };
      apply(then, apply(readyOf, transition, []), [go, go]);
      apply(then, apply(finishedOf, transition, []), [end, end]);
      return transition;
    },
  });

  // The history moves through another process; what follows is a navigation or a popstate.
  const moving = {
    apply(native, self, args) {
      if (alive()) hold(100);
      return apply(native, self, args);
    },
  };
  for (const name of ["back", "forward", "go"]) replace(History.prototype, name, moving);
  for (const name of ["back", "forward", "traverseTo"]) replace(window.Navigation && Navigation.prototype, name, moving);

  // --- settle.js asks ---
  const tell = (word) => apply(dispatch, window, [new Signal(secret + word)]);
  always(window, [secret + "begin"], restart);
  always(window, [secret + "forget"], forget);
  always(window, [secret + "ask"], () => {
    if (busy()) {
      tracker.onIdle(() => tell("idle"));
      tell("busy");
    } else if (gaveUp()) tell("endless");
  });
}
