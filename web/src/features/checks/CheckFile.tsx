/** The checks that a repository brings in `.tservice.yaml`, and what lets them run. */
import { useState } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { CheckFileResponse } from "../../api/types.ts";
import { useRead } from "../../store/resource.ts";
import { showError } from "../../store/toasts.ts";
import { Button } from "../../ui/Button.tsx";
import { parseDiff, visible } from "../git/diff/diff.ts";
import { describeFailurePolicy, describeFile } from "./file.ts";
import "./checks.css";

/** Whose file it is. */
export interface FilePlace {
  read: (signal: AbortSignal) => Promise<CheckFileResponse>;
  approve: (hash: string) => Promise<unknown>;
  withdraw: () => Promise<unknown>;
}

const SIGNS: Readonly<Record<string, string>> = { add: "+", del: "−" };
const WORDS: Readonly<Record<string, string>> = { add: "added: ", del: "removed: " };

export const fileOfCase = (name: string): FilePlace => ({
  read: (signal) => api.get("/api/cases/{name}/checks/file", { path: { name }, signal }),
  approve: (hash) => api.put("/api/cases/{name}/checks/file", { path: { name }, body: { hash } }),
  withdraw: () => api.delete("/api/cases/{name}/checks/file", { path: { name } }),
});

export const fileOfSession = (id: string): FilePlace => ({
  read: (signal) => api.get("/api/sessions/{id}/checks/file", { path: { id }, signal }),
  approve: (hash) => api.put("/api/sessions/{id}/checks/file", { path: { id }, body: { hash } }),
  withdraw: () => api.delete("/api/sessions/{id}/checks/file", { path: { id } }),
});

function Commands({ file }: { file: CheckFileResponse }) {
  return (
    <>
      <ul class="check-commands">
        {file.checks.map(({ name, command, paths, timeoutSeconds }) => (
          <li key={name}>
            <strong>{name}</strong>{" "}
            <span class="dim">
              {timeoutSeconds} s{paths.length > 0 && `, ${paths.join(" ")}`}
            </span>
            <pre>{visible(command)}</pre>
          </li>
        ))}
      </ul>
      <p class="dim">{describeFailurePolicy(file)}</p>
    </>
  );
}

function Diff({ text }: { text: string }) {
  return (
    <div class="check-diff" tabIndex={0} role="group" aria-label="Changes" data-testid="check-file-diff">
      {parseDiff(text).map(({ kind, text: line }, at) => (
        <div key={at} data-kind={kind}>
          <span aria-hidden="true">{SIGNS[kind] ?? ""}</span>
          <code>
            {WORDS[kind] && <span class="sr-only">{WORDS[kind]}</span>}
            {visible(line)}
          </code>
        </div>
      ))}
    </div>
  );
}

interface Props {
  place: FilePlace;
  /** What it depends on: another one reads the file again. */
  of: string;
  /** The checks of the workspace itself are used instead. */
  overruled: boolean;
  onChange?: () => void;
}

export function CheckFile({ place, of, overruled, onChange }: Props) {
  const [asked, setAsked] = useState(0);
  const [busy, setBusy] = useState(false);
  const { data: file } = useRead(place.read, [of, asked]);
  const said = file && describeFile(file);
  if (!file || !said) return null;
  const { hash, state } = file;
  const act = async (call: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await call();
      onChange?.();
    } catch (error) {
      showError("Couldn't change which checks are used", error);
    } finally {
      setBusy(false);
      setAsked((count) => count + 1);
    }
  };
  return (
    <details class="check-file" open={state === "changed"} data-testid="check-file">
      <summary>{said}</summary>
      <div class="check-file-body">
        <p class="dim">
          They come from the file <code>.tservice.yaml</code>. Once you use them, they run as you after each
          turn of an agent.
          {overruled && " This workspace has checks of its own, which are used instead."}
        </p>
        {file.problem && <p>{visible(file.problem)}</p>}
        {file.diff && <Diff text={file.diff} />}
        {file.checks.length > 0 && <Commands file={file} />}
        <div class="check-file-buttons">
          {hash !== undefined && (state === "unapproved" || state === "changed") && (
            <Button
              small
              primary
              disabled={busy}
              onClick={() => void act(() => place.approve(hash))}
              testid="check-file-use"
            >
              Use these checks
            </Button>
          )}
          {file.approvedHash !== undefined && (
            <Button small disabled={busy} onClick={() => void act(place.withdraw)} testid="check-file-drop">
              Stop using them
            </Button>
          )}
        </div>
      </div>
    </details>
  );
}
