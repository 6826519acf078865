// @vitest-environment happy-dom
/** What the palette finds of the whole page: by everyday words, and by those of VS Code and tmux. */
import { screen, waitFor } from "@testing-library/preact";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { FakeService } from "../api/fakeservice.ts";
import { SESSION } from "../api/sample.ts";
import type { Session } from "../api/types.ts";
import { setInbox } from "../features/approvals/state.ts";
import { ALONE } from "../features/grid/layout.ts";
import { layout, roomy } from "../features/grid/state.ts";
import { type Entry, listEntries } from "../features/palette/entries.ts";
import { Palette } from "../features/palette/Palette.tsx";
import { searchEntries } from "../features/palette/search.ts";
import { PART_WORDS, SETTING_WORDS, WORDS } from "../features/palette/words.ts";
import { PART_NAMES, wantedSetting } from "../features/settings/parts.ts";
import { SETTING_NAMES } from "../features/settings/settingnames.ts";
import { SettingsPage } from "../features/settings/SettingsPage.tsx";
import { COMMANDS } from "../features/shortcuts/commands.ts";
import { type Action, formatKeysOf } from "../features/shortcuts/table.ts";
import { me } from "../store/me.ts";
import { DEFAULTS, prefs } from "../store/prefs.ts";
import { createSessionList } from "../store/sessions.ts";
import { activeId, clis, sessionList } from "../store/state.ts";
import { openMenu } from "../ui/menu.ts";
import { paletteOpen } from "../ui/pages/openpanels.ts";
import { availablePages, openPage, registerPage } from "../ui/pages/registry.ts";
import { show } from "../ui/rendered.ts";
import { registerFeatures } from "./features.ts";
import { listPageItems } from "./pagesmenu.ts";

const NAMES = ["Gemini review", "fix the diff viewer", "web-shop checkout", "nightly build"];
const ALL = NAMES.map((name, at): Session => {
  const id = `s${at}`;
  return { ...SESSION, id, name, mode: "primary", workingDir: `/srv/${at}`, pid: 7, pinned: at === 1 };
});

const WEBHOOK = { enabled: false, kind: "generic", scope: "attention", hasUrl: false, urlMasked: null };
const ADMIN = {
  role: "admin",
  username: "ann",
  multiUser: true,
  mustChangePassword: false,
} as unknown as NonNullable<typeof me.value>;

beforeAll(registerFeatures);

beforeEach(() => {
  new FakeService().on("GET /api/webhook", WEBHOOK);
  localStorage.clear();
  me.value = ADMIN;
  sessionList.value = createSessionList(ALL);
  activeId.value = "s0";
  prefs.value = { ...DEFAULTS, theme: "system" };
  roomy.value = true;
  layout.value = ALONE;
  setInbox(() => [
    { id: "s0:1", sessionId: "s0", sessionName: "x", kind: "permission", createdAt: 1, frame: "f" },
  ]);
});

const found = (letters: string): string[] =>
  searchEntries(listEntries(), letters)
    .filter(({ entry }) => !entry.session)
    .map(({ entry }) => entry.key);

describe("everyday words lead where people want to go", () => {
  test.each([
    ["git", "page-git"],
    ["diff", "page-git page-review"],
    ["commit", "page-git"],
    ["branch", "page-git"],
    ["worktree", "page-git page-cases"],
    ["phone", "page-devices"],
    ["nightly", "page-cron"],
    ["dark", "theme-dark"],
    ["theme", "theme-dark setting-look-Theme"],
    ["approve", "session-answer page-approvals"],
    ["inbox", "page-approvals"],
    ["split", "layout-2"],
    ["compare", "layout-2 page-git"],
    ["upload", "page-files"],
    ["resume", "page-conversations"],
    ["kill", "session-Close"],
    ["password", "page-settings setting-account"],
    ["zoom", "command-zoom-in"],
    ["logs", "session-history"],
    ["font", "setting-look-Font"],
    ["new", "new"],
    ["rename", "session-Rename"],
    ["close", "session-Close"],
    ["search", "session-search"],
    ["files", "page-files"],
    ["settings", "page-settings"],
    ["help", "page-help command-help"],
    ["answer", "session-answer"],
    ["stop", "session-interrupt"],
    ["copy path", "session-Copy folder path"],
    ["next", "command-next command-next-blocked"],
  ])("%s", (word, wanted) => {
    const keys = wanted.split(/ (?=page|theme|setting|command|session)/);
    expect(keys).toContain(found(word)[0]);
  });
});

describe("words of VS Code and tmux lead to the same", () => {
  test.each([
    ["source control", "page-git"],
    ["explorer", "page-files"],
    ["quick open", "page-files"],
    ["split editor", "layout-2"],
    ["side bar", "command-sidebar"],
    ["toggle panel", "command-panel"],
    ["color theme", "theme-dark"],
    ["keyboard shortcuts", "page-help"],
    ["keybindings", "page-help"],
    ["preferences", "page-settings"],
    ["kill terminal", "session-Close"],
    ["new terminal", "new"],
    ["docker", "page-containers"],
    ["ssh", "page-hosts"],
    ["tasks", "page-cron"],
    ["new-session", "new"],
    ["kill-session", "session-Close"],
    ["rename-window", "session-Rename"],
    ["detach-client", "session-Detach"],
    ["split-window", "layout-2"],
    ["select-layout", "layout-2"],
    ["next-window", "command-next"],
    ["previous-window", "command-previous"],
    ["choose-tree", "command-tabs"],
    ["copy-mode", "session-history"],
    ["capture-pane", "session-history"],
    ["send-keys", "command-quote"],
    ["list-keys", "page-help"],
    ["find-window", "session-search"],
  ])("%s", (words, key) => {
    expect(found(words)[0]).toBe(key);
  });

  test("pane and zoom of tmux, where terminals stand side by side", () => {
    layout.value = { ...ALONE, count: 2, cells: ["s0", "s1"], front: "s0" };
    expect(found("select-pane")[0]).toMatch(/^cell-/);
    expect(found("resize-pane")[0]).toBe("layout-Maximize cell");
    expect(found("kill-pane").slice(0, 2)).toContain("layout-Close cell");
    expect(found("break-pane")[0]).toBe("layout-1");
  });
});

/** Every entry that there can be. */
function listAll(): Entry[] {
  const one = listEntries();
  layout.value = { ...ALONE, count: 2, cells: ["s0", "s1"], front: "s1" };
  activeId.value = "s1";
  sessionList.value = createSessionList(ALL.map((session) => ({ ...session, pid: null })));
  openPage.value = "shared";
  const two = listEntries();
  layout.value = { ...layout.value, zoomed: true };
  const three = listEntries();
  openPage.value = undefined;
  return [...one, ...two, ...three];
}

test("the menu has at most five pages in sight, and every other page in the menu of its area", () => {
  setInbox(() => []);
  registerPage({ id: "another", title: "Another", icon: "log", order: 99, load: async () => () => null });
  const button = document.createElement("button");
  const items = listPageItems(button);
  const areas = items.filter((item) => item.opensMenu);
  expect(areas.map((item) => item.label)).toEqual(["Work", "Machines", "Access", "About"]);
  const leaves = items.filter((item) => item.label.startsWith("Sign out"));
  expect(items.length - areas.length - leaves.length).toBe(5);
  const inside = areas.flatMap((area) => {
    area.act();
    return openMenu.value?.items.map((item) => `${area.label}: ${item.label}`) ?? [];
  });
  expect(inside.length + 5).toBe(availablePages().length);
  expect(inside).toContain("Work: Another");
  expect(inside).toContain("Access: Users");
});

test("each command shows its key", () => {
  const keys = new Set(listAll().map((entry) => entry.keys));
  const missing = (Object.keys(COMMANDS) as Action[]).filter((action) => !keys.has(formatKeysOf(action)));
  // Digits lead to sessions, arrows to cells and counts to layouts, one by one; the palette is open.
  expect(missing.toSorted()).toEqual(["cell", "cells", "goto", "palette"]);
});

test("other words belong to something", () => {
  const known = new Set(listAll().map((entry) => entry.key));
  // For all of their kind.
  for (const key of ["layout", "cell", "theme"]) known.add(key);
  // Where something can be restored.
  known.add("page-restore");
  expect(Object.keys(WORDS).filter((key) => !known.has(key))).toEqual([]);
  expect(Object.keys(PART_WORDS).filter((id) => !PART_NAMES.some((part) => part.id === id))).toEqual([]);
  const names = Object.values(SETTING_NAMES).flat();
  expect(Object.keys(SETTING_WORDS).filter((label) => !names.includes(label))).toEqual([]);
});

test("a command that was used comes first, with its key", async () => {
  const { user } = show(<Palette />);
  paletteOpen.value = true;
  const field = screen.getByTestId("palette-field");
  await user.type(field, "dark{Enter}");
  await waitFor(() => expect(prefs.value.theme).toBe("dark"));
  prefs.value = { ...prefs.value, theme: "light" };
  const again = show(<Palette />);
  const [first] = again.container.querySelectorAll("[data-testid=palette-row]");
  expect(first?.textContent).toContain("Dark theme");
});

test("settings are those of the page, and one that was chosen has the keyboard", async () => {
  clis.value = [];
  show(<SettingsPage />);
  const parts = Object.keys(SETTING_NAMES);
  const rows = (part: string) => [
    ...(document.getElementById(`settings-${part}`)?.querySelectorAll(".setting") ?? []),
  ];
  for (const part of parts)
    for (const name of SETTING_NAMES[part] ?? [])
      await waitFor(() => {
        const texts = rows(part).map((row) => row.textContent.trim());
        expect(texts.filter((text) => text.startsWith(name)).length, `${part}: ${name}`).toBeGreaterThan(0);
      });
  wantedSetting.value = { part: "look", setting: "Line height" };
  await waitFor(() => expect(document.activeElement?.getAttribute("data-testid")).toBe("line-height"));
});
