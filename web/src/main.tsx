import { render } from "preact";
import { App } from "./app/App.tsx";
import { registerFeatures } from "./app/features.ts";
import { startNavigation } from "./app/navigate.ts";
import { startAuth } from "./auth/state.ts";
import { startPrefs } from "./settings/prefs.ts";
import { listenForShortcuts } from "./shortcuts/listen.ts";
import { followService } from "./store/state.ts";
import { startStream } from "./stream/connection.ts";
import { startTouch } from "./touch/state.ts";
import { followViewport } from "./touch/viewport.ts";
import "@xterm/xterm/css/xterm.css";
import "./ui/styles/index.css";

startPrefs();
startAuth();
startTouch();
followViewport();
registerFeatures();
startNavigation();
listenForShortcuts();
followService();
startStream();

const root = document.getElementById("app");
if (!root) throw new Error("the page has no #app");
render(<App />, root);
