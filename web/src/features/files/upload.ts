/** One form on its way up. XMLHttpRequest: `fetch` tells nothing of what was sent so far. */
import { unwrap } from "../../api/envelope.ts";
import { createUnreachableError } from "../../api/errors.ts";
import { KEY_HEADER, pageKey } from "../../api/key.ts";
import { serviceUrl, sessionPath } from "../../api/paths.ts";
import type { Kept } from "./state.ts";

/** Bytes of one file, of one picture (protocol-uploads). */
export const FILE_MAX = 100e6;
export const IMAGE_MAX = 50e6;

export interface Sending {
  done: Promise<Kept>;
  cancel: () => void;
}

function answerOf(request: XMLHttpRequest): unknown {
  const json = (request.getResponseHeader("Content-Type") ?? "").includes("json");
  return unwrap({ status: request.status, json, text: request.responseText });
}

function send<T>(path: string, form: FormData, progress: (part: number) => void) {
  const request = new XMLHttpRequest();
  const done = new Promise<T>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
    request.onload = () => {
      try {
        resolve(answerOf(request) as T);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    request.onerror = () => reject(createUnreachableError());
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
  });
  request.open("POST", serviceUrl(path, document.baseURI));
  request.setRequestHeader(KEY_HEADER, pageKey());
  request.setRequestHeader("Accept", "application/json");
  request.send(form);
  return { done, cancel: () => request.abort() };
}

const isImage = (file: File): boolean => /^image\/(png|jpeg|gif|webp|bmp|heic)$/.test(file.type);

/** @param progress is told what part of it is sent, 0 to 1. */
export function upload(id: string, file: File, progress: (part: number) => void): Sending {
  const form = new FormData();
  form.append("file", file, file.name || "file");
  const sent = send<{ files: Kept[] }>(sessionPath(id, "/uploads"), form, progress);
  const done = sent.done.then(({ files: [kept] }) => {
    if (!kept) throw new Error("The server did not save the file.");
    return kept;
  });
  return { done, cancel: sent.cancel };
}

/** A picture goes the way that gives it a name of its own, other files keep theirs. */
export function attach(id: string, file: File, progress: (part: number) => void): Sending {
  if (!isImage(file) || file.size > IMAGE_MAX) return upload(id, file, progress);
  const form = new FormData();
  form.append("image", file, file.name || "image");
  return send<Kept>(sessionPath(id, "/paste-image"), form, progress);
}
