/** What is no text: a picture, a PDF, sound, film, or the first bytes of anything else. */
import { bytes } from "../lib/format.ts";
import { save } from "./download.ts";
import { HexHead } from "./HexHead.tsx";
import type { Media, Opened } from "./types.ts";
import { useLink } from "./useLink.ts";

function Shown({ url, file, media }: { url: string; file: Opened; media: Media }) {
  const name = media.path.slice(media.path.lastIndexOf("/") + 1);
  if (media.type === "image")
    return <img class="media-image" src={url} alt={name} data-testid="media-image" />;
  if (media.type === "audio") return <audio controls src={url} aria-label={name} data-testid="media-audio" />;
  if (media.type === "video")
    return <video controls src={url} aria-label={name} class="media-video" data-testid="media-video" />;
  return (
    <>
      <iframe class="media-pdf" sandbox="" src={url} title={name} data-testid="media-pdf" />
      <p class="files-note">
        Some browsers show no PDF in a closed frame.{" "}
        <button type="button" class="button small" onClick={() => void save(file.sessionId, file.path)}>
          Download it
        </button>
      </p>
    </>
  );
}

export function MediaView({ file, media }: { file: Opened; media: Media }) {
  const { url, problem } = useLink(file);
  if (media.type === "binary")
    return (
      <div class="media">
        <p class="files-note">
          {media.tooLarge ? `Text of ${bytes(media.size)}, too large to be shown whole.` : "Not a text."} Its
          first bytes:
        </p>
        <HexHead file={file} />
      </div>
    );
  return (
    <div class="media">
      {problem !== "" && <p class="field-problem">{problem}</p>}
      {url !== undefined && <Shown url={url} file={file} media={media} />}
    </div>
  );
}
