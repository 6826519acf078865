/** The conversation of a sub-agent, below the call that began it. */
import type { VNode } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { Button } from "../../ui/Button.tsx";
import { SurroundingsProvider, useSurroundings } from "./context.ts";
import { groupTurns, type Item } from "./items.ts";
import { Conversation } from "./source.ts";

type Draw = (item: Item, below: readonly Item[]) => VNode;

function Items({ items, draw }: { items: readonly Item[]; draw: Draw }) {
  const turns = groupTurns(items);
  return (
    <div class="talk-branch" role="group" aria-label="Sub-agent" data-testid="conversation-branch">
      {turns.flatMap((turn) => turn.items.map((item) => draw(item, turn.children.get(item.id) ?? [])))}
    </div>
  );
}

function Branch({ id, draw }: { id: string; draw: Draw }) {
  const around = useSurroundings();
  const conversation = useMemo(
    () => new Conversation(around.conversation.reader.branch(id)),
    [around.conversation, id],
  );
  useEffect(() => conversation.start(), [conversation]);
  const here = useMemo(() => ({ ...around, conversation }), [around, conversation]);
  if (conversation.problem.value !== "")
    return (
      <p class="field-problem" role="alert">
        {conversation.problem.value}
      </p>
    );
  if (!conversation.loaded.value) return <p class="dim">Loading…</p>;
  return (
    <SurroundingsProvider value={here}>
      {conversation.hasOlder.value && (
        <Button small onClick={() => void conversation.loadOlder()}>
          Show earlier
        </Button>
      )}
      <Items items={conversation.items.value} draw={draw} />
    </SurroundingsProvider>
  );
}

interface Props {
  branch: string | undefined;
  below: readonly Item[];
  /** Draws one item with those of its own sub-agent. */
  draw: Draw;
}

export function SubAgent({ branch, below, draw }: Props) {
  return branch === undefined ? <Items items={below} draw={draw} /> : <Branch id={branch} draw={draw} />;
}
