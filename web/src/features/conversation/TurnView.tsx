/** One turn, drawn only near the window: a long conversation has thousands. */
import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plural } from "../../lib/format.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { type MenuItem, menuUnder } from "../../ui/menu.ts";
import { showToast } from "../../store/toasts.ts";
import { openReview, type TurnSpan } from "../review/open.ts";
import { useSurroundings } from "./context.ts";
import { describeFigures, type Item, listChangedPaths, sumFigures, toMarkdown, type Turn } from "./items.ts";
import { ItemView } from "./ItemView.tsx";
import { showInTerminal } from "./jump.ts";

/** Pixels beyond the window within which a turn is drawn. */
const NEAR = "1500px 0px";
/** Pixels of an item that was never drawn. */
const GUESSED = 48;

type Hear = (near: boolean) => void;

/** One observer for all turns of a list. */
export class NearWindow {
  readonly #heard = new WeakMap<Element, Hear>();
  readonly #observer: IntersectionObserver;

  constructor(root: Element) {
    this.#observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) this.#heard.get(target)?.(isIntersecting);
      },
      { root, rootMargin: NEAR },
    );
  }

  watch(place: Element, hear: Hear): () => void {
    this.#heard.set(place, hear);
    this.#observer.observe(place);
    return () => this.#observer.unobserve(place);
  }

  close(): void {
    this.#observer.disconnect();
  }
}

export const NearContext = createContext<NearWindow | undefined>(undefined);

async function copied(text: string): Promise<void> {
  if (await copyText(text)) showToast("good", "Copied");
  else showToast("bad", "This browser does not let the page copy");
}

export function linkTo(sessionId: string, item: string): string {
  const url = new URL(location.href);
  url.search = new URLSearchParams({ session: sessionId, item }).toString();
  url.hash = "";
  return url.href;
}

function actions(turn: Turn, sessionId: string | undefined): MenuItem[] {
  const items: MenuItem[] = [
    { label: "Copy as Markdown", icon: "copy", act: () => void copied(toMarkdown(turn.items)) },
  ];
  if (sessionId === undefined) return items;
  items.push({
    label: "Copy link",
    icon: "send",
    act: () => void copied(linkTo(sessionId, turn.key)),
  });
  items.push({
    label: "Find in the terminal",
    icon: "search",
    act: () => void showInTerminal(sessionId, turn.items),
  });
  const answer = turn.items.findLast(({ role, kind }) => role === "assistant" && kind === "text");
  if (answer && turn.prompt)
    items.push({
      label: "Find the answer in the terminal",
      icon: "search",
      act: () => void showInTerminal(sessionId, [answer]),
    });
  return items;
}

/** @returns when the turn began and ended, if the agent noted it. */
function spanTurn({ prompt, items }: Turn): TurnSpan | undefined {
  const from = prompt?.at;
  const to = items.at(-1)?.at;
  return typeof from === "number" && typeof to === "number" ? { from, to } : undefined;
}

interface Props {
  turn: Turn;
  shown: readonly Item[];
  /** Drawn wherever it stands. */
  forced: boolean;
  marked: ReadonlySet<string>;
}

function Content({ turn, shown, marked }: Omit<Props, "forced">) {
  const { sessionId } = useSurroundings();
  const figures = useMemo(() => sumFigures(turn.items), [turn]);
  const changed = useMemo(() => listChangedPaths(turn.items), [turn]);
  const at = turn.items[0]?.at ?? null;
  return (
    <>
      {shown.map((item) => (
        <div key={item.id} class="talk-item" data-item={item.id} data-marked={marked.has(item.id)}>
          <ItemView item={item} below={turn.children.get(item.id) ?? []} />
        </div>
      ))}
      <footer class="talk-foot">
        {sessionId !== undefined && changed.length > 0 && (
          <Button
            small
            onClick={() => openReview(sessionId, changed[0], changed, spanTurn(turn))}
            testid="conversation-turn-review"
          >
            <Icon name="eye" size={14} /> Review {plural(changed.length, "file")}
          </Button>
        )}
        <small>
          {at !== null && (
            <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>
          )}
          {figures && <span data-testid="conversation-figures"> · {describeFigures(figures)}</span>}
        </small>
        <IconButton
          icon="more"
          label="Turn actions"
          onClick={(event) => menuUnder("Turn", actions(turn, sessionId), event.currentTarget as Element)}
          testid="conversation-turn-actions"
        />
      </footer>
    </>
  );
}

export function TurnView({ turn, shown, forced, marked }: Props) {
  const window_ = useContext(NearContext);
  const place = useRef<HTMLElement>(null);
  const height = useRef(shown.length * GUESSED);
  const [near, setNear] = useState(forced);
  useEffect(() => {
    const element = place.current;
    if (!element || !window_) return;
    return window_.watch(element, (now) => {
      if (!now && element.dataset["drawn"] === "true") height.current = element.offsetHeight;
      setNear(now);
    });
  }, [window_]);
  const drawn = near || forced;
  const content = useMemo(
    () => (drawn ? <Content turn={turn} shown={shown} marked={marked} /> : null),
    [drawn, turn, shown, marked],
  );
  return (
    <article
      ref={place}
      class="talk-turn"
      tabIndex={-1}
      aria-label={turn.prompt ? `Prompt: ${(turn.prompt.text ?? "").slice(0, 80)}` : "Continued"}
      data-turn={turn.key}
      data-drawn={drawn}
      style={drawn ? undefined : { height: `${height.current}px` }}
      data-testid="conversation-turn"
    >
      {content}
    </article>
  );
}
