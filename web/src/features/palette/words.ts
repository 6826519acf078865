/** Other words for what the palette offers: everyday ones, and those of VS Code and tmux. */

/** By the entry's key; without those that its label has already. */
export const WORDS: Readonly<Record<string, string>> = {
  // Sessions
  new: "create add start launch spawn agent prompt terminal window task new-session new-window tab",
  "session-answer": "approve allow permit accept yes confirm permission respond reply deny reject question",
  "session-interrupt": "stop cancel abort break escape ctrl+c sigint halt pause",
  "session-search": "find grep lookup find-window text",
  "session-history": "logs log output scrollback copy-mode transcript backlog capture-pane buffer",
  "session-Rename": "name title label rename-session rename-window",
  "session-Pin": "favourite favorite keep top star",
  "session-Unpin": "favourite favorite star",
  "session-Colour": "color tag mark label",
  "session-Copy folder path": "cwd pwd directory clipboard where location",
  "session-Move up": "reorder sort swap-window move-window left earlier",
  "session-Move down": "reorder sort swap-window move-window right later",
  "session-Start": "run restart respawn-pane relaunch attach resume reopen",
  "session-Detach": "detach-client leave background disown",
  "session-Close":
    "kill terminal end quit exit terminate delete remove kill-session kill-pane kill-window editor",
  // Commands
  "command-next-blocked": "waiting attention needs blocked inbox jump permission",
  "command-previous": "previous-window back last editor switch-client",
  "command-next": "next-window forward editor switch-client cycle",
  "command-tabs": "tabs choose-tree choose-window list-sessions ls switcher",
  "command-prompt": "composer message chat input write ask type",
  "command-quote": "send-keys send-prefix escape raw literal prefix bind",
  "command-zoom-in": "zoom bigger increase enlarge font",
  "command-zoom-out": "zoom smaller decrease shrink font",
  "command-zoom-reset": "zoom reset font default actual",
  "command-panel": "side pane secondary bar hide show aside",
  "command-sidebar": "side bar primary hide show list tree rail",
  // Terminals side by side
  layout: "split compare side-by-side pane panes grid split-window select-layout tiled columns editor",
  "layout-1": "single alone only break-pane unsplit",
  "layout-Maximize cell": "zoom resize-pane fullscreen zen restore",
  "layout-Show all cells": "zoom resize-pane unzoom restore",
  "layout-Close cell": "kill-pane hide editor group",
  cell: "select-pane pane move focus editor group",
  // Themes
  theme: "dark light color colour appearance mode night day contrast",
  // Pages
  "page-fleet": "dashboard overview all agents home board status monitor",
  "page-approvals":
    "approve approvals permission permissions waiting pending notifications bell questions",
  "page-restore": "reboot recover lost again",
  "page-cases": "projects project folder worktree clone repository repo open",
  "page-conversations": "resume chats transcripts past sessions continue fork log claude timeline",
  "page-files": "upload download explorer browse tree folder editor quick open attach",
  "page-git":
    "git diff commit branch worktree scm source control staged unstaged status review pull request compare",
  "page-hosts": "ssh machines server explorer connect",
  "page-containers": "docker podman sandbox isolation dev image",
  "page-webtabs": "browser preview simple port localhost site url",
  "page-cron": "nightly cron schedule daily weekly timer recurring automation tasks",
  "page-timed": "loop continue endless overnight timed autopilot",
  "page-devices": "phone mobile qr pair sign-in tunnel scan tablet",
  "page-tokens": "api key secret access credentials",
  "page-users": "accounts people members team roles",
  "page-audit": "security events who trail activity",
  "page-clis": "install cli claude codex gemini opencode tools extensions",
  "page-models": "llm custom provider ollama endpoint openai",
  "page-mcp": "tools extensions plugins integrations",
  "page-doctor": "diagnose health check problems troubleshoot version",
  "page-shared": "share received",
  "page-settings": "preferences options configuration config password set-option",
  "page-help": "help keys keybindings hotkeys bindings list-keys cheatsheet",
};

/** By the label of a setting. */
export const SETTING_WORDS: Readonly<Record<string, string>> = {
  Theme: "dark light appearance mode",
  Sessions: "sidebar tabs list rail",
  "Start on Fleet": "home startup begin",
  "Terminal colours": "palette color scheme iterm import",
  Font: "family face typeface mono",
  "Text size": "font",
  "Line height": "spacing rows",
  "Blinking cursor": "caret",
  Scrollback: "buffer lines history-limit",
  "Copy on select": "clipboard selection",
  "Allow programs to copy (OSC 52)": "clipboard",
  "Use Option as Meta key": "alt mac",
  "Screen reader": "accessibility a11y voiceover",
  "Prompt box": "composer message",
  "Enter sends the prompt": "newline return submit",
  Inbox: "approvals permission",
  "Plan usage": "limits quota cost tokens",
  "Suggest prompts": "ideas light bulb",
  "Notify on this device": "push desktop alerts",
  Sound: "audio beep bell mute",
  "Restore sessions after a reboot": "restart resume startup",
  "Server name": "title display",
  "New sessions run": "default agent shell mode",
  "Default folder": "cwd working directory start",
  "History size": "history-limit lines",
  "Folders that are asked about": "trust security",
};

/** Sections of the settings. */
export const PART_WORDS: Readonly<Record<string, string>> = {
  account: "password sign-in sign-out logout user",
  look: "dark light theme font zoom color",
  terminal: "clipboard cursor",
  notifications: "alerts push sound telegram",
  service: "server host",
  webhook: "slack discord ntfy hook",
};
