/**
 * Questions in the output that a terminal would answer (its kind, the caret's place, colours).
 *
 * The multiplexer is the program's terminal and has answered them already. An answer of each
 * viewer would arrive as typed text.
 */
import type { IDisposable, IParser } from "@xterm/xterm";

const CSI_QUESTIONS = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { prefix: ">", final: "q" },
  { prefix: "?", final: "u" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { final: "t" },
  { final: "x" },
];

const DCS_QUESTIONS = [
  { intermediates: "$", final: "q" },
  { intermediates: "+", final: "q" },
];

/** Colour commands, which are questions where a value is `?`. */
const OSC_COLOURS = [4, 10, 11, 12, 17, 19];

export function asksColour(data: string): boolean {
  return data.split(";").includes("?");
}

export function silenceReports(parser: IParser): IDisposable[] {
  const handled = () => true;
  return [
    ...CSI_QUESTIONS.map((id) => parser.registerCsiHandler(id, handled)),
    ...DCS_QUESTIONS.map((id) => parser.registerDcsHandler(id, handled)),
    ...OSC_COLOURS.map((number) => parser.registerOscHandler(number, asksColour)),
  ];
}
