// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
const { show } = await import("../../ui/rendered.ts");
const { drawText } = await import("./spaces.tsx");
const { changeView, parseView } = await import("./state.ts");

test("spaces and tabs get signs where they are wanted, and stay what they are", () => {
  const text = "\ta  b ";
  const signs = () => {
    const { container } = show(<code>{drawText(text)}</code>);
    expect(container.textContent).toBe(text);
    return [...container.querySelectorAll("[data-sign]")].map((each) => each.getAttribute("data-sign"));
  };
  expect(signs()).toEqual([]);
  changeView({ spaces: true });
  expect(signs()).toEqual(["→", "··", "·"]);
  expect(parseView(localStorage.getItem("tservice.review"), false).spaces).toBe(true);
});
