/** Hands a file, or a folder as an archive, to the browser's own downloads. */
import { serviceUrl } from "../../api/paths.ts";
import { showError } from "../../store/toasts.ts";
import { makeLink } from "./requests.ts";

export async function downloadFile(id: string, path: string): Promise<void> {
  try {
    const link = document.createElement("a");
    link.href = serviceUrl(await makeLink(id, path, true), document.baseURI);
    link.download = "";
    link.click();
  } catch (error) {
    showError("Couldn't download the file", error);
  }
}
