import { describe, expect, test } from "vitest";
import { INPUT_CHARS, parseFrame, pieces } from "./frames.ts";

describe("parseFrame", () => {
  test.each([
    { t: "hello", v: 1, epoch: "e", offset: 3, cols: 80, rows: 24, resumed: true },
    { t: "hello", offset: 3, cols: 80, rows: 24, resumed: false, widths: [[129768, 129768, 0]] },
    { t: "snapshot", offset: 3, cols: 80, rows: 24, data: "" },
    { t: "size", c: 80, r: 24 },
    { t: "ack", seq: 3, dup: true, last: 4 },
    { t: "exit" },
    { t: "link", up: false, nextAt: 5 },
  ])("reads $t", (frame) => {
    expect(parseFrame(JSON.stringify(frame))).toEqual(frame);
  });

  test.each([
    "",
    "no json",
    "null",
    "[]",
    '{"t":"later"}',
    '{"t":"constructor"}',
    '{"t":"hello","offset":-1,"cols":80,"rows":24,"resumed":true}',
    '{"t":"hello","offset":1,"cols":0,"rows":24,"resumed":true}',
    '{"t":"hello","offset":1,"cols":80,"rows":24}',
    '{"t":"hello","offset":1,"cols":80,"rows":24,"resumed":true,"widths":[[5,4,1]]}',
    '{"t":"hello","offset":1,"cols":80,"rows":24,"resumed":true,"widths":[[1,1,3]]}',
    '{"t":"hello","offset":1,"cols":80,"rows":24,"resumed":true,"widths":[[0,99999,1]]}',
    '{"t":"snapshot","offset":1.5,"cols":80,"rows":24,"data":""}',
    '{"t":"size","c":"80","r":24}',
    '{"t":"ack","seq":"1"}',
    '{"t":"link"}',
  ])("passes over %s", (text) => {
    expect(parseFrame(text)).toBeUndefined();
  });
});

describe("pieces", () => {
  test("one piece where it fits, none of nothing", () => {
    expect(pieces("abc")).toEqual(["abc"]);
    expect(pieces("")).toEqual([]);
  });

  test("the pieces are the text and none is too long", () => {
    const text = "x".repeat(INPUT_CHARS * 2 + 5);
    const found = pieces(text);
    expect(found.join("")).toBe(text);
    expect(found.every((piece) => piece.length <= INPUT_CHARS)).toBe(true);
  });

  test("no piece cuts a surrogate pair", () => {
    expect(pieces("ab😀😀", 3)).toEqual(["ab", "😀", "😀"]);
  });
});
