// A worker that looks for traces of the tracker, and breaks what it might use.
const traces = Reflect.ownKeys(self).map(String).filter((name) => /uig|settle|cause|tracker/i.test(name));
const printed = Function.prototype.toString.call(setTimeout);
if (printed !== "function setTimeout() { [native code] }") traces.push(printed);
const timeout = setTimeout;
performance.now = () => 0;
Set.prototype.add = Map.prototype.get = WeakMap.prototype.get = Promise.prototype.then = MessagePort.prototype.postMessage = () => traces.push("used");
self.setTimeout = self.Promise = self.MessageChannel = () => traces.push("called");
onmessage = () => timeout(() => postMessage(traces.join()), 200);
