/** A build of the packaged image: how far it is, what it prints, and its end. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import type { ContainerHostResponse } from "../../api/types.ts";
import { CoalescedRead } from "../../lib/coalescedread.ts";
import { Icon } from "../../ui/Icon.tsx";
import { type ContainersState, readBuildLog } from "./useContainers.ts";
import { buildText } from "./texts.ts";

/** @param turn read again whenever it is another one. */
function Log({ id, turn }: { id: string; turn: string }) {
  const [lines, setLines] = useState<readonly string[]>();
  const [problem, setProblem] = useState("");
  const box = useRef<HTMLPreElement>(null);
  const reads = useRef<CoalescedRead | undefined>(undefined);
  useEffect(() => {
    reads.current ??= new CoalescedRead(async (outdated) => {
      try {
        const found = await readBuildLog(id);
        if (!outdated()) setLines(found.lines);
      } catch (error) {
        setProblem(formatError(error));
      }
    });
    void reads.current.now();
  }, [id, turn]);
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  if (problem !== "") return <p class="field-problem">{problem}</p>;
  return (
    <pre
      ref={box}
      class="example container-log"
      tabIndex={0}
      aria-label="Build output"
      data-testid="build-log"
    >
      {lines === undefined
        ? "Loading…"
        : lines.length === 0
          ? "No builds since the server started."
          : lines.join("\n")}
    </pre>
  );
}

export function Build({ host, page }: { host: ContainerHostResponse; page: ContainersState }) {
  const [open, setOpen] = useState(false);
  const running = page.builds[host.id];
  const ended = page.ends[host.id];
  return (
    <div class="container-build">
      {running && (
        <div class="container-progress" data-testid="build-progress">
          <progress
            max={100}
            aria-label={`Building the image for ${host.label}`}
            {...(running.percent !== null && { value: running.percent })}
          />
          <span role="status">{buildText({ ...running, image: running.image || host.image })}</span>
          {running.line !== "" && !open && <code class="container-line">{running.line}</code>}
        </div>
      )}
      {!running && ended !== undefined && (
        <p class="host-found" data-ok={ended === ""} role="status" data-testid="build-end">
          <Icon name={ended === "" ? "check" : "alert"} size={15} />
          <span>{ended === "" ? "Image built." : ended}</span>
        </p>
      )}
      {open && <Log id={host.id} turn={`${running?.line} ${running?.percent} ${ended}`} />}
      <div class="host-actions">
        {running ? (
          <button
            type="button"
            class="button small"
            aria-label={`Cancel the build for ${host.label}`}
            onClick={() => page.cancel(host.id)}
            data-testid="build-cancel"
          >
            Cancel
          </button>
        ) : (
          <button
            type="button"
            class="button small"
            aria-label={`Build image for ${host.label}`}
            onClick={() => page.build(host.id)}
            data-testid="build-start"
          >
            Build image
          </button>
        )}
        <button
          type="button"
          class="button small"
          aria-expanded={open}
          aria-label={`Log of the build for ${host.label}`}
          onClick={() => setOpen(!open)}
          data-testid="build-log-open"
        >
          Log
        </button>
      </div>
    </div>
  );
}
