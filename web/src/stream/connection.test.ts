import { expect, test } from "vitest";
import { shownState } from "./connection.ts";

test("a lost stream is shown as lost while it is tried again", () => {
  expect(shownState("connecting", "retrying")).toBe("retrying");
  expect(shownState("retrying", "connecting")).toBe("retrying");
  expect(shownState("retrying", "open")).toBe("open");
  expect(shownState("retrying", "offline")).toBe("offline");
  expect(shownState("signed-out", "connecting")).toBe("connecting");
});
