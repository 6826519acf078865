/** Files that are brought into the workspace, by drop or button, each with its progress. */
import { Button } from "../../ui/Button.tsx";
import { useEffect, useRef, useState } from "preact/hooks";
import { formatError } from "../../api/errors.ts";
import { formatBytes } from "../../lib/format.ts";
import { copyText } from "../../ui/clipboard.ts";
import { Icon } from "../../ui/Icon.tsx";
import { IconButton } from "../../ui/IconButton.tsx";
import { FILE_MAX, type Sending, upload } from "./upload.ts";

interface Item {
  key: number;
  name: string;
  size: number;
  /** 0 to 1. */
  part: number;
  path?: string;
  problem?: string;
}

/** Of one session at a time; the rest waits (protocol-files). */
const AT_ONCE = 3;
/** Rows in sight; the oldest that is done goes. */
const ROWS_MAX = 20;

let lastKey = 0;

function useUploads(id: string) {
  const [items, setItems] = useState<readonly Item[]>([]);
  const running = useRef(new Map<number, Sending>());
  const waiting = useRef<[number, File][]>([]);
  useEffect(
    () => () => {
      waiting.current = [];
      for (const { cancel } of running.current.values()) cancel();
    },
    [],
  );
  const change = (key: number, part: Partial<Item>) =>
    setItems((before) => before.map((each) => (each.key === key ? { ...each, ...part } : each)));
  const drop = (key: number) => setItems((before) => before.filter((each) => each.key !== key));
  const next = () => {
    while (running.current.size < AT_ONCE) {
      const [key, file] = waiting.current.shift() ?? [];
      if (key === undefined || file === undefined) return;
      const sending = upload(id, file, (part) => change(key, { part }));
      running.current.set(key, sending);
      void sending.done
        .then(
          ({ path }) => change(key, { part: 1, path }),
          (error: unknown) =>
            error instanceof DOMException ? drop(key) : change(key, { problem: formatError(error) }),
        )
        .finally(() => {
          running.current.delete(key);
          next();
        });
    }
  };
  const add = (files: readonly File[]) => {
    const fresh = files.map((file): [Item, File] => [
      { key: ++lastKey, name: file.name, size: file.size, part: 0 },
      file,
    ]);
    const refused = (file: File) =>
      file.size > FILE_MAX && { problem: `Larger than ${formatBytes(FILE_MAX)}.` };
    const rows = fresh.map(([item, file]): Item => ({ ...item, ...refused(file) }));
    setItems((before) => [...before, ...rows].slice(-ROWS_MAX));
    waiting.current.push(
      ...fresh.filter(([, file]) => !refused(file)).map(([item, file]): [number, File] => [item.key, file]),
    );
    next();
  };
  const cancel = (key: number) => {
    waiting.current = waiting.current.filter(([each]) => each !== key);
    const sending = running.current.get(key);
    if (sending) sending.cancel();
    else drop(key);
  };
  return { items, add, cancel };
}

function ItemRow({ item, onCancel }: { item: Item; onCancel: () => void }) {
  const { path, problem } = item;
  const going = path === undefined && problem === undefined;
  return (
    <li class="upload" data-testid="upload" data-state={going ? "going" : problem ? "failed" : "done"}>
      <bdi title={path ?? item.name}>{item.name}</bdi>
      {going && <progress max={1} value={item.part} aria-label={`Uploading ${item.name}`} />}
      {problem !== undefined && <span class="field-problem">{problem}</span>}
      {path !== undefined && (
        <IconButton icon="copy" label={`Copy the path of ${item.name}`} onClick={() => void copyText(path)} />
      )}
      <IconButton
        icon="close"
        label={going ? `Cancel ${item.name}` : `Remove ${item.name} from the list`}
        onClick={onCancel}
        testid="upload-cancel"
      />
    </li>
  );
}

const filesOf = (data: DataTransfer | null): File[] => [...(data?.files ?? [])];

export function UploadBar({ id }: { id: string }) {
  const { items, add, cancel } = useUploads(id);
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const dropped = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    add(filesOf(event.dataTransfer));
  };
  return (
    <div
      class="uploads"
      data-over={over}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={dropped}
      data-testid="uploads"
    >
      <ul aria-label="Uploads" role="list">
        {items.map((item) => (
          <ItemRow key={item.key} item={item} onCancel={() => cancel(item.key)} />
        ))}
      </ul>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          add([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }}
        data-testid="upload-input"
      />
      <Button onClick={() => input.current?.click()} testid="upload-button">
        <Icon name="up" size={16} /> Upload or drop files here
      </Button>
    </div>
  );
}
