/** Keys of one's own for programs. */
import { useEffect } from "preact/hooks";
import { formatDate } from "../../lib/ago.ts";
import { sessionList } from "../../store/state.ts";
import { Icon } from "../../ui/Icon.tsx";
import { ListPage } from "../../ui/ListPage.tsx";
import { Secret } from "../../ui/Secret.tsx";
import { useNow } from "../../ui/useNow.ts";
import type { TokenResponse } from "../../api/types.ts";
import { NewToken } from "./NewToken.tsx";
import { labelOf } from "./scopes.ts";
import { openTokens, revoke, shownOnce, tokens } from "./state.ts";
import { endsSoon, buildExample, describeExpiry, describeSessions, describeLastUse } from "./texts.ts";

const nameOf = (id: string): string | undefined => sessionList.value.byId.get(id)?.name;

function Row({ token, now }: { token: TokenResponse; now: number }) {
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
            title={token.expiresAt === null ? undefined : formatDate(token.expiresAt)}
          >
            {describeExpiry(token, now)}
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
          {describeLastUse(token, now)} · {describeSessions(token, nameOf)}
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
        hint="Copy it now; it won't be shown again. Send it as “Authorization: Bearer …”, never in a URL."
        onDone={() => (shownOnce.value = undefined)}
      />
      <pre class="example" aria-label="Example">
        {buildExample(document.baseURI)}
      </pre>
    </>
  );
}

export function TokensPage() {
  const now = useNow();
  useEffect(openTokens, []);
  return (
    <ListPage
      testid="tokens"
      summary="For scripts, with limited permissions."
      add={{ label: "New token", testid: "new-token", form: (close) => <NewToken onClose={close} /> }}
      problem={tokens.trouble.value}
      items={tokens.data.value}
      empty="No tokens yet. A script uses a token instead of a password and can do only what you allow."
      row={(token) => <Row key={token.id} token={token} now={now} />}
    >
      {() => <JustMade />}
    </ListPage>
  );
}
