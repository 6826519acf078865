/** A PDF, page by page; its code comes with the first one that is opened. */
import { bytes } from "../../lib/format.ts";
import { save } from "../download.ts";
import type { Media, Opened } from "../types.ts";
import { BYTES_MAX } from "./layout.ts";
import { Pages } from "./Pages.tsx";
import "./pdf.css";
import { usePdf } from "./usePdf.ts";

function Unread({ file, why }: { file: Opened; why: string }) {
  return (
    <div class="files-none" role="alert" data-testid="pdf-problem">
      <p>{why}</p>
      <button type="button" class="button" onClick={() => void save(file.sessionId, file.path)}>
        Download it
      </button>
    </div>
  );
}

function Read({ file, name }: { file: Opened; name: string }) {
  const { pdf, problem } = usePdf(file);
  if (problem !== "") return <Unread file={file} why={problem} />;
  return pdf ? <Pages pdf={pdf} name={name} /> : <p class="files-none">Reading…</p>;
}

export function PdfView({ file, media }: { file: Opened; media: Media }) {
  const name = media.path.slice(media.path.lastIndexOf("/") + 1);
  return (
    <div class="pdf">
      {media.size > BYTES_MAX ? (
        <Unread file={file} why={`${bytes(media.size)} are too large to be shown here.`} />
      ) : (
        <Read file={file} name={name} />
      )}
    </div>
  );
}
