/** A session's whole history, read-only, with the service's own search. */
import { effect } from "@preact/signals";
import type { Terminal } from "@xterm/xterm";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchMatchResponse, TerminalResponse as Capture } from "../../api/types.ts";
import { Button } from "../../ui/Button.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { StageFrame } from "../../ui/pages/StageFrame.tsx";
import { plural } from "../../lib/format.ts";
import { darkSystem, prefs } from "../../store/prefs.ts";
import { hasConversationView, openConversation } from "../conversation/fromterminal.ts";
import { createScreen, optionsOf, SCROLLBAR } from "../terminal/create.ts";
import { getReportedWidths } from "../terminal/text/widths.ts";
import { historyOpen } from "../../ui/pages/openpanels.ts";
import { answerReads } from "../terminal/readhook.ts";
import { TouchScroll } from "../touch/scroll.ts";
import { asLines, withoutBlankEnd } from "./capture.ts";
import { countLines, mostRows, partsOf, findCell, rowFor } from "./rows.ts";
import { useCapture, QUERY_MOST, useMatches } from "./requests.ts";

export interface HistoryProps {
  sessionId: string;
  query: string;
}

const CELL_HEIGHT = 1.35;
/** Smaller than this share of the chosen size, letters are not read: then the rows are scrolled instead. */
const LEAST_SCALE = 0.75;

/** A phone's own rows, which the dialog around them has a little less room for, are shown whole. */
function fitWidth(host: HTMLElement, terminal: Terminal): void {
  const shown = host.querySelector(".xterm-screen")?.clientWidth ?? 0;
  const { paddingLeft, paddingRight } = getComputedStyle(host);
  const room = host.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - SCROLLBAR;
  const size = Math.floor((((terminal.options.fontSize ?? 0) * room) / shown) * 4) / 4;
  const least = prefs.peek().fontSize * LEAST_SCALE;
  if (shown > room && size >= least) terminal.options.fontSize = size;
}

function openCapture(sessionId: string, host: HTMLElement, capture: Capture, painted: () => void): Terminal {
  const { terminal, widths } = createScreen(prefs.peek(), darkSystem.peek());
  widths.tell(getReportedWidths(sessionId));
  const rows = Math.max(4, Math.floor(host.clientHeight / (prefs.peek().fontSize * CELL_HEIGHT)));
  terminal.options.scrollback = mostRows(capture.terminalBuffer, capture.captureCols) + rows;
  terminal.options.disableStdin = true;
  terminal.options.cursorBlink = false;
  terminal.resize(capture.captureCols, rows);
  terminal.open(host);
  fitWidth(host, terminal);
  terminal.write(asLines(withoutBlankEnd(capture.terminalBuffer)), () => {
    host.dataset["painted"] = "true";
    painted();
  });
  answerReads(host, terminal);
  new TouchScroll({
    lineHeight: () => host.clientHeight / rows,
    scroll: (lines) => terminal.scrollLines(lines),
  }).attach(host);
  return terminal;
}

/** The theme may change while the history is shown. */
function followColours(terminal: Terminal): () => void {
  return effect(() => {
    const { theme, minimumContrastRatio } = optionsOf(prefs.value, darkSystem.value, false);
    Object.assign(terminal.options, { theme, minimumContrastRatio });
  });
}

function SearchMatchResponse({
  match,
  length,
  onGo,
}: {
  match: SearchMatchResponse;
  length: number;
  onGo: () => void;
}) {
  const parts = partsOf(match.text, match.offset - (match.start ?? 0), length);
  return (
    <li>
      <button type="button" onClick={onGo} data-testid="history-match">
        <span class="match-line">{match.line + 1}</span>
        <code>
          {parts.before}
          <mark>{parts.match}</mark>
          {parts.after}
        </code>
      </button>
    </li>
  );
}

interface MatchesProps extends HistoryProps {
  /** The history is drawn, so that there is something to go to. */
  ready: boolean;
  onGo: (match: SearchMatchResponse) => void;
}

function Matches({ sessionId, query, ready, onGo }: MatchesProps) {
  const { result, problem } = useMatches(sessionId, query);
  useEffect(() => {
    const newest = result?.matches.at(-1);
    if (ready && newest) onGo(newest);
  }, [ready, result]);
  if (query === "") return null;
  if (problem !== undefined) return <p class="problem">{problem}</p>;
  if (!result) return <p class="dim">Searching…</p>;
  const count = plural(result.matches.length, "match", "matches");
  return (
    <div class="matches">
      <p class="dim" role="status">
        {result.truncated ? `the first ${count}` : count}
      </p>
      <ul>
        {result.matches.map((match) => (
          <SearchMatchResponse
            key={`${match.line}:${match.offset}`}
            match={match}
            length={[...query].length}
            onGo={() => onGo(match)}
          />
        ))}
      </ul>
    </div>
  );
}

export function HistoryView({ sessionId, query: first }: HistoryProps) {
  const host = useRef<HTMLDivElement>(null);
  const terminal = useRef<Terminal | undefined>(undefined);
  const [query, setQuery] = useState(first);
  const [ready, setReady] = useState(false);
  const { capture, problem } = useCapture(sessionId);
  useEffect(() => {
    if (!capture || !host.current) return;
    const opened = openCapture(sessionId, host.current, capture, () => setReady(true));
    terminal.current = opened;
    const unsubscribe = followColours(opened);
    return () => {
      unsubscribe();
      opened.dispose();
    };
  }, [capture]);
  const go = (match: SearchMatchResponse) => {
    const shown = terminal.current;
    if (!shown) return;
    const first = findCell(shown.buffer.active, match.line, match.offset);
    const last = findCell(shown.buffer.active, match.line, match.offset + [...query].length - 1);
    const cells = (last.row - first.row) * shown.cols + last.column - first.column + 1;
    shown.scrollToLine(rowFor(first.row, shown.rows));
    shown.select(first.column, first.row, cells);
  };
  const lines = capture ? plural(countLines(withoutBlankEnd(capture.terminalBuffer)), "line") : "";
  const more = capture?.truncated ? "; older lines were removed" : "";
  const close = () => (historyOpen.value = undefined);
  const toConversation = async () => {
    const shown = terminal.current;
    close();
    if (shown) await openConversation(sessionId, shown);
  };
  // In a search field Escape would only clear the words.
  const escape = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    close();
  };
  return (
    <StageFrame as="history" title="Full history" onClose={close} class="history" testid="history">
      <div class="history-tools">
        <input
          class="field"
          type="search"
          placeholder="Search full history"
          aria-label="Search full history"
          maxLength={QUERY_MOST}
          value={query}
          autofocus
          onInput={(event) => setQuery(event.currentTarget.value)}
          onKeyDown={escape}
          data-testid="history-query"
        />
        {ready && hasConversationView(sessionId) && (
          <Button small onClick={() => void toConversation()} testid="history-conversation">
            <Icon name="chat" size={14} /> Show in the conversation
          </Button>
        )}
        <span class="dim">{problem ?? (capture ? lines + more : "Loading…")}</span>
      </div>
      <div class="history-panes">
        <div ref={host} class="history-grid" data-testid="history-grid" />
        <Matches sessionId={sessionId} query={query.trim()} ready={ready} onGo={go} />
      </div>
    </StageFrame>
  );
}
