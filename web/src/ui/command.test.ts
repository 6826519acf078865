import { describe, expect, test } from "vitest";
import { partsOf } from "./command.ts";

const shown = (text: string): string =>
  partsOf(text)
    .filter(({ kind }) => kind !== "blank")
    .map((part) => `${part.kind}:${part.text}`)
    .join(" ");

describe("words of a command line", () => {
  test.each([
    ["rm -rf build", "program:rm option:-rf word:build"],
    [
      "cd a && make test | tee log",
      "program:cd word:a operator:&& program:make word:test operator:| program:tee word:log",
    ],
    ['echo "a # b" $HOME # done', 'program:echo string:"a # b" variable:$HOME comment:# done'],
    ["CI=1 sudo apt install x", "word:CI=1 program:sudo program:apt word:install word:x"],
    ["ls > out 2>&1", "program:ls operator:> word:out operator:2>&1"],
    ["a\nb", "program:a program:b"],
    ["git commit -m 'it''s", "program:git word:commit option:-m string:'it' string:'s"],
    ["echo a#b ${x} \\", "program:echo word:a#b variable:${x} word:\\"],
  ])("%s", (text, words) => {
    expect(shown(text)).toBe(words);
  });

  test("nothing is lost or added", () => {
    for (const text of ["", "$", '"', "''\"$(x)`y`", "a\\\n b", "😀 $😀 \0", "\u2028x;;;"])
      expect(
        partsOf(text)
          .map((part) => part.text)
          .join(""),
      ).toBe(text);
  });
});
