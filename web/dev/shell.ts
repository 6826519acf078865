/** A toy shell for the mock: enough to look at a terminal without a real one behind it. */

const PROMPT = "\x1b[1;32mdemo\x1b[0m:\x1b[1;34m~/work\x1b[0m$ ";

const HELP = [
  "lines <n>   print n numbered lines",
  "colors      the palette",
  "wide        wide and joined glyphs, with a ruler",
  "link        an address",
  "ask         ask the terminal who it is (nothing must come back)",
  "paste       bracketed paste on",
  "alt         alternate screen until a key",
  "mouse       mouse reports until q",
  "busy        work for three seconds",
  "block       wait for a person",
  "exit [n]    end the process",
];

export interface ShellPort {
  write(text: string): void;
  exit(status: number): void;
  status(status: "idle" | "busy" | "blocked"): void;
  size(): { cols: number; rows: number };
}

export class Shell {
  private line = "";
  private mode: "line" | "alt" | "mouse" = "line";
  private readonly port: ShellPort;

  constructor(port: ShellPort) {
    this.port = port;
  }

  start(): void {
    this.port.write(`\x1b[2mmock session, type \x1b[0mhelp\x1b[2m for what it can\x1b[0m\r\n${PROMPT}`);
  }

  resized(): void {
    if (this.mode === "alt") this.drawAlt();
  }

  input(data: string): void {
    if (this.mode === "alt") return this.leaveAlt();
    if (this.mode === "mouse") return this.mouse(data);
    const text = data.replace(/\x1b\[20[01]~/g, "");
    for (const char of text) this.key(char);
  }

  private key(char: string): void {
    if (char === "\r") return this.enter();
    if (char === "\x7f") return this.rubOut();
    if (char === "\x03") {
      this.line = "";
      return this.port.write(`^C\r\n${PROMPT}`);
    }
    if (char < " ") return this.port.write(`^${String.fromCharCode(char.charCodeAt(0) + 64)}`);
    this.line += char;
    this.port.write(char);
  }

  private rubOut(): void {
    if (this.line === "") return;
    this.line = [...this.line].slice(0, -1).join("");
    this.port.write("\b \b");
  }

  private enter(): void {
    const [command = "", ...rest] = this.line.trim().split(/\s+/);
    this.line = "";
    this.port.write("\r\n");
    if (this.run(command, rest)) this.port.write(PROMPT);
  }

  /** @returns whether the prompt comes back at once. */
  private run(command: string, rest: string[]): boolean {
    const { port } = this;
    const out = (text: string) => port.write(`${text}\r\n`);
    const text = TEXTS[command];
    if (text !== undefined) out(text);
    else if (command === "echo") out(rest.join(" "));
    else if (command === "lines") this.lines(Number(rest[0] ?? 100));
    else if (command === "ask") port.write("\x1b[c\x1b[6n\x1b[>c\x1b]11;?\x07\x1b[?2026$p");
    else if (command === "paste") port.write("\x1b[?2004h");
    else if (command === "size") out(`${port.size().cols}x${port.size().rows}`);
    else if (command === "block") port.status("blocked");
    else if (command in this.modes) return this.modes[command]?.(rest) ?? false;
    else if (command !== "") out(`${command}: command not found`);
    return true;
  }

  private lines(count: number): void {
    const lines = Array.from(
      { length: count },
      (_, n) => `line ${n + 1} \x1b[2m${"·".repeat((n + 1) % 40)}\x1b[0m\r\n`,
    );
    this.port.write(lines.join(""));
  }

  /** Commands after which the prompt does not come back at once. */
  private readonly modes: Record<string, (rest: string[]) => false> = {
    alt: () => {
      this.mode = "alt";
      this.port.write("\x1b[?1049h");
      this.drawAlt();
      return false;
    },
    mouse: () => {
      this.mode = "mouse";
      this.port.write("\x1b[?1000h\x1b[?1006hmouse reports, q ends\r\n");
      return false;
    },
    busy: () => {
      this.port.status("busy");
      setTimeout(() => {
        this.port.write(`done\r\n${PROMPT}`);
        this.port.status("idle");
      }, 3000);
      return false;
    },
    exit: (rest) => {
      this.port.exit(Number(rest[0] ?? 0));
      return false;
    },
  };

  private drawAlt(): void {
    const { cols, rows } = this.port.size();
    const bar = "─".repeat(cols - 2);
    let text = `\x1b[2J\x1b[H┌${bar}┐`;
    for (let row = 2; row < rows; row++) text += `\x1b[${row};1H│\x1b[${row};${cols}H│`;
    text += `\x1b[${rows};1H└${bar}┘\x1b[${Math.floor(rows / 2)};4H${cols} × ${rows}: any key leaves`;
    this.port.write(text);
  }

  private leaveAlt(): void {
    this.mode = "line";
    this.port.write(`\x1b[?1049l${PROMPT}`);
  }

  private mouse(data: string): void {
    if (data === "q") {
      this.mode = "line";
      return this.port.write(`\x1b[?1000l\x1b[?1006l\r\n${PROMPT}`);
    }
    this.port.write(`${JSON.stringify(data)}\r\n`);
  }
}

function palette(): string {
  const row = (from: number) =>
    Array.from({ length: 8 }, (_, n) => `\x1b[${from + n}m ${String(from + n).padStart(3)} \x1b[0m`).join("");
  return [
    row(30),
    row(90),
    row(40),
    row(100),
    "\x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munder\x1b[0m \x1b[7minverse\x1b[0m",
  ].join("\r\n");
}

const RULER = ["0123456789012345", "漢字|4", "😀👍|4", "👨‍👩‍👧|2", "❤️|1", "e\u0301|1", "🥲|2", "┌─┐ │ └─┘"].join(
  "\r\n",
);

const TEXTS: Record<string, string> = {
  help: HELP.join("\r\n"),
  colors: palette(),
  wide: RULER,
  link: "see http://localhost:1/path?q=1 and \x1b]8;;http://localhost:1/osc8\x1b\\this one\x1b]8;;\x1b\\",
};
