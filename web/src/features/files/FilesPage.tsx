/** The files of the session in front: found, looked at, changed, followed, fetched and added to. */
import { useEffect } from "preact/hooks";
import { readNow } from "../git/state.ts";
import { activeSession } from "../../store/state.ts";
import "./files.css";
import { FileView } from "./FileView.tsx";
import { opened } from "./state.ts";
import { TreePane } from "./TreePane.tsx";
import { UploadBar } from "./UploadBar.tsx";

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
