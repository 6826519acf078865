import { describe, expect, test } from "vitest";
import { MESSAGE_LIMIT, StreamParser, StreamTooLong } from "./parser.ts";

const TEXT = 'event: init\nid: b-1\ndata: {"a":1}\n\n: note\n\nevent: x\ndata: one\ndata: two\n\ndata\n\n';

describe("StreamParser", () => {
  test("reads events, ids and data of several lines, and passes over comments", () => {
    expect(new StreamParser().push(TEXT)).toEqual([
      { event: "init", id: "b-1", data: '{"a":1}' },
      { event: "x", id: undefined, data: "one\ntwo" },
      { event: "message", id: undefined, data: "" },
    ]);
  });

  test("finds the same however the text is cut", () => {
    const whole = new StreamParser().push(TEXT);
    for (let size = 1; size < 12; size++) {
      const parser = new StreamParser();
      const found = [];
      for (let at = 0; at < TEXT.length; at += size) found.push(...parser.push(TEXT.slice(at, at + size)));
      expect(found).toEqual(whole);
    }
  });

  test("lines may end with carriage returns", () => {
    expect(new StreamParser().push("event: a\r\ndata: 1\r\n\r\n")).toEqual([
      { event: "a", id: undefined, data: "1" },
    ]);
  });

  test("a message that does not end is an error", () => {
    const parser = new StreamParser();
    expect(() => parser.push("x".repeat(MESSAGE_LIMIT + 1))).toThrow(StreamTooLong);
  });
});
