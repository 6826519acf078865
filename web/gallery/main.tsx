/**
 * Every component on one page, without a service: `make gallery`. What a component reads of the state is
 * put there by `state.ts`; nothing here is part of the page that is shipped.
 */
import "../src/shell/index.css";
import { render } from "preact";
import { startPrefs } from "../src/store/prefs.ts";
import { AskDialog } from "../src/ui/AskDialog.tsx";
import { Menu } from "../src/ui/Menu.tsx";
import { Tip } from "../src/ui/Tip.tsx";
import { Toasts } from "../src/ui/Toasts.tsx";
import { PARTS } from "./parts.tsx";
import { fillState } from "./state.ts";
import "../src/ui/styles/records.css";
import "../src/features/settings/settings.css";
import "./gallery.css";

function Gallery() {
  return (
    <main class="gallery">
      <h1>Gallery</h1>
      {PARTS.map(([title, Part]) => (
        <section key={title} class="gallery-part" data-part={title}>
          <h2>{title}</h2>
          <Part />
        </section>
      ))}
      <Menu />
      <AskDialog />
      <Toasts />
      <Tip />
    </main>
  );
}

startPrefs();
fillState();
const root = document.getElementById("app");
if (!root) throw new Error("the page has no #app");
render(<Gallery />, root);
