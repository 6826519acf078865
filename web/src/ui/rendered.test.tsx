// @vitest-environment happy-dom
/** The rules that every list and form is held to do find something. */
import { expect, test } from "vitest";
import { listViolations, show } from "./rendered.ts";

test.each([
  [
    "label-content-name-mismatch",
    <button type="button" aria-label="Save">
      Send it
    </button>,
  ],
  [
    "heading-order",
    <>
      <h2>One</h2>
      <h4>Two</h4>
    </>,
  ],
  ["button-name", <button type="button" />],
])("%s", async (rule, component) => {
  const { container } = show(component);
  expect((await listViolations(container)).join()).toContain(`${rule}:`);
});
