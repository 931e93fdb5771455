// Node-RED as a product to practise on: nothing that asks, greets or reports; no node that leaves the process.
module.exports = {
    flowFile: "flows.json",
    credentialSecret: false,
    uiHost: "127.0.0.1",
    telemetry: { enabled: false, updateNotification: false },
    diagnostics: { enabled: false },
    runtimeState: { enabled: false },
    functionExternalModules: false,
    externalModules: { palette: { allowInstall: false, allowUpload: false }, modules: { allowInstall: false } },
    nodesExcludes: ["90-exec.js", "21-httprequest.js", "21-httpin.js", "05-tls.js", "06-httpproxy.js", "10-mqtt.js",
        "22-websocket.js", "31-tcpin.js", "32-udp.js", "10-file.js", "23-watch.js"],
    editorTheme: {
        tours: false,
        userMenu: false,
        projects: { enabled: false },
        palette: { editable: false },
        multiplayer: { enabled: false },
        header: { title: "Greenhouse" },
        codeEditor: { lib: "ace" },  // a fifth of the size of the other one, which the editor loads before all else
    },
    // What a user arranges in the editor (panels, recent colours) would outlive a reset: it is not kept.
    httpAdminMiddleware: (request, response, next) =>
        request.method === "POST" && request.path === "/settings/user" ? response.sendStatus(204) : next(),
    logging: { console: { level: "warn", metrics: false, audit: false } },
};
