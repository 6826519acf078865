import type { Terminal } from "@xterm/xterm";
import { afterEach, expect, test, vi } from "vitest";
import { change } from "../../../store/prefs.ts";
import type { TerminalLink } from "../link/link.ts";
import { EchoSwitch } from "./echoswitch.ts";

const made = vi.hoisted(() => [] as { typed: string[]; resets: number }[]);

vi.mock("./localecho.ts", () => ({
  LocalEcho: class {
    typed_: string[] = [];
    record = { typed: this.typed_, resets: 0 };
    constructor() {
      made.push(this.record);
    }
    typed(data: string): void {
      this.typed_.push(data);
    }
    reset(): void {
      this.record.resets += 1;
    }
    dispose(): void {}
  },
}));

afterEach(() => {
  made.length = 0;
  change({ localEcho: true });
});

function switchAt(roundTrip: number) {
  const link = { roundTrip };
  return { link, echo: new EchoSwitch({} as Terminal, link as TerminalLink) };
}

test("a near service needs no echo, and no code for it", async () => {
  const { echo } = switchAt(40);
  echo.measured();
  await vi.dynamicImportSettled();
  expect(made).toEqual([]);
});

test("a far one gets it once, and is asked while it is far", async () => {
  const { echo, link } = switchAt(41);
  echo.measured();
  echo.measured();
  await vi.dynamicImportSettled();
  echo.typed("a");
  link.roundTrip = 20;
  echo.typed("b");
  expect(made).toEqual([{ typed: ["a"], resets: 1 }]);
});

test("nobody gets it who does not want it", async () => {
  change({ localEcho: false });
  const { echo } = switchAt(300);
  echo.measured();
  await vi.dynamicImportSettled();
  expect(made).toEqual([]);
});
