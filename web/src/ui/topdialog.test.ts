import { expect, test } from "vitest";
import { comeToFront, topDialog } from "./topdialog.ts";

test("the last one that is still open is in front, whichever closes first", () => {
  const [page, question] = ["page", "question"].map((name) => ({ name }) as unknown as HTMLElement);
  const closePage = comeToFront(page as HTMLElement);
  const closeQuestion = comeToFront(question as HTMLElement);
  expect(topDialog.value).toBe(question);
  closePage();
  expect(topDialog.value).toBe(question);
  closeQuestion();
  expect(topDialog.value).toBeUndefined();
});
