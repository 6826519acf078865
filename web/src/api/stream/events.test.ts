import { expect, test, vi } from "vitest";
import { onServerEvent, dispatchServerEvent } from "./events.ts";

test("names and families hear, others do not, and ending works", () => {
  const heard: string[] = [];
  const ends = [
    onServerEvent("session:idle", (_data, name) => heard.push(`name ${name}`)),
    onServerEvent("session:", (data) => heard.push(`family ${String(data)}`)),
    onServerEvent("init", () => heard.push("init")),
  ];
  dispatchServerEvent("session:idle", 1);
  dispatchServerEvent("session:exit", 2);
  for (const end of ends) end();
  dispatchServerEvent("session:idle", 3);
  expect(heard).toEqual(["name session:idle", "family 1", "family 2"]);
});

test("a listener that fails keeps nobody else from hearing", () => {
  const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
  const heard: unknown[] = [];
  const ends = [
    onServerEvent("mcp:synced", () => {
      throw new Error("broken");
    }),
    onServerEvent("mcp:synced", (data) => heard.push(data)),
  ];
  dispatchServerEvent("mcp:synced", 1);
  for (const end of ends) end();
  expect(heard).toEqual([1]);
  expect(complaint).toHaveBeenCalledOnce();
  complaint.mockRestore();
});
