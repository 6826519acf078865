/** What can be done with one session, as menu items. */
import type { SnoozeChoice } from "../../api/calls.ts";
import type { Session } from "../../api/types.ts";
import { openResults } from "../checks/state.ts";
import { openReview } from "../review/open.ts";
import { FILES_PAGE, GIT_PAGE, openPage } from "../../ui/pages/registry.ts";
import { sessions } from "../../store/state.ts";
import { copyText } from "../../ui/clipboard.ts";
import { type MenuItem, menuAt } from "../../ui/menu.ts";
import { close, detach, move, pin, recolor, snooze, start } from "./actions.ts";
import { select } from "../../ui/pages/select.ts";
import { writeName } from "./naming.ts";
import { COLORS, livePid } from "./status.ts";

function colourItems(session: Session): MenuItem[] {
  return COLORS.map((color) => ({
    label: color === "default" ? "No colour" : `${color[0]?.toUpperCase()}${color.slice(1)}`,
    swatch: color,
    checked: session.color === color,
    act: () => void recolor(session.id, color),
  }));
}

function snoozeItems(session: Session): MenuItem[] {
  const item = (label: string, until: SnoozeChoice | undefined): MenuItem => ({
    label,
    act: () => void snooze(session.id, until),
  });
  return [
    item("For 30 minutes", "30m"),
    item("Until tomorrow", "tomorrow"),
    item("Until it asks", "asks"),
    ...(session.snooze ? [item("Unmute", undefined)] : []),
  ];
}

/** @param x @param y where the menu of colours opens, in the window's pixels. */
export function sessionItems(session: Session, x: number, y: number): MenuItem[] {
  const at = sessions.value.findIndex((each) => each.id === session.id);
  const running = livePid(session) !== null;
  return [
    { label: "Rename", icon: "lines", keys: "F2", act: () => void writeName(session) },
    {
      label: session.pinned ? "Unpin" : "Pin",
      icon: "pin",
      act: () => void pin(session.id, !session.pinned),
    },
    { label: "Colour", swatch: session.color, act: () => menuAt("Colour", colourItems(session), x, y) },
    {
      label: "Mute notifications",
      icon: "bell",
      checked: session.snooze !== undefined,
      act: () => menuAt("Mute notifications", snoozeItems(session), x, y),
    },
    {
      label: "Files",
      icon: "folder",
      act: () => {
        select(session.id);
        openPage.value = FILES_PAGE;
      },
    },
    {
      label: "Changes",
      icon: "branch",
      act: () => {
        select(session.id);
        openPage.value = GIT_PAGE;
      },
    },
    { label: "Review", icon: "eye", act: () => openReview(session.id) },
    { label: "Checks", icon: "check", act: () => (openResults.value = session.id) },
    { label: "Copy folder path", icon: "copy", act: () => void copyText(session.workingDir) },
    {
      label: "Move up",
      icon: "left",
      disabled: at <= 0,
      act: () => void move(session.id, at - 1),
      group: true,
    },
    {
      label: "Move down",
      icon: "right",
      disabled: at >= sessions.value.length - 1,
      act: () => void move(session.id, at + 1),
    },
    { label: "Start", icon: "play", disabled: running, act: () => void start(session.id), group: true },
    { label: "Detach", disabled: !running, act: () => void detach(session.id) },
    { label: "Close", icon: "close", danger: true, keys: "Del", act: () => void close(session.id) },
  ];
}

export function openSessionMenu(session: Session, x: number, y: number): void {
  menuAt(`Session ${session.name}`, sessionItems(session, x, y), x, y);
}
