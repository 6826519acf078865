/** The code of the notice comes with the first host that is away. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Session } from "../api/types.ts";
import { failed } from "../ui/toasts.ts";
import { type Away, away } from "./state.ts";

export function AwayHost({ session }: { session: Session }) {
  const [Notice, setNotice] = useState<ComponentType<{ session: Session; told: Away }>>();
  const told = away.value.get(session.id);
  const wanted = told !== undefined;
  useEffect(() => {
    if (!wanted || Notice) return;
    import("./AwayNotice.tsx").then(
      ({ AwayNotice }) => setNotice(() => AwayNotice),
      (error: unknown) => failed("The notice could not be loaded", error),
    );
  }, [wanted]);
  return told && Notice ? <Notice session={session} told={told} /> : null;
}
