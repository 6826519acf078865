import { expect, test } from "vitest";
import { getShownState } from "./connection.ts";

test("a lost stream is shown as lost while it is tried again", () => {
  expect(getShownState("connecting", "retrying")).toBe("retrying");
  expect(getShownState("retrying", "connecting")).toBe("retrying");
  expect(getShownState("retrying", "open")).toBe("open");
  expect(getShownState("retrying", "offline")).toBe("offline");
  expect(getShownState("signed-out", "connecting")).toBe("connecting");
});
