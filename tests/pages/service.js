oninstall = () => skipWaiting();
onactivate = (event) => event.waitUntil(clients.claim());
onfetch = (event) => {
  if (event.request.url.endsWith("/answered-by-service")) event.respondWith(new Promise((go) => setTimeout(() => go(new Response("service")), 120)));
};
