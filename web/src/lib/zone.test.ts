import { describe, expect, test } from "vitest";
import { browserZone, knownZone } from "./zone.ts";
import { fromField, offsetAt, offsetText, toField } from "./zonetime.ts";

const BERLIN = "Europe/Berlin";
const at = (text: string) => Date.parse(text);

describe("zones", () => {
  test.each(["Europe/Berlin", "UTC", "+02:00"])("%s is known", (zone) => {
    expect(knownZone(zone)).toBe(zone);
  });

  test.each([undefined, null, 7, "", "Mars/Utopia"])("%o gives way to the browser's own", (zone) => {
    expect(knownZone(zone)).toBe(browserZone());
  });

  test("the offset is that of the moment", () => {
    expect(offsetAt(at("2026-01-15T12:00Z"), BERLIN)).toBe(3_600_000);
    expect(offsetAt(at("2026-07-15T12:00:00.250Z"), BERLIN)).toBe(7_200_000);
    expect(offsetAt(at("2026-07-15T12:00Z"), "America/New_York")).toBe(-4 * 3_600_000);
  });

  test.each([
    [0, "UTC"],
    [3_600_000, "UTC+1"],
    [-12_600_000, "UTC−3:30"],
    [20_700_000, "UTC+5:45"],
  ])("%d ms is %s", (ms, text) => {
    expect(offsetText(ms)).toBe(text);
  });
});

describe("a field's wall time", () => {
  test.each(["2026-01-15T09:00", "2026-07-15T23:59", "2026-12-31T00:00"])("%s there and back", (value) => {
    for (const zone of [BERLIN, "America/New_York", "Asia/Kolkata", "-03:30"])
      expect(toField(fromField(value, zone) ?? 0, zone)).toBe(value);
  });

  test("what the clocks skip in spring is after the gap", () => {
    expect(fromField("2026-03-29T02:30", BERLIN)).toBe(at("2026-03-29T01:30Z"));
    expect(toField(at("2026-03-29T01:30Z"), BERLIN)).toBe("2026-03-29T03:30");
  });

  test("what they show twice in autumn is the first of the two", () => {
    expect(fromField("2026-10-25T02:30", BERLIN)).toBe(at("2026-10-25T00:30Z"));
    expect(fromField("2026-10-25T03:00", BERLIN)).toBe(at("2026-10-25T02:00Z"));
  });

  test.each(["", "2026-01-15", "2026-13-01T00:00", "09:00", "2026-01-15T09:00:00"])("%o is none", (value) => {
    expect(fromField(value, BERLIN)).toBeUndefined();
  });
});
