import { stop, working } from "./state.ts";

export function StopButton() {
  return (
    <button
      type="button"
      class="button small"
      disabled={working.value !== ""}
      onClick={() => void stop()}
      data-testid="tunnel-stop"
    >
      {working.value === "stop" ? "Stopping…" : "Stop tunnel"}
    </button>
  );
}
