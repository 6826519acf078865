/** What is no text: a picture, a PDF, sound, film, or the first bytes of anything else. */
import { formatBytes } from "../../lib/format.ts";
import { HexHead } from "./HexHead.tsx";
import { PdfPreview } from "./Preview.tsx";
import type { Media, Opened } from "./types.ts";
import { useLink } from "./useLink.ts";

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

export function MediaView({ file, media }: { file: Opened; media: Media }) {
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
