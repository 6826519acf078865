/** The settings by name, for the palette: the page itself comes when it is opened. */

/** By the id of their part, in the page's words. */
export const SETTING_NAMES: Readonly<Record<string, readonly string[]>> = {
  look: [
    "Theme",
    "Sessions",
    "Start on Fleet",
    "Terminal colours",
    "Font",
    "Text size",
    "Line height",
    "Blinking cursor",
  ],
  terminal: [
    "Scrollback",
    "Copy on select",
    "Allow programs to copy (OSC 52)",
    "Use Option as Meta key",
    "Screen reader",
  ],
  agents: [
    "Prompt box",
    "Enter sends the prompt",
    "Inbox",
    "Other agents in the inbox",
    "Plan usage",
    "Skip the first-run questions",
    "Tell when an agent hangs",
    "Nudge agents that hang",
    "Suggest prompts",
    "Restore sessions after a reboot",
    "Save terminal screens",
  ],
  notifications: ["Notify on this device", "Answer from notifications", "Sound"],
  service: [
    "Server name",
    "New sessions run",
    "Default folder",
    "Background of unwatched terminals",
    "Folders that are asked about",
    "History size",
  ],
  webhook: ["Send messages"],
};
