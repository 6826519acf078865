/** A comment of a person at the forge, and the way to make it one of yours. */
import type { ComponentChildren } from "preact";
import type { ForgeCommentItem } from "../../../api/types.ts";
import { Button } from "../../../ui/Button.tsx";
import { addComment, comments } from "../state.ts";

/** The most that a comment of yours may have. */
const LONGEST = 8000;

const quote = ({ author, text }: ForgeCommentItem): string => `${author}: ${text}`.slice(0, LONGEST);

/** Words that lead to the forge, where it said whereto. */
export function ForgeLink({ url, children }: { url: string; children: ComponentChildren }) {
  if (url === "") return <span>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

interface Props {
  session: string;
  repo: string;
  comment: ForgeCommentItem;
  /** Whether its lines are the same here. */
  takes: boolean;
}

export function ForgeComment({ session, repo, comment, takes }: Props) {
  const { path, line, author, text, url } = comment;
  const said = quote(comment);
  const taken = comments.value.some((own) => own.repo === repo && own.path === path && own.text === said);
  const take = async () => {
    if (line === undefined) return;
    await addComment(session, { repo, path }, { side: "new", line, endLine: line }, said, undefined);
  };
  return (
    <article class="forge-comment" data-testid="pull-comment">
      <small>
        <bdi>{author}</bdi>,{" "}
        <ForgeLink url={url}>
          <bdi>{line === undefined ? path : `${path}:${line}`}</bdi>
        </ForgeLink>
      </small>
      <p dir="auto">{text}</p>
      {takes && (
        <Button small disabled={taken} onClick={() => void take()} testid="pull-take">
          {taken ? "Taken over" : "Take over"}
        </Button>
      )}
    </article>
  );
}
