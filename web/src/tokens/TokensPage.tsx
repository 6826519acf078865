/** Keys of one's own for programs. */
import { useEffect, useState } from "preact/hooks";
import { dateText } from "../lib/ago.ts";
import { sessionList } from "../store/state.ts";
import { Icon } from "../ui/Icon.tsx";
import { Problem } from "../ui/Problem.tsx";
import { Secret } from "../ui/Secret.tsx";
import { useFocusBack } from "../ui/useFocusBack.ts";
import { useNow } from "../ui/useNow.ts";
import type { Token } from "./calls.ts";
import { NewToken } from "./NewToken.tsx";
import { labelOf } from "./scopes.ts";
import { openTokens, revoke, shownOnce, tokens, trouble } from "./state.ts";
import { endsSoon, example, expiryText, reachText, usedText } from "./words.ts";
import "../ui/styles/records.css";

const nameOf = (id: string): string | undefined => sessionList.value.byId.get(id)?.name;

function Row({ token, now }: { token: Token; now: number }) {
  return (
    <li class="record" data-testid="token">
      <span class="record-mark" aria-hidden="true">
        <Icon name="key" size={16} />
      </span>
      <div class="record-main">
        <span class="record-title">
          <strong>{token.name}</strong>
          <span
            class="tag"
            data-tone={endsSoon(token, now) ? "warn" : "plain"}
            title={token.expiresAt === null ? undefined : dateText(token.expiresAt)}
          >
            {expiryText(token, now)}
          </span>
        </span>
        <span class="tags">
          {token.scopes.map((id) => (
            <span class="tag" data-tone={id === "admin" ? "warn" : "accent"} key={id} title={id}>
              {labelOf(id)}
            </span>
          ))}
        </span>
        <small>
          {usedText(token, now)} · {reachText(token, nameOf)}
        </small>
      </div>
      <button
        type="button"
        class="button small"
        aria-label={`Revoke ${token.name}`}
        onClick={() => void revoke(token)}
        data-testid="token-revoke"
      >
        Revoke
      </button>
    </li>
  );
}

function JustMade() {
  const made = shownOnce.value;
  if (!made) return null;
  return (
    <>
      <Secret
        title={`Token “${made.name}”`}
        secret={made.token}
        hint="It is shown only now: the service keeps no copy of it. Send it as “Authorization: Bearer …”, never in an address."
        onDone={() => (shownOnce.value = undefined)}
      />
      <pre class="example" aria-label="Example">
        {example(document.baseURI)}
      </pre>
    </>
  );
}

function None() {
  return (
    <p class="records-none dim">
      No token yet. A script that has one needs no password, and can do only what you allow it.
    </p>
  );
}

export function TokensPage() {
  const [creating, setCreating] = useState(false);
  const opener = useFocusBack(creating);
  const now = useNow();
  useEffect(openTokens, []);
  const list = tokens.value;
  return (
    <div class="records-page" data-testid="tokens">
      <div class="records-bar">
        <span class="dim">For scripts and programs, with a part of your rights.</span>
        {!creating && (
          <button
            ref={opener}
            type="button"
            class="button primary"
            onClick={() => setCreating(true)}
            data-testid="new-token"
          >
            <Icon name="plus" size={16} /> New token
          </button>
        )}
      </div>
      {creating && <NewToken onClose={() => setCreating(false)} />}
      <JustMade />
      <Problem text={trouble.value} />
      {list?.length === 0 && !creating && <None />}
      <ul class="records">
        {list?.map((token) => (
          <Row key={token.id} token={token} now={now} />
        ))}
      </ul>
    </div>
  );
}
