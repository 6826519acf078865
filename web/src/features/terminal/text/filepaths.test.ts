import { expect, test } from "vitest";
import { filesNamed } from "./filepaths.ts";

test.each([
  ["src/a.ts:12:5 - error", "src/a.ts", 12],
  ["(./lib/b.py:3)", "./lib/b.py", 3],
  ["at /srv/w/c.js:40", "/srv/w/c.js", 40],
  ["README.rst:7: warning", "README.rst", 7],
  ["  Makefile/x:2", "Makefile/x", 2],
  ['  File "/srv/w/d e.py", line 9, in f', "/srv/w/d e.py", 9],
])("%s", (text, path, line) => {
  const [place, ...more] = filesNamed(text);
  expect(place).toMatchObject({ path, line });
  expect(more).toEqual([]);
  expect(text.slice(place?.at, (place?.at ?? 0) + (place?.length ?? 0))).toContain(path);
});

test.each([
  "12:30:01",
  "127.0.0.1:8770",
  "http://localhost:8770/a",
  "https://example.org:443",
  "localhost:8770",
  "git@example.org:team/a",
  "a.ts:0",
  "key:12",
  "",
])("%j names no file", (text) => {
  expect(filesNamed(text)).toEqual([]);
});
