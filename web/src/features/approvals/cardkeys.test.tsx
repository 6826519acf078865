// @vitest-environment happy-dom
/** Keys of a list of cards. */
import { useRef } from "preact/hooks";
import { beforeEach, expect, test, vi } from "vitest";
import { show } from "../../ui/rendered.ts";
import { useCardKeys } from "./cardkeys.ts";

const pressed = vi.fn();

function Cards() {
  const list = useRef<HTMLDivElement>(null);
  useCardKeys(list);
  return (
    <dialog open>
      <h2 tabIndex={-1}>Inbox</h2>
      <div ref={list}>
        {["one", "two"].map((name) => (
          <article key={name} data-card tabIndex={-1} aria-label={name}>
            <button type="button" data-key="1" onClick={() => pressed(`${name} 1`)}>
              Yes
            </button>
            <button type="button" data-key="e" onClick={() => pressed(`${name} e`)}>
              Dismiss
            </button>
            <textarea aria-label={`answer ${name}`} />
          </article>
        ))}
      </div>
    </dialog>
  );
}

const focused = () => document.activeElement?.getAttribute("aria-label");

beforeEach(() => pressed.mockReset());

test("J and K go from card to card, also from the head of the page, and stop at the ends", async () => {
  const { container, user } = show(<Cards />);
  container.querySelector("h2")?.focus();
  await user.keyboard("j");
  expect(focused()).toBe("one");
  await user.keyboard("jj");
  expect(focused()).toBe("two");
  await user.keyboard("K");
  expect(focused()).toBe("one");
});

test("keys press the controls of the focused card alone", async () => {
  const { user } = show(<Cards />);
  await user.keyboard("1e");
  expect(pressed).not.toHaveBeenCalled();
  await user.keyboard("jj1e5");
  expect(pressed.mock.calls.flat()).toEqual(["two 1", "two e"]);
});

test("a held key and keys of the browser press nothing", async () => {
  const { container, user } = show(<Cards />);
  await user.keyboard("j{Control>}e{/Control}{Alt>}1{/Alt}");
  const card = container.querySelector("[data-card]");
  card?.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true, repeat: true }));
  expect(pressed).not.toHaveBeenCalled();
});

test("letters that are written go into their field", async () => {
  const { container, user } = show(<Cards />);
  const field = container.querySelector("textarea");
  field?.focus();
  await user.keyboard("je1");
  expect(field?.value).toBe("je1");
  expect(pressed).not.toHaveBeenCalled();
});

test("a list that something covers takes no key", async () => {
  const { container, user } = show(
    <div inert>
      <Cards />
    </div>,
  );
  await user.keyboard("j");
  expect(container.contains(document.activeElement)).toBe(false);
});
