/** One file: its head with what can be done, and below it what is in it. */
import { useState } from "preact/hooks";
import { formatBytes } from "../../lib/format.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { downloadFile } from "./download.ts";
import { Follow } from "./Follow.tsx";
import { isMarkdown, PREVIEW_MAX } from "./markdown/places.ts";
import { MediaView } from "./MediaView.tsx";
import { canReveal } from "./secrets.ts";
import { opened } from "./state.ts";
import { TextView } from "./TextView.tsx";
import type { Content, Opened, Text } from "./types.ts";
import { type Loaded, useContent } from "./useContent.ts";

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
          <button type="button" class="button" onClick={() => loaded.read(true)} data-testid="file-reveal">
            Show file
          </button>
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

export function FileView({ file }: { file: Opened }) {
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
