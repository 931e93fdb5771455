oninstall = () => skipWaiting();
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => event.respondWith(event.request.url.includes("made-here") ? new Response("made") : fetch(event.request));
