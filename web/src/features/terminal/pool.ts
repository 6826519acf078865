/** The terminals that are alive: the one in front and the few looked at last. */
import { effect } from "@preact/signals";
import type { Session } from "../../api/types.ts";
import { start } from "../sessions/actions.ts";
import { livePid } from "../sessions/status.ts";
import { darkSystem, prefs } from "../../store/prefs.ts";
import { sessionList } from "../../store/state.ts";
import { onWake } from "../../api/stream/connection.ts";
import { currentView } from "./current.ts";
import { searchOpen } from "../../ui/pages/openpanels.ts";
import { selectEvicted } from "./eviction.ts";
import { type ViewPlacement, TerminalView } from "./view.ts";

/** Each live terminal costs a socket, a GPU context and its scrollback. */
export const ALIVE_MAX = 5;

/** Where it stands already it is left: what is taken out of the page loses its focus and its place. */
function move(element: HTMLElement, holder: HTMLElement): void {
  if (element.parentElement !== holder) holder.append(element);
}

const pidOf = (id: string): number | null => livePid(sessionList.peek().byId.get(id));

export class TerminalPool {
  /** In the order of use, the newest last. */
  private readonly views = new Map<string, { view: TerminalView; pid: number | null }>();
  private readonly ends: (() => void)[];
  private readonly holder: HTMLElement;

  constructor(holder: HTMLElement) {
    this.holder = holder;
    this.ends = [
      onWake((wake) => this.each((view) => view.awake(wake))),
      effect(() => {
        const [next, dark, searching] = [prefs.value, darkSystem.value, searchOpen.value];
        this.each((view) => view.applyPrefs(next, dark, searching));
      }),
      effect(() => this.follow(sessionList.value.byId)),
    ];
  }

  show(id: string | undefined): void {
    this.place(new Map(id === undefined ? [] : [[id, this.holder]]), id);
  }

  /**
   * Show exactly these sessions.
   * @param places where each is shown.
   * @param front the one whose view has the keyboard.
   */
  place(places: ReadonlyMap<string, HTMLElement>, front: string | undefined): void {
    for (const [id, { view }] of this.views) {
      if (places.has(id)) continue;
      view.hide();
      move(view.element, this.holder);
    }
    const wanted = [...places.keys()].filter((id) => sessionList.peek().byId.has(id));
    for (const old of selectEvicted([...this.views.keys()], wanted, ALIVE_MAX)) this.discard(old);
    for (const id of wanted) {
      const holder = places.get(id) ?? this.holder;
      const standing = { beside: places.size > 1, front: id === front };
      const entry = this.views.get(id) ?? { view: this.make(id, holder, standing), pid: pidOf(id) };
      this.views.delete(id);
      this.views.set(id, entry);
      move(entry.view.element, holder);
      entry.view.show(standing);
    }
    currentView.value = this.viewOf(front);
  }

  viewOf(id: string | undefined): TerminalView | undefined {
    return id === undefined ? undefined : this.views.get(id)?.view;
  }

  close(): void {
    for (const end of this.ends) end();
    for (const id of [...this.views.keys()]) this.discard(id);
    currentView.value = undefined;
  }

  private make(id: string, holder: HTMLElement, standing: ViewPlacement): TerminalView {
    return new TerminalView(id, holder, standing, {
      wantStart: () => void start(id),
      running: () => pidOf(id) !== null,
    });
  }

  private each(act: (view: TerminalView) => void): void {
    for (const { view } of this.views.values()) act(view);
  }

  private discard(id: string): void {
    this.views.get(id)?.view.dispose();
    this.views.delete(id);
  }

  /** A new process is a new stream; a session that is gone needs no terminal. */
  private follow(byId: ReadonlyMap<string, Session>): void {
    for (const [id, entry] of [...this.views]) {
      const session = byId.get(id);
      const pid = livePid(session);
      if (!session) this.discard(id);
      else if (pid !== entry.pid) {
        entry.pid = pid;
        if (pid !== null) entry.view.renew();
      }
    }
  }
}
