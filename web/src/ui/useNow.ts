import { useEffect, useState } from "preact/hooks";

const TICK_MS = 20_000;

/** The present in Unix milliseconds, often enough for texts in minutes. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
