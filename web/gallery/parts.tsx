/** The parts of the gallery, each a component of the page in all its states. */
import type { ComponentType } from "preact";
import { Empty } from "../src/shell/Empty.tsx";
import { StatusBar } from "../src/shell/StatusBar.tsx";
import { TopBar } from "../src/shell/TopBar.tsx";
import { ApprovalCard } from "../src/features/approvals/Inbox.tsx";
import { PasswordField } from "../src/features/auth/PasswordField.tsx";
import {
  Field,
  getErrorAttributes,
  NumberField,
  SegmentsField,
  Switch,
  TextField,
} from "../src/features/settings/fields.tsx";
import { Sidebar } from "../src/features/sidebar/Sidebar.tsx";
import { KeyBar } from "../src/features/touch/KeyBar.tsx";
import { askQuestion } from "../src/ui/ask.ts";
import { Brand } from "../src/ui/Brand.tsx";
import { Command } from "../src/ui/Command.tsx";
import { Icon, ICONS } from "../src/ui/Icon.tsx";
import { IconButton } from "../src/ui/IconButton.tsx";
import { menuUnder } from "../src/ui/menu.ts";
import { Problem } from "../src/ui/Problem.tsx";
import { Secret } from "../src/ui/Secret.tsx";
import { showToast } from "../src/store/toasts.ts";
import { ITEMS, NOW } from "./state.ts";

const nothing = (): void => undefined;

const SURFACES = ["ground", "surface", "raised", "sunken", "card", "hover", "terminal"] as const;
const INKS = ["text", "dim", "accent", "done", "idle", "busy", "warn", "bad"] as const;
const SIZES = ["f-1", "f-2", "f-3", "f-4", "f-5"] as const;

function Tokens() {
  return (
    <>
      <ul class="gallery-row">
        {SURFACES.map((name) => (
          <li key={name} class="gallery-surface" style={{ background: `var(--${name})` }}>
            {name}
          </li>
        ))}
      </ul>
      <ul class="gallery-row">
        {INKS.map((name) => (
          <li key={name} style={{ color: name === "idle" ? undefined : `var(--${name})` }}>
            <i class="gallery-ink" style={{ background: `var(--${name})` }} /> {name}
          </li>
        ))}
      </ul>
      {SIZES.map((name) => (
        <p key={name} style={{ fontSize: `var(--${name})` }}>
          {name}: agents wait for nobody
        </p>
      ))}
    </>
  );
}

function Buttons() {
  return (
    <div class="gallery-row">
      <button type="button" class="button primary">
        Primary
      </button>
      <button type="button" class="button">
        Usual
      </button>
      <button type="button" class="button danger">
        End and close
      </button>
      <button type="button" class="button" disabled>
        Disabled
      </button>
      <button type="button" class="button small">
        Small
      </button>
      <button type="button" class="button large">
        <Icon name="plus" /> Large <kbd>Alt+N</kbd>
      </button>
      <IconButton icon="search" label="Search" onClick={nothing} />
      <IconButton icon="panel" label="Panel" pressed onClick={nothing} />
      <IconButton icon="close" label="Close this" disabled onClick={nothing} />
      <span class="badge">AG</span>
      <span class="count">3</span>
      <span class="count warn">4</span>
      <span class="tag" data-tone="accent">
        admin
      </span>
      <span class="tag" data-tone="warn">
        locked
      </span>
      <kbd>Ctrl+K</kbd>
      <span class="spinner" />
    </div>
  );
}

const LOOKS = [
  "busy",
  "done",
  "idle",
  "attention",
  "paused",
  "error",
  "stopped",
  "ended",
  "detached",
] as const;

function Marks() {
  return (
    <ul class="gallery-row">
      {LOOKS.map((look) => (
        <li key={look}>
          <span class="dot" data-state={look} /> {look}
        </li>
      ))}
      <li>
        <span class="dot" data-state="busy" data-stale="true" /> last known
      </li>
    </ul>
  );
}

function Icons() {
  return (
    <ul class="gallery-row gallery-icons">
      <li>
        <Brand />
      </li>
      {ICONS.map((name) => (
        <li key={name}>
          <Icon name={name} />
          <small>{name}</small>
        </li>
      ))}
    </ul>
  );
}

const COMMANDS = [
  'git commit -am "Say what" && git push origin HEAD',
  "find . -name '*.pyc' -delete 2>&1 | wc -l # caches",
  "CI=1 sudo env PATH=$PATH make install; echo ${?}",
];

const Commands = () => (
  <>
    {COMMANDS.map((text) => (
      <Command key={text} text={text} />
    ))}
    <Command text="src/a long path/to a file.ts" plain />
  </>
);

function Fields() {
  return (
    <div class="settings-parts">
      <Switch label="A switch" hint="on this device" value onChange={nothing} />
      <Switch label="Another" value={false} onChange={nothing} />
      <NumberField label="Text size" unit="px" value={14} least={8} most={32} onChange={nothing} />
      <TextField label="Saved" name="displayName" value="demo" onChange={nothing} />
      <TextField label="Refused" name="defaultWorkingDir" value="work" onChange={nothing} />
      <SegmentsField
        label="One of a few"
        name="few"
        choices={[
          ["a", "System"],
          ["b", "Dark"],
          ["c", "Light"],
        ]}
        value="a"
        onChange={nothing}
      />
      <Field label="One of many" name="defaultMode">
        <select class="field" {...getErrorAttributes("defaultMode")}>
          <option>An agent</option>
          <option>Shell</option>
        </select>
      </Field>
      <PasswordField label="Password" name="password" autocomplete="new-password" />
    </div>
  );
}

function Overlays() {
  const menu = (event: MouseEvent) =>
    menuUnder(
      "A menu",
      [
        { label: "Rename", icon: "lines", keys: "F2", act: nothing },
        { label: "Colour", swatch: "purple", act: nothing },
        { label: "Chosen", swatch: "green", checked: true, act: nothing },
        { label: "Start", icon: "play", disabled: true, act: nothing, group: true },
        { label: "Close", icon: "close", danger: true, keys: "Del", act: nothing },
      ],
      event.currentTarget as Element,
    );
  const question = () =>
    void askQuestion({
      title: "Close hexadecimal floats?",
      text: "Its program is ended and its screen is gone.",
      action: "End and close",
      other: "Detach",
      danger: true,
    });
  const toasts = () => {
    showToast("good", "Saved", "Name of this service", { label: "Undo", act: nothing });
    showToast("bad", "Not renamed", "The service cannot be reached.", { label: "Try again", act: nothing });
  };
  return (
    <div class="gallery-row">
      <button type="button" class="button" onClick={menu} data-testid="open-menu">
        Menu
      </button>
      <button type="button" class="button" onClick={question} data-testid="open-ask">
        Question
      </button>
      <button type="button" class="button" onClick={toasts} data-testid="open-toasts">
        Messages
      </button>
    </div>
  );
}

const Words = () => (
  <>
    <Problem text="Folder: must be an absolute path" />
    <Secret title="A token" secret="tst_0123456789abcdef" hint="Shown once." onDone={nothing} />
  </>
);

const Approvals = () => (
  <div class="approvals">
    {ITEMS.map((item) => (
      <ApprovalCard key={item.id} item={item} now={NOW} />
    ))}
  </div>
);

const Frame = () => (
  <div class="gallery-frame">
    <TopBar />
    <Sidebar />
    <div id="terminal-panel" role="tabpanel" aria-label="Where the terminal stands" />
    <StatusBar />
  </div>
);

export const PARTS: readonly (readonly [string, ComponentType])[] = [
  ["Tokens", Tokens],
  ["Buttons", Buttons],
  ["Status marks", Marks],
  ["Icons", Icons],
  ["Commands", Commands],
  ["Fields", Fields],
  ["Over the page", Overlays],
  ["Said", Words],
  ["Approvals", Approvals],
  ["Sessions", Frame],
  ["Keys of a phone", KeyBar],
  ["Nothing yet", Empty],
];
