/** One session's terminal on the page: grid, connection, keys, clipboard. */
import { signal } from "@preact/signals";
import type { IDisposable } from "@xterm/xterm";
import { attachFiles } from "../attach/attach.ts";
import { readScreen } from "../../api/calls.ts";
import { getInputErrorText } from "../../api/errors.ts";
import type { TerminalResponse } from "../../api/types.ts";
import { asLines, withoutBlankEnd } from "../history/capture.ts";
import { isUnreachable } from "../hosts/state.ts";
import { addQueuedInput, setUnreachable } from "../hosts/unreachable.ts";
import { darkSystem, type Prefs, prefs } from "../../store/prefs.ts";
import { selectNext } from "../sessions/actions.ts";
import type { WakeReason } from "../../api/stream/connection.ts";
import { throughModifiers } from "../touch/state.ts";
import { showError, showToast } from "../../store/toasts.ts";
import { cidFor } from "./link/cid.ts";
import { SelectionCopy } from "./text/selectioncopy.ts";
import { searchOpen } from "../../ui/pages/openpanels.ts";
import { accelerate, createScreen, hostElement, nextFrame, optionsOf, type Screen } from "./create.ts";
import { addFileLinks } from "./text/filelinks.ts";
import { Fitter, shapeOf } from "./fitter.ts";
import type { Hello, Snapshot } from "./link/frames.ts";
import { type LinkListener, type LinkState, TerminalLink } from "./link/link.ts";
import { answerReads, linesOf } from "./readhook.ts";
import { FloodGauge, Sampler } from "./sampler.ts";
import { EchoSwitch } from "./echo/echoswitch.ts";
import type { Grid } from "./sizing.ts";
import { openSocket } from "./link/socket.ts";
import { Keyboard, newlineOf } from "./text/keyboard.ts";
import { HiddenCharacters } from "./text/hiddencharacters.ts";
import { keepWidths, getReportedWidths } from "./text/widths.ts";

/** RIS: resets the grid in its place among the writes, which a call of reset() would overtake. */
const RESET = "\x1bc";

/** What the emulator answers by itself: no sign that the person turned to this window. */
const REPORT = /^\x1b(?:\[[IO]$|\[(?:[?>=\d;]*(?:[cn]|\$y)|\?\d+u)$|\[\??\d+;\d+R$|[\]P])/;

export interface ViewListener {
  /** Enter was pressed where no program runs. */
  wantStart(): void;
  running(): boolean;
}

export interface ViewPlacement {
  /** Other terminals stand beside it. */
  beside: boolean;
  /** The keyboard is its. */
  front: boolean;
}

export class TerminalView implements LinkListener {
  readonly sessionId: string;
  readonly element: HTMLElement;
  readonly linkState = signal<LinkState>("connecting");
  readonly foreignSize = signal<Grid | undefined>(undefined);
  /** Input that waits for a connection, in characters. */
  readonly waiting = signal(0);
  readonly scrolledUp = signal(false);
  readonly atTop = signal(false);
  /** Its cell is too small to be read. */
  readonly cramped = signal(false);

  readonly link: TerminalLink;
  readonly screen: Screen;
  readonly clipping: SelectionCopy;
  readonly keyboard: Keyboard;
  private readonly fitter: Fitter;
  private readonly sampler: Sampler;
  private readonly gauge = new FloodGauge();
  /** More arrives than anybody reads beside the terminal that has the keyboard. */
  private flooded = false;
  private readonly listener: ViewListener;
  private readonly ends: IDisposable[] = [];
  /** The DOM renderer blinks by an animation for which the browser makes sixty frames a second. */
  private still = false;
  /** The renderer is chosen. */
  private settled = false;
  private standing: ViewPlacement;
  private readonly unshown = new HiddenCharacters();
  private toldColours = "";
  private readonly echo: EchoSwitch;

  constructor(sessionId: string, holder: HTMLElement, standing: ViewPlacement, listener: ViewListener) {
    this.sessionId = sessionId;
    this.listener = listener;
    this.standing = standing;
    this.element = hostElement(sessionId);
    holder.append(this.element);
    this.screen = createScreen(prefs.value, darkSystem.value, searchOpen.peek());
    this.element.style.backgroundColor = this.screen.terminal.options.theme?.background ?? "";
    this.screen.widths.tell(getReportedWidths(sessionId));
    addFileLinks(this.screen.terminal, sessionId);
    this.screen.terminal.open(this.element);
    void this.accelerate();
    this.link = new TerminalLink(
      { connect: openSocket, now: Date.now, random: Math.random },
      this,
      sessionId,
      cidFor(sessionId),
    );
    this.echo = new EchoSwitch(this.screen.terminal, this.link);
    this.clipping = new SelectionCopy(this.screen.terminal, this.element, (files) =>
      attachFiles(sessionId, files),
    );
    this.keyboard = new Keyboard(this.screen.terminal, () => newlineOf(sessionId));
    this.fitter = new Fitter(this.element, this.screen.terminal, {
      send: (frame) => this.link.send(frame),
      foreign: (grid) => (this.foreignSize.value = grid),
      fitted: () => this.pace(),
    });
    this.sampler = new Sampler({
      read: () => readScreen(sessionId),
      draw: (screen) => this.sampled(screen),
      hidden: () => document.hidden,
      calm: () => {
        if (!this.flooded) return;
        this.flooded = false;
        this.pace();
      },
    });
    this.wire();
    // A cell beside others waits until it knows whether it is large enough to be followed.
    if (standing.front || !standing.beside) this.link.connect();
    else this.link.rest();
  }

  private get terminal() {
    return this.screen.terminal;
  }

  private async accelerate(): Promise<void> {
    const renderer = await accelerate(this.terminal, this.element, () => this.element.isConnected);
    this.still = renderer === "dom";
    this.terminal.options.cursorBlink = prefs.peek().cursorBlink && !this.still;
    // Its first frame sets the size of the cells.
    await nextFrame();
    await nextFrame();
    this.settled = true;
    if (!this.element.hidden) this.show();
    // Whoever sees this finds the size of the window claimed.
    this.element.dataset["renderer"] = renderer;
  }

  private wire(): void {
    const { terminal } = this;
    terminal.attachCustomKeyEventHandler((event) => this.clipping.key(event) && this.keyboard.pressed(event));
    this.ends.push(
      terminal.onData((data) => this.typed(data)),
      terminal.onBinary((data) => this.send(data)),
      terminal.onScroll(() => this.scrolled()),
      terminal.onWriteParsed(() => {
        this.scrolled();
        this.fitter.follow();
      }),
    );
    terminal.textarea?.addEventListener("focus", () => this.fitter.reclaim());
    this.element.addEventListener("pointerdown", () => this.fitter.reclaim());
    if (navigator.maxTouchPoints > 0) void this.scrollByTouch();
    answerReads(this.element, terminal);
  }

  private async scrollByTouch(): Promise<void> {
    try {
      const { scrollByTouch } = await import("../touch/scroll.ts");
      scrollByTouch(this.terminal, this.element, selectNext);
    } catch (error) {
      showError("Couldn't load the scrolling by touch", error);
    }
  }

  show(standing = this.standing): void {
    this.element.hidden = false;
    this.standing = standing;
    this.fitter.beside = standing.beside;
    this.fitter.front = standing.front;
    if (standing.front) this.pace();
    // The renderers round a cell's width differently: a size is claimed once it is known which draws.
    if (!this.settled || !this.element.isConnected) return;
    this.fitter.start();
    this.fitter.reclaim();
  }

  hide(): void {
    this.element.hidden = true;
    this.fitter.stop();
    this.sampler.stop();
  }

  /** What nobody can read needs no stream: it is sampled, until the keyboard goes there. */
  private pace(): void {
    this.cramped.value = this.fitter.cramped;
    if ((this.fitter.cramped || this.flooded) && !this.standing.front) {
      if (this.sampler.on) return this.sampler.again(true);
      this.link.rest();
      return this.sampler.start();
    }
    this.sampler.stop();
    this.flooded = false;
    if (this.link.state === "resting") this.link.connect();
  }

  awake(wake: WakeReason): void {
    if (this.sampler.on) this.sampler.again();
    else if (wake === "doubt") this.link.refresh();
    else this.link.hurry();
  }

  /** Another program runs. */
  renew(): void {
    if (this.sampler.on) this.sampler.again();
    else this.link.connect();
  }

  dispose(): void {
    this.fitter.stop();
    this.sampler.stop();
    this.link.close();
    this.echo.dispose();
    for (const end of this.ends) end.dispose();
    this.terminal.dispose();
    this.element.remove();
  }

  focus(): void {
    this.terminal.focus();
  }

  applyPrefs(next: Prefs, dark: boolean, searching: boolean): void {
    const { fontSize, ...options } = optionsOf(next, dark, searching);
    Object.assign(this.terminal.options, options, { cursorBlink: next.cursorBlink && !this.still });
    this.element.style.backgroundColor = options.theme?.background ?? "";
    this.fitter.setFont(fontSize ?? next.fontSize, shapeOf(options));
    this.tellColours();
  }

  /** Programs ask their terminal for its colours; the service answers for the viewer whose size holds. */
  private tellColours(): void {
    const { foreground: fg, background: bg } = this.terminal.options.theme ?? {};
    if (!fg || !bg || this.toldColours === fg + bg) return;
    if (this.link.send({ t: "colours", fg, bg })) this.toldColours = fg + bg;
  }

  /** Use this window's size, whoever holds the session's. */
  forceSize(): void {
    this.fitter.insist();
  }

  /** Bytes of a key that is not on the device's own keyboard. */
  send(data: string): void {
    if (!this.listener.running()) {
      if (data === "\r") this.listener.wantStart();
      return;
    }
    if (!REPORT.test(data)) this.echo.typed(data);
    this.link.input(data);
    this.waiting.value = this.link.state === "open" ? 0 : this.link.outbox.chars;
  }

  private typed(data: string): void {
    if (!REPORT.test(data)) this.fitter.reclaim();
    // Reports and keys that xterm encodes start with ESC: the modifiers are for plain text.
    this.send(data.startsWith("\x1b") ? data : throughModifiers(data));
  }

  /** The size in this window; undefined while it is another viewer's. */
  get grid(): Grid | undefined {
    const { cols, rows } = this.terminal;
    return this.foreignSize.peek() === undefined ? { cols, rows } : undefined;
  }

  /** The whole grid as text. */
  text(): string {
    return linesOf(this.terminal.buffer.active).join("\n").trimEnd();
  }

  private scrolled(): void {
    const { active } = this.terminal.buffer;
    this.scrolledUp.value = active.viewportY < active.baseY;
    this.atTop.value = active.viewportY === 0 && active.baseY > 0;
  }

  // What the link tells.

  state(state: LinkState): void {
    this.linkState.value = state;
    this.element.dataset["link"] = state;
    this.waiting.value = state === "open" ? 0 : this.link.outbox.chars;
  }

  hello(hello: Hello): void {
    if (!hello.resumed) this.unshown.reset();
    if (hello.widths) {
      keepWidths(this.sessionId, hello.widths);
      this.screen.widths.tell(hello.widths);
      this.unshown.set(hello.widths);
    }
    this.toldColours = "";
    this.tellColours();
    this.terminal.write("", () => this.fitter.connected({ cols: hello.cols, rows: hello.rows }));
  }

  snapshot(snapshot: Snapshot, drawn: () => void): void {
    this.unshown.reset();
    this.echo.reset();
    this.terminal.write(RESET, () => this.fitter.applied({ cols: snapshot.cols, rows: snapshot.rows }));
    this.terminal.write(snapshot.data, () => {
      this.element.dataset["painted"] = "true";
      drawn();
    });
  }

  private sampled({ captureCols, captureRows, cursor, terminalBuffer }: TerminalResponse): void {
    const rows = this.fitter.glanced({ cols: captureCols, rows: captureRows });
    const lines = withoutBlankEnd(terminalBuffer);
    // The rows before them are written too: their colours go on, and scroll away.
    const above = Math.max(0, lines.split("\n").length - rows);
    const caret = `\x1b[${Math.max(0, cursor.y - above) + 1};${cursor.x + 1}H`;
    this.terminal.write(RESET + asLines(lines) + caret, () => {
      this.element.dataset["painted"] = "true";
    });
  }

  answered(): void {
    this.echo.measured();
  }

  output(bytes: Uint8Array, drawn: () => void): void {
    this.terminal.write(this.unshown.without(bytes), drawn);
    if (this.standing.front || !this.standing.beside || this.flooded) return;
    this.flooded = this.gauge.isFlood(bytes.length, performance.now());
    if (this.flooded) this.pace();
  }

  size(cols: number, rows: number): void {
    this.terminal.write("", () => this.fitter.applied({ cols, rows }));
  }

  exit(): void {
    // The record's own event says more: its status, and that nothing runs any more.
  }

  far(up: boolean, nextAt: number | undefined): void {
    setUnreachable(this.sessionId, up ? undefined : { nextAt });
  }

  inputHeld(chars: number): void {
    addQueuedInput(this.sessionId, chars);
  }

  inputLost(code: string): void {
    if (code === "FULL") showToast("bad", "Not typed", "Too much input queued while offline.");
    else if (isUnreachable(this.sessionId))
      showToast("bad", "Not typed", "The host is unreachable and its queue is full.");
    else showError("Not typed", new Error(getInputErrorText(code)));
  }
}
