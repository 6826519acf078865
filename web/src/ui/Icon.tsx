/** Line icons, drawn for this page on a 20-unit grid. */

const PATHS = {
  plus: "M10 4.5v11M4.5 10h11",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  grid: "M3.5 3.5h5.5v5.5H3.5zM11 3.5h5.5v5.5H11zM3.5 11h5.5v5.5H3.5zM11 11h5.5v5.5H11z",
  menu: "M3.5 6h13M3.5 10h13M3.5 14h13",
  more: "M10 4.1a.5.5 0 1 0 .01 0zM10 9.5a.5.5 0 1 0 .01 0zM10 14.9a.5.5 0 1 0 .01 0z",
  search: "M9 14.2a5.2 5.2 0 1 0 0-10.4 5.2 5.2 0 0 0 0 10.4zM12.8 12.8l3.7 3.7",
  settings: "M4 6h6M14 6h2M4 14h2M10 14h6M12 4v4M8 12v4",
  help: "M7.6 7.6a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.2.9-1.2 1.8M10 14.6v.1",
  history: "M4.2 7.2A6.3 6.3 0 1 1 3.7 10M3.6 4.2v3.2h3.2M10 6.6V10l2.4 1.6",
  pin: "M7.2 3.5h5.6l-.7 5 2.4 2.4H5.5l2.4-2.4zM10 11v5.5",
  up: "M5 12l5-5 5 5",
  down: "M5 8l5 5 5-5",
  left: "M12 5l-5 5 5 5",
  right: "M8 5l5 5-5 5",
  download: "M10 3.5v9M6.2 9l3.8 3.8L13.8 9M4 16.2h12",
  copy: "M7 7V4.5h8.5V13H13M4.5 7H13v8.5H4.5z",
  paste: "M7.5 4.5H5v11.5h10V4.5h-2.5M7.5 3.5h5v2.5h-5z",
  folder: "M3.5 6V15h13V7H10L8.5 5H3.5z",
  play: "M7 5l8 5-8 5z",
  keyboard: "M3 6h14v8H3zM5.5 8.5h.1M8 8.5h.1M10.5 8.5h.1M13 8.5h.1M6.5 11.5h7M15 8.5h.1",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  alert: "M10 3.5l7 12.5H3zM10 8.5v3.5M10 13.9v.1",
  lines: "M4 6h12M4 10h12M4 14h7",
  bell: "M10 3.2a4.6 4.6 0 0 0-4.6 4.6c0 4-1.6 5-1.6 6h12.4c0-1-1.6-2-1.6-6A4.6 4.6 0 0 0 10 3.2zM8.3 16.2a1.8 1.8 0 0 0 3.4 0",
  muted:
    "M10 3.2a4.6 4.6 0 0 0-4.6 4.6c0 4-1.6 5-1.6 6h12.4c0-1-1.6-2-1.6-6A4.6 4.6 0 0 0 10 3.2zM3.5 3.5l13 13",
  send: "M3.8 10L16.2 4.2 12.6 16l-2.9-4.8zM9.7 11.2l6.5-7",
  skip: "M5 6l5 4-5 4zM12 6v8M15 6v8",
  chat: "M3.5 4.5h13v9H9l-3.5 3v-3h-2z",
  clock: "M10 16.3a6.3 6.3 0 1 0 0-12.6 6.3 6.3 0 0 0 0 12.6zM10 6.6V10l2.3 1.5",
  users:
    "M7.5 9.3a2.9 2.9 0 1 0 0-5.8 2.9 2.9 0 0 0 0 5.8zM2.5 16c0-2.8 2.2-4.6 5-4.6s5 1.8 5 4.6M13 3.9a2.6 2.6 0 0 1 0 5M14.4 11.6c1.9.5 3.1 2.1 3.1 4.4",
  key: "M7 13.6a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2zM10.6 10h6.4v2.8M14 10v2",
  devices: "M3 4.5h10.5v8H3zM6 15.5h4M15 8h2.2v8h-4.4v-1.6",
  phone: "M6.5 3h7v14h-7zM9.2 14.6h1.6",
  screen: "M3 4.5h14v9H3zM7 16.5h6M10 13.5v3",
  panel: "M3 4.5h14v11H3zM12 4.5v11",
  cells: "M3 4.5h14v11H3zM10 4.5v11M10 10h7",
  grow: "M11.5 4.5h4v4M15.5 4.5l-4.5 4.5M8.5 15.5h-4v-4M4.5 15.5L9 11",
  shrink: "M15 9h-4V5M11 9l4.5-4.5M5 11h4v4M9 11l-4.5 4.5",
  eye: "M2.5 10S5 5 10 5s7.5 5 7.5 5-2.5 5-7.5 5-7.5-5-7.5-5zM10 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4",
  log: "M5 3.5h7.5L15.5 6.5v10H5zM7.8 8.5h5M7.8 11h5M7.8 13.5h3",
  leave: "M11.5 6V3.8H4v12.4h7.5V14M8 10h8.5M13.8 7.2l2.7 2.8-2.7 2.8",
  branch:
    "M6 4.2a1.6 1.6 0 1 0 .01 0zM6 12.6a1.6 1.6 0 1 0 .01 0zM14 5.4a1.6 1.6 0 1 0 .01 0zM6 7.4v5.2M14 8.6c0 2.6-3 2.2-6 3.6",
  refresh: "M15.8 8A6.2 6.2 0 0 0 4.6 7M4.2 12A6.2 6.2 0 0 0 15.4 13M4.4 3.6V7h3.4M15.6 16.4V13h-3.4",
  bulb: "M7.8 13.4c0-1.6-2.3-2.6-2.3-5.4a4.5 4.5 0 0 1 9 0c0 2.8-2.3 3.8-2.3 5.4zM8 16.4h4",
  mic: "M10 12.2a2.4 2.4 0 0 0 2.4-2.4V5.6a2.4 2.4 0 0 0-4.8 0v4.2a2.4 2.4 0 0 0 2.4 2.4zM5.4 9.6a4.6 4.6 0 0 0 9.2 0M10 14.2v2.6M7.6 16.8h4.8",
  server: "M3.5 4h13v5h-13zM3.5 11h13v5h-13zM6.5 6.5h.1M6.5 13.5h.1",
  box: "M10 3l6.5 3.4v7.2L10 17l-6.5-3.4V6.4zM3.5 6.4L10 10l6.5-3.6M10 10v7",
  pulse: "M2.8 10.5h3.4l2-5 3.4 9.5 2.2-4.5h3.4",
} as const;

export type IconName = keyof typeof PATHS;

export const ICONS = Object.keys(PATHS) as readonly IconName[];

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
