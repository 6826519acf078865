import { describe, expect, test, vi } from "vitest";
import { closeText, handleFrame } from "./link.ts";
import { findSpan, placeAt, insertText } from "./state.ts";
import { RATE, Resampler, toPcm16 } from "./resample.ts";
import { wholeOf } from "./speech.ts";

const tone = (hertz: number, rate: number, seconds: number): Float32Array =>
  Float32Array.from({ length: rate * seconds }, (_, n) => 0.5 * Math.sin((2 * Math.PI * hertz * n) / rate));

/** As the sound's thread hands it over. */
function inBlocks(sound: Float32Array, from: number): number[] {
  const resampler = new Resampler(from);
  const out: number[] = [];
  for (let at = 0; at < sound.length; at += 128) out.push(...resampler.push(sound.subarray(at, at + 128)));
  out.push(...resampler.end());
  return out;
}

const power = (sound: readonly number[]): number =>
  sound.reduce((sum, sample) => sum + sample * sample, 0) / sound.length;

const decibels = (signal: number, noise: number): number => 10 * Math.log10(signal / noise);

describe.each([44_100, 48_000, 96_000, 16_000, 8_000])("from %i Hz", (from) => {
  test.each([100, 440, 1_000, 3_000])("a tone of %i Hz is the same tone", (hertz) => {
    const out = inBlocks(tone(hertz, from, 1), from);
    expect(Math.abs(out.length - RATE)).toBeLessThanOrEqual(1);
    const wanted = [...tone(hertz, RATE, 1)];
    // The edges have silence beside them.
    const middle = { from: 800, to: RATE - 800 };
    const error = out.slice(middle.from, middle.to).map((each, n) => each - (wanted[middle.from + n] ?? 0));
    expect(decibels(power(wanted), power(error))).toBeGreaterThan(60);
  });

  test("in blocks as in one piece", () => {
    const sound = tone(700, from, 0.25);
    const whole = new Resampler(from);
    const once = [...whole.push(sound), ...whole.end()];
    expect(inBlocks(sound, from)).toEqual(once);
  });
});

test.each([
  [44_100, 9_000],
  [48_000, 9_000],
  [48_000, 15_900],
  [48_000, 20_000],
])("from %i Hz a tone of %i Hz, which does not fit, does not come back as another", (from, hertz) => {
  const out = inBlocks(tone(hertz, from, 1), from).slice(800, -800);
  expect(decibels(0.125, power(out))).toBeGreaterThan(60);
});

test("a rate that no microphone has", () => {
  for (const rate of [0, 4_000, 44_100.5, 44_101, Number.NaN])
    expect(() => new Resampler(rate)).toThrow(RangeError);
});

test("PCM is cut where it does not fit", () => {
  expect([...toPcm16(Float32Array.from([0, 1, -1, 2, -2, 0.5]))]).toEqual([
    0, 32_767, -32_768, 32_767, -32_768, 16_384,
  ]);
});

describe("the place in the box", () => {
  const say = (draft: string, caret: number, ...texts: string[]) => {
    let place = placeAt(draft, caret);
    let now = draft;
    for (const text of texts) ({ place, draft: now } = insertText(place, text));
    return { place, draft: now };
  };

  test("words grow where the caret was, with blanks around", () => {
    expect(say("", 0, "run", "run the tests").draft).toBe("run the tests");
    expect(say("please", 6, "run").draft).toBe("please run");
    expect(say("please , thanks", 7, "run it").draft).toBe("please run it, thanks");
    expect(say("ab", 1, "x", "").draft).toBe("ab");
  });

  test("what is typed around it meanwhile stays", () => {
    const { place } = say("first. ", 7, "then this");
    const moved = findSpan(place, "First of all. then this!");
    expect(moved).toEqual({ before: "First of all. ", said: "then this", after: "!" });
    expect(insertText(moved ?? place, "then that").draft).toBe("First of all. then that!");
  });

  test("what is changed in it is the person's", () => {
    const { place } = say("", 0, "then this");
    for (const draft of ["", "then his", "then this then this"])
      expect(findSpan(place, draft)).toBeUndefined();
    expect(findSpan(placeAt("ab", 1), "abc")).toBeUndefined();
  });
});

test("frames", () => {
  const told = { text: vi.fn(), problem: vi.fn(), over: vi.fn() };
  for (const frame of ['{"t":"ready"}', "7", '{"t":"transcript"}', '{"t":"closed"}'])
    handleFrame(frame, told);
  expect(told.text).not.toHaveBeenCalled();
  handleFrame('{"t":"transcript","text":"hi","final":true}', told);
  expect(told.text).toHaveBeenCalledWith("hi", true);
  handleFrame('{"t":"error","message":"no"}', told);
  expect(told.problem).toHaveBeenCalledWith("no");
});

test("what a close says", () => {
  expect(closeText(1000, "")).toBeUndefined();
  expect(closeText(4004, "expired")).toContain("has expired");
  expect(closeText(4004, "the speech service refused the dictation")).toContain("refused");
  for (const code of [1006, 1001, 4003, 4008]) expect(closeText(code, "")).toBeTruthy();
});

test("the browser's results are one text", () => {
  const results = [[{ transcript: " run the" }], [{ transcript: "" }], [{ transcript: " tests " }]];
  expect(wholeOf(results.map((each) => Object.assign(each, { isFinal: true })))).toBe("run the tests");
});
