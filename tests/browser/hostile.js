// What a page in a web tab tries against the service.  Each try tells what it came to.
const prefix = location.pathname.split("/").slice(0, 3).join("/");
const service = new URLSearchParams(location.search).get("service") || location.origin;
const session = new URLSearchParams(location.search).get("session");
const ws = service.replace(/^http/, "ws");
const tell = (name, outcome) =>
  fetch(`${prefix}/told?name=${name}&outcome=${encodeURIComponent(String(outcome).slice(0, 300))}`);

const later = (ms) => new Promise((done) => setTimeout(done, ms));
/** "kept out", or what it got hold of. */
async function judge(attempt, patience = 3000) {
  try {
    const found = await Promise.race([attempt(), later(patience).then(() => "kept out")]);
    return found === undefined || found === null || found === "" ? "kept out" : found;
  } catch {
    return "kept out";
  }
}
const frame = (attributes) =>
  new Promise((done) => {
    const made = Object.assign(document.createElement("iframe"), attributes);
    made.onload = () => done(made);
    document.body.append(made);
  });
const inside = async (attributes) => (await frame(attributes)).contentDocument?.body?.innerText;
const post = { method: "POST", body: '{"mode":"shell","name":"pwned"}' };
const json = { ...post, headers: { "Content-Type": "application/json" } };
const text = async (answer) => ((await answer).type === "opaque" ? "" : (await answer).text());

const TRIES = {
  fetchRead: () => text(fetch(`${service}/api/sessions`, { credentials: "include" })),
  fetchOpaque: () => text(fetch(`${service}/api/sessions`, { mode: "no-cors", credentials: "include" })),
  fetchPost: () => text(fetch(`${service}/api/sessions`, { ...json, credentials: "include" })),
  fetchPostOpaque: () => text(fetch(`${service}/api/sessions`, { ...post, mode: "no-cors" })),
  fetchRange: () => text(fetch(`${service}/api/sessions`, { headers: { Range: "bytes=0-10" } })),
  xhr: () =>
    new Promise((done, failed) => {
      const asked = new XMLHttpRequest();
      asked.open("GET", `${service}/api/settings`);
      asked.withCredentials = true;
      asked.onload = () => done(asked.responseText);
      asked.onerror = failed;
      asked.send();
    }),
  beacon: () => void navigator.sendBeacon(`${service}/api/sessions`, post.body),
  form: async () => {
    const inner = await frame({ name: "posted" });
    const form = Object.assign(document.createElement("form"), {
      method: "post",
      action: `${service}/api/sessions`,
      target: "posted",
      enctype: "text/plain",
    });
    form.append(Object.assign(document.createElement("input"), { name: post.body.slice(0, -1), value: "}" }));
    document.body.append(form);
    form.submit();
    await later(500);
    return inner.contentDocument?.body?.innerText;
  },
  topNavigation: () => {
    top.location = `${service}/api/sessions`;
  },
  topDocument: () => top.document.body.innerText,
  parentStorage: () => JSON.stringify(parent.localStorage),
  popup: async () => {
    const opened = open(`${service}/`);
    await later(500);
    return opened?.document.body.innerText;
  },
  opener: () => window.opener?.document.body.innerText,
  webSocket: () =>
    new Promise((done, failed) => {
      const socket = new WebSocket(`${ws}/ws/sessions/${session}/terminal?cid=x`);
      socket.onmessage = (message) => done(`socket: ${message.data}`);
      socket.onerror = failed;
    }),
  eventSource: () =>
    new Promise((done, failed) => {
      const source = new EventSource(`${service}/api/events`);
      source.onopen = () => done("events");
      source.onerror = failed;
    }),
  serviceWorker: () => navigator.serviceWorker.register(`${prefix}/sw.js`, { scope: "/" }).then(String),
  sharedWorker: () => String(new SharedWorker("/assets/x.js").port),
  script: () =>
    new Promise((done, failed) => {
      const made = Object.assign(document.createElement("script"), { src: `${service}/api/status` });
      made.onload = () => done("loaded");
      made.onerror = failed;
      document.body.append(made);
    }),
  module: () => import(`${service}/api/status`).then(() => "imported"),
  base: async () => {
    document.head.append(Object.assign(document.createElement("base"), { href: `${service}/api/` }));
    try {
      return await text(fetch("sessions"));
    } finally {
      document.querySelector("base").remove();
    }
  },
  metaRefresh: () =>
    inside({ srcdoc: `<meta http-equiv="refresh" content="0;url=${service}/api/sessions">` }).then((found) =>
      later(500).then(() => found),
    ),
  redirect: () => text(fetch(`${prefix}/away?to=${encodeURIComponent(`${service}/api/sessions`)}`)),
  cookieWrite: () => {
    document.cookie = "service_session=evil; path=/";
    return document.cookie;
  },
  cookieRead: () => document.cookie,
  storage: () => String(localStorage),
  database: () => new Promise((done, failed) => Object.assign(indexedDB.open("x"), { onsuccess: () => done("open"), onerror: failed })),
  caches: () => caches.open("x").then(String),
  poison: () => text(fetch("/assets/poisoned-12345678.js")).then((found) => (found.includes("nothing") ? "" : found)),
  frameOfService: () => inside({ src: `${service}/` }),
  frameOfApi: () => inside({ src: `${service}/api/sessions` }),
  viewSource: async () => {
    const opened = open(`view-source:${service}/api/sessions`);
    await later(300);
    return opened?.document.body.innerText;
  },
  javascriptInParent: () => {
    parent.location = "javascript:document.title='pwned'";
  },
  postMessage: () => {
    for (const target of [parent, top]) target.postMessage({ t: "o", type: "session:created", data: {} }, "*");
  },
  broadcast: () => void new BroadcastChannel("tservice").postMessage("x"),
  otherWord: () => text(fetch(`/webview/${"x".repeat(32)}/`)).then((found) => (found.startsWith("Forbidden") ? "" : found)),
};

// What it may have is waited for, also on a busy machine.
const LONG = 60000;

(async () => {
  for (const [name, attempt] of Object.entries(TRIES)) await tell(name, await judge(async () => attempt()));
  await tell("own", await judge(() => import("/own.js").then(() => "imported"), LONG));
  await tell("ownSocket", await judge(() => new Promise((done, failed) => {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}${prefix}/ws`);
    socket.onmessage = (message) => done(message.data);
    socket.onerror = failed;
  }), LONG));
  await tell("ownPost", await fetch(`${prefix}/post`, { method: "POST", body: "x" }).then((a) => a.status, String));
  await tell("done", `${Object.keys(TRIES).length}`);
})();
