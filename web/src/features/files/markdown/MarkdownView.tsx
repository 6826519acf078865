/**
 * A markdown document as people read it. Its tree becomes elements one by one: no text of it is ever
 * taken for HTML, and nothing is fetched from where it points.
 */
import type { Definition, Nodes, Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import { Fragment, type VNode } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { sessionList } from "../../../store/state.ts";
import { copyText } from "../../../ui/clipboard.ts";
import { Icon } from "../../../ui/Icon.tsx";
import { Tokens } from "../../syntax/Tokens.tsx";
import { useColours } from "../../syntax/useColours.ts";
import { openFile } from "../state.ts";
import { useLink } from "../requests.ts";
import "./markdown.css";
import { slugOf, targetOf } from "./places.ts";

/** What every part of one document is drawn with. */
interface Document {
  /** Of which the document's links to files are; absent: they are only words. */
  file: { sessionId: string; path: string } | undefined;
  definitions: ReadonlyMap<string, Definition>;
}

interface Props<T extends Nodes["type"]> {
  node: Extract<Nodes, { type: T }>;
  of: Document;
}

export function parse(text: string): Root {
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

function textOf(node: Nodes): string {
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(textOf).join("") : "";
}

function Children({ node, of }: { node: Nodes; of: Document }) {
  if (!("children" in node)) return null;
  return node.children.map((each, number) => <Part key={number} node={each} of={of} />);
}

function goTo(event: MouseEvent, slug: string): void {
  const all = (event.currentTarget as Element)
    .closest(".markdown")
    ?.querySelectorAll<HTMLElement>("[data-slug]");
  [...(all ?? [])].find((each) => each.dataset["slug"] === slug)?.scrollIntoView({ block: "start" });
}

/** Agents name files by their whole path; the workspace's own begins at its folder. */
function withinWorkspace(url: string, sessionId: string | undefined): string {
  const folder = sessionId === undefined ? undefined : sessionList.peek().byId.get(sessionId)?.workingDir;
  return folder !== undefined && url.startsWith(`${folder}/`) ? url.slice(folder.length + 1) : url;
}

function targetIn({ file }: Document, url: string) {
  const target = targetOf(withinWorkspace(url, file?.sessionId), file?.path ?? "");
  if (target.kind !== "file") return target;
  return file ? { ...target, sessionId: file.sessionId } : ({ kind: "none" } as const);
}

function Link({ url, node, of }: { url: string; node: Nodes; of: Document }) {
  const target = targetIn(of, url);
  const words = <Children node={node} of={of} />;
  if (target.kind === "none") return words;
  if (target.kind === "web")
    return (
      <a href={target.url} target="_blank" rel="noopener noreferrer">
        {words}
      </a>
    );
  const act = (event: MouseEvent) =>
    target.kind === "file" ? openFile(target.sessionId, target.path, target.line) : goTo(event, target.slug);
  return (
    <button type="button" class="markdown-link" onClick={act}>
      {words}
    </button>
  );
}

function OwnImage({ file, alt }: { file: { sessionId: string; path: string }; alt: string }) {
  const { url } = useLink(file);
  return url === undefined ? <span class="dim">{alt}</span> : <img src={url} alt={alt} />;
}

/** A picture elsewhere would tell that place who reads this. */
function Image({ url, alt, of }: { url: string; alt: string; of: Document }) {
  const target = targetIn(of, url);
  if (target.kind === "file") return <OwnImage file={target} alt={alt} />;
  if (target.kind !== "web") return <span class="dim">{alt}</span>;
  return (
    <a href={target.url} target="_blank" rel="noopener noreferrer">
      {alt || "picture"}
    </a>
  );
}

function Heading({ node, of }: Props<"heading">) {
  // Below the name of the file, which is an h3.
  const Tag = `h${Math.min(6, node.depth + 3)}` as "h4";
  return (
    <Tag data-depth={node.depth} data-slug={slugOf(textOf(node))}>
      <Children node={node} of={of} />
    </Tag>
  );
}

function Table({ node, of }: Props<"table">) {
  const [head, ...rows] = node.children;
  const cells = (row: typeof head, Tag: "th" | "td") =>
    row?.children.map((cell, at) => (
      <Tag key={at} style={{ textAlign: node.align?.[at] ?? "start" }}>
        <Children node={cell} of={of} />
      </Tag>
    ));
  return (
    <div class="markdown-wide" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{cells(head, "th")}</tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>{cells(row, "td")}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Item({ node, of }: Props<"listItem">) {
  const task = typeof node.checked === "boolean";
  return (
    <li class={task ? "markdown-task" : ""}>
      {task && <input type="checkbox" checked={node.checked === true} disabled aria-label="Done" />}
      <div>
        <Children node={node} of={of} />
      </div>
    </li>
  );
}

function CodeBlock({ node }: { node: Extract<Nodes, { type: "code" }> }) {
  const [done, setDone] = useState(false);
  const copy = async () => setDone(await copyText(node.value));
  const place = useRef<HTMLDivElement>(null);
  const [colours] = useColours(place, [node.value], `:${node.lang ?? ""}`) ?? [];
  return (
    <div ref={place} class="markdown-code">
      <pre tabIndex={0} aria-label={node.lang ? `Code, ${node.lang}` : "Code"} role="region">
        <code>
          {colours
            ? colours.map((line, at) => (
                <Fragment key={at}>
                  {at > 0 && "\n"}
                  <Tokens tokens={line} />
                </Fragment>
              ))
            : node.value}
        </code>
      </pre>
      <button
        type="button"
        class="icon-button"
        aria-label={done ? "Copied" : "Copy the code"}
        title={done ? "Copied" : "Copy the code"}
        onClick={() => void copy()}
        data-testid="markdown-copy"
      >
        <Icon name={done ? "check" : "copy"} size={15} />
      </button>
    </div>
  );
}

const WRAPS = {
  root: Fragment,
  paragraph: "p",
  emphasis: "em",
  strong: "strong",
  delete: "del",
  blockquote: "blockquote",
  footnoteDefinition: "aside",
} as const;

function Part({ node, of }: { node: Nodes; of: Document }): VNode | string | null {
  if (node.type in WRAPS) {
    const Tag = WRAPS[node.type as keyof typeof WRAPS];
    return (
      <Tag>
        <Children node={node} of={of} />
      </Tag>
    );
  }
  switch (node.type) {
    case "text":
      return node.value;
    case "html":
      return <code class="markdown-raw">{node.value}</code>;
    case "inlineCode":
      return <code>{node.value}</code>;
    case "code":
      return <CodeBlock node={node} />;
    case "break":
      return <br />;
    case "thematicBreak":
      return <hr />;
    case "heading":
      return <Heading node={node} of={of} />;
    case "table":
      return <Table node={node} of={of} />;
    case "listItem":
      return <Item node={node} of={of} />;
    case "list": {
      const words = <Children node={node} of={of} />;
      return node.ordered ? <ol start={node.start ?? 1}>{words}</ol> : <ul>{words}</ul>;
    }
    case "link":
      return <Link url={node.url} node={node} of={of} />;
    case "image":
      return <Image url={node.url} alt={node.alt ?? ""} of={of} />;
    case "linkReference":
      return <Link url={of.definitions.get(node.identifier)?.url ?? ""} node={node} of={of} />;
    case "imageReference":
      return <Image url={of.definitions.get(node.identifier)?.url ?? ""} alt={node.alt ?? ""} of={of} />;
    case "footnoteReference":
      return <sup>{node.label ?? node.identifier}</sup>;
    default:
      return null;
  }
}

function definitionsIn(root: Root): Map<string, Definition> {
  const all = root.children.filter((each): each is Definition => each.type === "definition");
  return new Map(all.map((each) => [each.identifier, each]));
}

interface ViewProps {
  text: string;
  /** The document's own place; without a path it is text about the files of the session. */
  sessionId?: string;
  path?: string;
}

export function MarkdownView({ text, sessionId, path }: ViewProps) {
  const root = useMemo(() => parse(text), [text]);
  const of = useMemo(() => {
    const file = sessionId !== undefined && path !== undefined ? { sessionId, path } : undefined;
    return { file, definitions: definitionsIn(root) };
  }, [sessionId, path, root]);
  const isFile = path !== undefined && path !== "";
  return (
    <div
      class="markdown"
      tabIndex={isFile ? 0 : undefined}
      role={isFile ? "region" : undefined}
      aria-label={isFile ? "Preview" : undefined}
      data-testid="markdown"
    >
      <Part node={root} of={of} />
    </div>
  );
}
