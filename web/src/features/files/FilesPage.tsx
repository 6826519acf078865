/** The files of the session in front: found, looked at, changed, followed, fetched and added to. */
import { Button } from "../../ui/Button.tsx";
import { useState, useEffect } from "preact/hooks";
import { formatBytes } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { downloadFile, useLink } from "./requests.ts";
import { Follow } from "./Follow.tsx";
import { isMarkdown, PREVIEW_MAX } from "./markdown/places.ts";
import { canReveal } from "./keys.ts";
import { opened, type Content, type Opened, type Text, type Media } from "./state.ts";
import { TextView } from "./TextView.tsx";
import { type Loaded, useContent } from "./useContent.ts";
import { readHead } from "./raw.ts";
import { PdfPreview } from "./Preview.tsx";
import { readNow } from "../git/state.ts";
import { activeSession } from "../../store/state.ts";
import { useRead } from "../../store/resource.ts";
import { TreePane } from "./TreePane.tsx";
import { UploadBar } from "./UploadBar.tsx";
import "./files.css";
import "./preview.css";

const isText = (content: Content): content is Text => "content" in content;

const isPreviewed = (file: Opened, content: Content | undefined): boolean =>
  content !== undefined && isText(content) && isMarkdown(file.path) && content.content.length <= PREVIEW_MAX;

function Refused({ path, loaded }: { path: string; loaded: Loaded }) {
  return (
    <div class="files-none" role="alert" data-testid="file-refused">
      <Icon name="alert" size={24} />
      <p>{loaded.problem}</p>
      {loaded.status === 403 && canReveal(path) && (
        <>
          <small>This file may contain secrets. The audit log records who opens it.</small>
          <Button onClick={() => loaded.read(true)} testid="file-reveal">
            Show file
          </Button>
        </>
      )}
    </div>
  );
}

function Body({ file, loaded, preview }: { file: Opened; loaded: Loaded; preview: boolean }) {
  const { content } = loaded;
  if (loaded.problem !== "") return <Refused path={file.path} loaded={loaded} />;
  if (!content) return <p class="files-none">Loading…</p>;
  return isText(content) ? (
    <TextView key={loaded.turn} file={file} text={content} revealed={loaded.revealed} preview={preview} />
  ) : (
    <MediaView key={loaded.turn} file={file} media={content} />
  );
}

function FileView({ file }: { file: Opened }) {
  const loaded = useContent(file);
  const [following, setFollowing] = useState(false);
  const [asSource, setAsSource] = useState(file.line !== undefined);
  const { content } = loaded;
  const readable = isPreviewed(file, content);
  const preview = readable && !asSource;
  return (
    <>
      <div class="file-head">
        <IconButton
          icon="left"
          label="Back to files"
          class="files-back"
          onClick={() => (opened.value = undefined)}
          testid="file-back"
        />
        <h3 class="file-title" title={file.path}>
          <bdi>{file.path}</bdi>
          {content && <small>{formatBytes(content.size)}</small>}
        </h3>
        {readable && (
          <IconButton
            icon="eye"
            label="Show preview"
            pressed={preview}
            onClick={() => setAsSource(preview)}
            testid="file-preview"
          />
        )}
        {content && isText(content) && (
          <IconButton
            icon="pulse"
            label="Follow new lines"
            pressed={following}
            onClick={() => setFollowing(!following)}
            testid="file-follow"
          />
        )}
        <IconButton icon="refresh" label="Reload file" onClick={() => loaded.read(loaded.revealed)} />
        <IconButton
          icon="download"
          label="Download file"
          onClick={() => void downloadFile(file.sessionId, file.path)}
          testid="file-download"
        />
      </div>
      {following ? <Follow file={file} /> : <Body file={file} loaded={loaded} preview={preview} />}
    </>
  );
}

const HEAD_BYTES = 1024;
const WIDTH = 16;

export function hexOf(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += WIDTH) {
    const row = [...bytes.subarray(at, at + WIDTH)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "."));
    const halves = `${hex.slice(0, 8).join(" ")}  ${hex.slice(8).join(" ")}`;
    lines.push(`${at.toString(16).padStart(6, "0")}  ${halves.padEnd(WIDTH * 3)}  ${text.join("")}`);
  }
  return lines.join("\n");
}

function HexHead({ file }: { file: Opened }) {
  const { data: text, problem } = useRead(
    async (signal) => hexOf(await readHead(file, HEAD_BYTES, signal)),
    [file.sessionId, file.path],
  );
  if (problem !== "") return <p class="field-problem">{problem}</p>;
  return (
    <pre class="hex" tabIndex={0} aria-label="First bytes" data-testid="hex">
      {text ?? "Loading…"}
    </pre>
  );
}

function Shown({ url, media }: { url: string; media: Media }) {
  const name = media.path.slice(media.path.lastIndexOf("/") + 1);
  if (media.type === "image")
    return <img class="media-image" src={url} alt={name} data-testid="media-image" />;
  if (media.type === "audio") return <audio controls src={url} aria-label={name} data-testid="media-audio" />;
  return <video controls src={url} aria-label={name} class="media-video" data-testid="media-video" />;
}

function Linked({ file, media }: { file: Opened; media: Media }) {
  const { url, problem } = useLink(file);
  return (
    <div class="media">
      {problem !== "" && <p class="field-problem">{problem}</p>}
      {url !== undefined && <Shown url={url} media={media} />}
    </div>
  );
}

function MediaView({ file, media }: { file: Opened; media: Media }) {
  if (media.type === "pdf") return <PdfPreview file={file} media={media} />;
  if (media.type !== "binary") return <Linked file={file} media={media} />;
  return (
    <div class="media">
      <p class="files-note">
        {media.tooLarge
          ? `Text file of ${formatBytes(media.size)}, too large to show in full.`
          : (media.reason ?? "Not a text file.")}{" "}
        First bytes:
      </p>
      <HexHead file={file} />
    </div>
  );
}

export function FilesPage() {
  const session = activeSession.value;
  const id = session?.id;
  useEffect(() => {
    if (id !== undefined) void readNow(id);
    return () => {
      if (opened.peek()?.sessionId === id) opened.value = undefined;
    };
  }, [id]);
  if (!session || id === undefined) return null;
  const file = opened.value?.sessionId === id ? opened.value : undefined;
  return (
    <div class="files-page" data-view={file ? "file" : "tree"} data-testid="files">
      <div class="files-side">
        <TreePane key={id} id={id} />
        <UploadBar key={`up ${id}`} id={id} />
      </div>
      <div class="files-main">
        {file ? (
          <FileView key={`${file.path} ${file.line ?? ""}`} file={file} />
        ) : (
          <p class="files-none">Choose a file to open it.</p>
        )}
      </div>
    </div>
  );
}
