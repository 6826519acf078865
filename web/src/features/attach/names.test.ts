// @vitest-environment happy-dom
import { beforeEach, describe, expect, test } from "vitest";
import { keepName, nameAttached, nameUploads, splitUploads } from "./names.ts";

const PASTE = "paste-1795809061728-c6498219.png";
const UPLOADS = "/w/.service-uploads";

describe("the name of an attached file", () => {
  const picture = (name: string) => ({ name, type: "image/png" });
  test("is its own, or its number where the browser has none", () => {
    expect(nameAttached(picture("red.png"), 1)).toBe("red.png");
    for (const name of ["", "image.png", "blob"]) expect(nameAttached(picture(name), 1)).toBe("Picture 2");
    expect(nameAttached({ name: "image.csv", type: "text/csv" }, 0)).toBe("image.csv");
  });
});

describe("uploads in a text", () => {
  beforeEach(() => localStorage.clear());

  test("have the names that they were attached with", () => {
    keepName(PASTE, "red.png");
    expect(nameUploads(`@${UPLOADS}/${PASTE} what is this?`)).toBe("[red.png] what is this?");
    expect(splitUploads(`see ${UPLOADS}/${PASTE}`)).toEqual([
      "see ",
      { name: "red.png", path: `${UPLOADS}/${PASTE}` },
    ]);
  });

  test("are numbered where nobody knows a name", () => {
    const other = PASTE.replace("c6", "d7");
    expect(nameUploads(`@${UPLOADS}/${PASTE} @${UPLOADS}/${other}`)).toBe("[Picture 1] [Picture 2]");
  });

  test("keep the name that is in the stored one", () => {
    const path = `${UPLOADS}/upload-1795809061728-c6498219-data.csv`;
    expect(nameUploads(`Read ${path}, then`)).toBe("Read [data.csv], then");
  });

  test("are found in a folder with spaces", () => {
    expect(nameUploads(`@/my own/.service-uploads/${PASTE} x`, "/my own")).toBe("[Picture 1] x");
  });

  test("are all that is changed", () => {
    const text = "paste-1-a.png and /w/paste-1-a.png\n.service-uploads/notes";
    expect(nameUploads(text)).toBe(text);
  });

  test("have names for as long as their number is kept", () => {
    for (let n = 0; n < 150; n += 1) keepName(`paste-${n}-ab.png`, `n${n}.png`);
    expect(nameUploads(".service-uploads/paste-149-ab.png")).toBe("[n149.png]");
    expect(nameUploads(".service-uploads/paste-49-ab.png")).toBe("[Picture 1]");
    localStorage.setItem("tservice.uploads", "{");
    expect(nameUploads(".service-uploads/paste-149-ab.png")).toBe("[Picture 1]");
  });
});
