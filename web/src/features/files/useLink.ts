/** An address of a file that the browser can fetch by itself. */
import { useEffect, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { serviceUrl } from "../../api/paths.ts";
import { makeLink } from "./requests.ts";

export function useLink({ sessionId, path }: { sessionId: string; path: string }) {
  const [url, setUrl] = useState<string>();
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    makeLink(sessionId, path, false).then(
      (found) => alive && setUrl(serviceUrl(found, document.baseURI)),
      (error: unknown) => alive && setProblem(formatError(error)),
    );
    return () => {
      alive = false;
    };
  }, [sessionId, path]);
  return { url, problem };
}
