/** A PDF, page by page; its code comes with the first one that is opened. */
import { formatBytes } from "../../../lib/format.ts";
import { downloadFile } from "../download.ts";
import type { Media, Opened } from "../types.ts";
import { BYTES_MAX } from "./layout.ts";
import { Pages } from "./Pages.tsx";
import "./pdf.css";
import { usePdf } from "./usePdf.ts";

function Unread({ file, why }: { file: Opened; why: string }) {
  return (
    <div class="files-none" role="alert" data-testid="pdf-problem">
      <p>{why}</p>
      <button type="button" class="button" onClick={() => void downloadFile(file.sessionId, file.path)}>
        Download file
      </button>
    </div>
  );
}

function Read({ file, name }: { file: Opened; name: string }) {
  const { pdf, problem } = usePdf(file);
  if (problem !== "") return <Unread file={file} why={problem} />;
  return pdf ? <Pages pdf={pdf} name={name} /> : <p class="files-none">Loading…</p>;
}

export function PdfView({ file, media }: { file: Opened; media: Media }) {
  const name = media.path.slice(media.path.lastIndexOf("/") + 1);
  return (
    <div class="pdf">
      {media.size > BYTES_MAX ? (
        <Unread file={file} why={`This file (${formatBytes(media.size)}) is too large to show here.`} />
      ) : (
        <Read file={file} name={name} />
      )}
    </div>
  );
}
