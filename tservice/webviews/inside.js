// Runs in each page of a web tab before all else of it: addresses that its scripts make up lead to
// where the tab's target is, and what a page without an origin may not have is there in memory alone.
(prefix, origin, cookies) => {
  const target = new URL(origin);
  const wanted = /^(http|ws)s?:$/;
  const led = (given) => {
    if (typeof given !== "string" && !(given instanceof URL)) return given;
    let url;
    try {
      url = new URL(given, document.baseURI);
    } catch {
      return given;
    }
    const here = url.host === location.host;
    if (!wanted.test(url.protocol) || !(here || url.host === target.host)) return given;
    if (here && (url.pathname === prefix || url.pathname.startsWith(`${prefix}/`))) return given;
    const safe = location.protocol === "https:" ? "s" : "";
    const scheme = (url.protocol.startsWith("ws") ? "ws" : "http") + safe;
    return `${scheme}://${location.host}${prefix}${url.pathname}${url.search}${url.hash}`;
  };

  for (const name of ["WebSocket", "EventSource", "Request"])
    window[name] = new Proxy(window[name], {
      construct: (real, [address, ...rest], made) => Reflect.construct(real, [led(address), ...rest], made),
    });
  const wrap = (owner, name, at) => {
    const real = owner[name];
    owner[name] = function (...given) {
      given[at] = led(given[at]);
      return real.apply(this, given);
    };
  };
  wrap(window, "fetch", 0);
  wrap(XMLHttpRequest.prototype, "open", 1);
  wrap(Navigator.prototype, "sendBeacon", 0);

  const sources = { Script: "src", Image: "src", IFrame: "src", Media: "src", Source: "src", Link: "href" };
  for (const [sort, name] of Object.entries(sources)) {
    const { prototype } = window[`HTML${sort}Element`];
    const { get, set } = Object.getOwnPropertyDescriptor(prototype, name);
    Object.defineProperty(prototype, name, {
      configurable: true,
      enumerable: true,
      get,
      set(address) {
        set.call(this, led(address));
      },
    });
    const { setAttribute } = prototype;
    prototype.setAttribute = function (key, value) {
      setAttribute.call(this, key, String(key).toLowerCase() === name ? led(value) : value);
    };
  }
  // Links and forms once they are used: before that, scripts read them.
  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a[href]");
    if (link && !event.defaultPrevented) link.href = led(link.href);
  });
  addEventListener("submit", (event) => {
    if (!event.defaultPrevented)
      event.target.setAttribute("action", led(event.target.getAttribute("action") ?? ""));
  });

  // Such a page may not change its address: what goes with it is kept all the same.
  for (const name of ["pushState", "replaceState"]) {
    const real = History.prototype[name];
    History.prototype[name] = function (state, title, address) {
      try {
        real.call(
          this,
          state,
          title,
          address === undefined || address === null ? address : led(String(address)),
        );
      } catch {
        real.call(this, state, title);
      }
    };
  }
  const offer = (owner, name, make) => {
    try {
      void owner[name];
    } catch {
      Object.defineProperty(owner, name, { configurable: true, ...make() });
    }
  };
  const storage = () => {
    const kept = new Map();
    const own = {
      getItem: (key) => kept.get(String(key)) ?? null,
      setItem: (key, value) => void kept.set(String(key), String(value)),
      removeItem: (key) => void kept.delete(String(key)),
      clear: () => kept.clear(),
      key: (at) => [...kept.keys()][at] ?? null,
    };
    const value = new Proxy(own, {
      get: (_, key) => (key === "length" ? kept.size : (own[key] ?? kept.get(key))),
      set: (_, key, given) => (own.setItem(key, given), true),
      has: (_, key) => key in own || kept.has(key),
      deleteProperty: (_, key) => (kept.delete(key), true),
      ownKeys: () => [...kept.keys()],
      getOwnPropertyDescriptor: (_, key) =>
        kept.has(key)
          ? { value: kept.get(key), configurable: true, enumerable: true, writable: true }
          : undefined,
    });
    return { value };
  };
  offer(window, "localStorage", storage);
  offer(window, "sessionStorage", storage);
  offer(document, "cookie", () => {
    const kept = new Map(
      cookies
        .split("; ")
        .filter(Boolean)
        .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    );
    return {
      get: () => [...kept].map((pair) => pair.join("=")).join("; "),
      set: (given) => {
        const [pair, ...attributes] = String(given).split(";");
        const [name, ...value] = pair.split("=");
        const over = attributes.some((each) =>
          /^\s*max-age\s*=\s*(0|-)|^\s*expires\s*=.*\b19[67]\d\b/i.test(each),
        );
        if (over) kept.delete(name.trim());
        else kept.set(name.trim(), value.join("=").trim());
      },
    };
  });
};
