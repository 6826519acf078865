/** One terminal's copy and paste. */
import type { Terminal } from "@xterm/xterm";
import { filesIn } from "../../attach/tray.ts";
import { prefs } from "../../../store/prefs.ts";
import { askQuestion } from "../../../ui/ask.ts";
import { copyText, readClipboard } from "../../../ui/clipboard.ts";
import { showToast } from "../../../store/toasts.ts";
import { clipboardKey, platformOf } from "./keys.ts";
import { clipboardWish } from "./osc52.ts";
import { cleanPaste, pasteQuestion } from "./paste.ts";

const platform = platformOf(navigator.userAgent);

export class SelectionCopy {
  private readonly terminal: Terminal;
  private readonly onFiles: (files: readonly File[]) => void;

  /** @param onFiles a paste held files instead of text. */
  constructor(terminal: Terminal, element: HTMLElement, onFiles: (files: readonly File[]) => void) {
    this.terminal = terminal;
    this.onFiles = onFiles;
    // Capture: xterm's own handler would put the text through unasked.
    element.addEventListener("paste", (event) => this.pasted(event), { capture: true });
    terminal.onSelectionChange(() => this.selected());
    terminal.parser.registerOscHandler(52, (data) => this.wish(data));
  }

  get selection(): string {
    return this.terminal.getSelection();
  }

  async copy(): Promise<void> {
    const text = this.selection;
    if (text === "") return;
    if (await copyText(text)) showToast("good", "Copied");
    else showToast("bad", "Couldn't copy", "Your browser blocked access to the clipboard.");
  }

  /** Paste from a button or menu, which has no paste event to read from. */
  async pasteFromClipboard(): Promise<void> {
    const text = await readClipboard();
    if (text === undefined) {
      const typed = await askQuestion({
        title: "Paste",
        text: "Paste the text here:",
        action: "Paste",
        input: "multiline",
      });
      if (typed) await this.paste(typed);
    } else await this.paste(text);
    this.terminal.focus();
  }

  async paste(raw: string): Promise<void> {
    const text = cleanPaste(raw);
    if (text === "") return;
    const question = pasteQuestion(text, this.terminal.modes.bracketedPasteMode);
    if (question !== undefined) {
      const agreed = await askQuestion({
        title: "Paste",
        text: question,
        preview: text.slice(0, 600),
        action: "Paste",
      });
      this.terminal.focus();
      if (agreed === undefined) return;
    }
    this.terminal.paste(text);
  }

  /** @returns whether the key is the program's. */
  key(event: KeyboardEvent): boolean {
    const meaning = clipboardKey(event, this.terminal.hasSelection(), platform);
    if (meaning === "program") return true;
    if (meaning === "copy") {
      event.preventDefault();
      if (event.type === "keydown") void this.copyAndClear(event);
    }
    return false;
  }

  private async copyAndClear(event: KeyboardEvent): Promise<void> {
    await this.copy();
    // The next Ctrl+C is then an interrupt again.
    if (!event.shiftKey) this.terminal.clearSelection();
  }

  private pasted(event: ClipboardEvent): void {
    event.preventDefault();
    event.stopPropagation();
    this.onFiles(filesIn(event.clipboardData));
    void this.paste(event.clipboardData?.getData("text/plain") ?? "");
  }

  private selected(): void {
    const text = this.selection;
    if (prefs.value.copyOnSelect && text !== "") void copyText(text);
  }

  private wish(data: string): boolean {
    const text = prefs.value.programCopy ? clipboardWish(data) : undefined;
    if (text !== undefined) void copyText(text);
    return true;
  }
}
