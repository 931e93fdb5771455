// Lets a worker be asked whether it is still at what it was told. Nobody but the asker has the function.
(tracker) => {
  const { REACH, later, now, on, begin, enter, busy, forget, gaveUp, restart, scope } = tracker;
  const Waiting = Promise;
  on(scope, ["message"], () => enter(begin(REACH.message)));
  const pause = (ms) =>
    new Waiting((go) => {
      tracker.onIdle(go);
      later(go, ms);
    });
  const started = new Waiting((go) => later(() => later(go, 0), 0)); // the first messages have come
  return async (ms, fresh) => {
    const end = now() + ms;
    let calm = 1;
    await started;
    if (fresh) restart();
    while (busy()) {
      if (now() > end) {
        forget();
        return 0;
      }
      calm = 2;
      await pause(20);
    }
    return gaveUp() ? 3 : calm;
  };
}
